//! Finds the questions in a text.

use std::ops::Range;

use crate::phrases::phrases;

/// The questions in a text: sentences that end with a question mark or, in languages that often omit it,
/// contain a question word.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// The ranges, ascending.
    sentences: Vec<Range<usize>>,
}

impl Questions {
    pub(super) fn of(text: &str) -> Self {
        let mut sentences = Vec::new();
        if text.is_ascii() && !text.as_bytes().contains(&b'?') {
            return Self { sentences };
        }
        let is_thai = text.chars().any(is_thai);
        let (mut at, mut start) = (0, 0);
        while let Some(c) = text[at..].chars().next() {
            let end = at + c.len_utf8();
            if c == '¿' {
                start = at;
            }
            if end == text.len() || ends(c, || text[end..].chars().next(), is_thai) {
                if asks(&text[start..end], is_thai) {
                    sentences.push(start..end);
                }
                start = end;
            }
            at = end + plain(&text[end..], is_thai);
        }
        Self { sentences }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// Whether the byte at `at` belongs to a question.
    pub(super) fn hold(&self, at: usize) -> bool {
        let after = self.sentences.partition_point(|sentence| sentence.end <= at);
        self.sentences.get(after).is_some_and(|sentence| sentence.contains(&at))
    }
}

/// How many bytes at the beginning of a text, except its last one, are ASCII and end no sentence.
fn plain(text: &str, is_thai: bool) -> usize {
    let but_last = text.as_bytes().split_last().map_or(&[][..], |(_, rest)| rest);
    let may_end = |byte: &u8| {
        !byte.is_ascii() || matches!(byte, b'.' | b'!' | b'?' | b'\n') || is_thai && *byte == b' '
    };
    but_last.iter().position(may_end).unwrap_or(but_last.len())
}

/// Whether a sentence ends with `c` before `next`. In Thai, which has no full stop, a clause ends it too.
fn ends(c: char, next: impl Fn() -> Option<char>, is_thai: bool) -> bool {
    match c {
        '.' | '!' => next().is_none_or(char::is_whitespace),
        '?' => next().is_none_or(|next| !next.is_alphanumeric()),
        '。' | '！' | '।' | '\n' => true,
        ' ' => is_thai,
        _ => is_question_mark(c),
    }
}

fn asks(sentence: &str, is_thai: bool) -> bool {
    if sentence.ends_with(is_question_mark) {
        return true;
    }
    if sentence.is_ascii() {
        return false;
    }
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric());
    ASKING_AT_END.iter().any(|word| end.ends_with(word))
        || (is_thai && ASKING.iter().any(|word| sentence.contains(word)))
}

/// The question marks of the scripts that have one of their own.
fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '\u{37E}')
}

fn is_thai(c: char) -> bool {
    matches!(c, '\u{0E01}'..='\u{0E5B}')
}

/// Endings of questions in Japanese, Chinese and Korean.
const ASKING_AT_END: [&str; 5] = ["か", "かな", "吗", "呢", "까"];

/// Question words in Thai, which has no question mark.
const ASKING: [&str; 13] = phrases("ไหม|มั้ย|อะไร|ไหน|เท่าไหร่|เท่าไร|เมื่อไหร่|เมื่อไร|ยังไง|อย่างไร|หรือเปล่า|หรือยัง|กี่");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_sentence_with_a_question_mark() {
        let asked = |text: &str| {
            let questions = Questions::of(text);
            questions.sentences.iter().map(|range| text[range.clone()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(asked("I see. Is v1.2 out? Yes!"), [" Is v1.2 out?"]);
        assert_eq!(asked("See a?b=c"), [""; 0], "a mark inside a word ends nothing");
        assert_eq!(asked("Bueno, ¿cuándo?"), ["¿cuándo?"]);
        assert_eq!(asked("你好吗"), ["你好吗"]);
        assert_eq!(asked("Really?x"), [""; 0]);
    }
}
