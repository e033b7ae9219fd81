//! Drops what people say without meaning anything. Every other word stays verbatim.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::phrases::phrases;

/// A longer remark, in bytes, belongs to the text.
const TAG_BYTES: usize = 24;
/// What transcribers note in brackets.
const NOISES: [&str; 14] = phrases(
    "laugh|laughs|laughter|laughing|pause|cough|coughs|noise|inaudible|crosstalk|applause|sigh|sighs|chuckles",
);

/// Sounds that are not words in any language.
const SOUNDS: &str = "uh uhh uhm umm ummm hm hmm hmmm mm mmm mhm mm-hm mm-hmm uh-huh uh-uh uh-oh huh ahem äh ähm öh öhm \
    euh heu ehm eeh ööö эээ ээ эм ммм хм";
/// English sounds that are words elsewhere.
const ENGLISH_SOUNDS: &str = "um er erm eh ah oh";
/// Words that open an English sentence and add nothing to it.
const ENGLISH_OPENINGS: &str = "okay ok so well yeah yep yup alright right wow hey hi hello oh ah anyway and ooh aw aww \
    haha now 'kay mkay";
/// Words that open a sentence, before a comma, and add nothing in any language.
const OPENINGS: &str =
    "ok okay also naja tja ach ben bah bon pues bueno oye vale allora beh boh então tá nou ну вот ой ага";
/// Openings in scripts without spaces between words.
const UNSPACED_OPENINGS: [&str; 7] = ["えーと", "ええと", "えっと", "あのー", "嗯", "呃", "哦"];
/// English words that people repeat while searching for the next.
const STUTTERED: &str = "i the a an we you it to and that's is in of so this he she they it's i'm but what if can on for be do \
    my your there there's 's 'd 're i'll we'll you're they're don't or as at with from not just like would could should \
    will are was were has our their its his her these those then when how where which who";
/// Words after which "you know" or "I mean" is part of a clause.
const CLAUSES: [&str; 14] =
    ["what", "that", "how", "why", "when", "where", "who", "which", "if", "it", "to", "the", "about", "by"];

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let of = |words: &'static str| words.split_whitespace().collect();
    Words {
        sounds: of(SOUNDS),
        english_sounds: of(ENGLISH_SOUNDS),
        english_openings: of(ENGLISH_OPENINGS),
        openings: of(OPENINGS),
        stuttered: of(STUTTERED),
    }
});

struct Words {
    sounds: FxHashSet<&'static str>,
    english_sounds: FxHashSet<&'static str>,
    english_openings: FxHashSet<&'static str>,
    openings: FxHashSet<&'static str>,
    stuttered: FxHashSet<&'static str>,
}

/// Appends `content` without the transcribers' tags: `{vocalsound}`, `[laughter]`, `(pause)`.
pub(super) fn without_tags(content: &str, out: &mut String) {
    let mut rest = content;
    while let Some(at) = rest.find(['{', '[', '(']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let tag = tag_bytes(from);
        out.push_str(&from[..usize::from(tag == 0)]);
        rest = &from[tag.max(1)..];
    }
    out.push_str(rest);
}

/// The length in bytes of the tag at the start of `text`, including its ASCII brackets; 0 without one.
fn tag_bytes(text: &str) -> usize {
    let closer = match text.as_bytes().first() {
        Some(b'{') => b'}',
        Some(b'[') => b']',
        _ => b')',
    };
    let Some(end) = text.bytes().take(TAG_BYTES).position(|byte| byte == closer) else { return 0 };
    let inner = &text[1..end];
    let is_word = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_tag = is_word && (closer == b'}' || NOISES.contains(&inner));
    if is_tag { end + 1 } else { 0 }
}

/// Detects fillers.
#[derive(Clone, Copy)]
pub(super) struct Fillers {
    /// The code of the language spoken.
    pub language: &'static str,
}

/// A run of characters other than white space.
#[derive(Clone)]
struct Token<'a> {
    written: &'a str,
    /// In lower case, without marks at either end.
    word: String,
    /// The closing mark inherited from a dropped token after this one.
    mark: Option<char>,
}

impl Token<'_> {
    fn ends(&self) -> bool {
        self.mark.is_some() || self.written.ends_with(['.', '?', '!', ','])
    }

    /// The mark, if this token ends a sentence.
    fn mark(&self) -> Option<char> {
        self.mark.or_else(|| self.written.chars().next_back().filter(|c| matches!(c, '.' | '?' | '!')))
    }
}

impl Fillers {
    /// Appends a sentence without its fillers; returns whether anything is left.
    pub(super) fn without(self, sentence: &str, out: &mut String) -> bool {
        let start = out.len();
        let mut tokens: Vec<Token> = tokens(unspaced_opening(sentence)).collect();
        // only once the sounds are dropped are repeated words next to each other
        drop_all(&mut tokens, |rest, _| self.sounds(rest));
        drop_all(&mut tokens, |rest, opens| self.fillers(rest, opens));
        tokens.iter().for_each(|token| push(token, start, out));
        out[start..].contains(char::is_alphanumeric)
    }

    /// How many of the first `tokens` are sounds.
    fn sounds(self, tokens: &[Token]) -> usize {
        let (words, word) = (&*WORDS, tokens[0].word.as_str());
        let is_english = self.language == "en" && words.english_sounds.contains(word);
        if words.sounds.contains(word) || is_english { 1 + huh(tokens) } else { 0 }
    }

    /// How many of the first `tokens` are fillers.
    fn fillers(self, tokens: &[Token], opens: bool) -> usize {
        let (words, token) = (&*WORDS, &tokens[0]);
        let word = token.word.as_str();
        match () {
            () if word.is_empty() => usize::from(opens && token.ends()),
            () if self.language != "en" => {
                usize::from(opens && token.written.ends_with(',') && words.openings.contains(word))
            }
            () if opens && words.english_openings.contains(word) => 1,
            () if is_phrase(tokens, opens) => 2,
            () => stuttered(tokens),
        }
    }
}

/// Drops as many tokens as `fillers` returns at each position. `fillers` also gets whether the tokens open
/// the sentence.
fn drop_all(tokens: &mut Vec<Token>, fillers: impl Fn(&[Token], bool) -> usize) {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let count = fillers(&tokens[at..], kept.is_empty());
        for token in &tokens[at..at + count] {
            // keep a mark that ends the sentence when its word is dropped
            if let (Some(last), Some(mark)) = (kept.last_mut(), token.mark()) {
                last.mark.get_or_insert(mark);
            }
        }
        if count == 0 {
            kept.push(tokens[at].clone());
        }
        at += count.max(1);
    }
    *tokens = kept;
}

/// "uh - huh", as some transcribers write it: the number of extra tokens.
fn huh(tokens: &[Token]) -> usize {
    match tokens {
        [_, dash, huh, ..] if dash.written == "-" && matches!(huh.word.as_str(), "huh" | "hmm" | "hm") => 2,
        _ => 0,
    }
}

fn tokens(sentence: &str) -> impl Iterator<Item = Token<'_>> {
    sentence.split_whitespace().map(|written| {
        let word = written.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
        Token { written, word: word.to_lowercase().replace('’', "'"), mark: None }
    })
}

fn unspaced_opening(sentence: &str) -> &str {
    let rest = UNSPACED_OPENINGS.iter().find_map(|opening| sentence.strip_prefix(opening));
    let rest = rest.and_then(|rest| rest.strip_prefix(['、', '，', '…']));
    rest.unwrap_or(sentence)
}

/// "you know" and "I mean" on their own.
fn is_phrase(tokens: &[Token], opens: bool) -> bool {
    let [first, second, rest @ ..] = tokens else { return false };
    let is_known = matches!((first.word.as_str(), second.word.as_str()), ("you", "know") | ("i", "mean"));
    let goes_on = rest.first().is_some_and(|next| CLAUSES.contains(&next.word.as_str()));
    let is_closed =
        second.written.ends_with(',') || rest.first().is_some_and(|next| next.written.starts_with(','));
    is_known && !first.ends() && (is_closed || opens && !goes_on && !rest.is_empty())
}

/// How many tokens are repeated immediately: "the the", "if we if we", "s so".
fn stuttered(tokens: &[Token]) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let stutters = |at: usize| !tokens[at].ends() && WORDS.stuttered.contains(word(at));
    match () {
        () if tokens[0].ends() => 0,
        () if is_begun(&tokens[0], word(1)) => 1,
        () if stutters(0) && word(0) == word(1) => 1,
        () if !word(1).is_empty() && (word(0), word(1)) == (word(2), word(3)) && !tokens[1].ends() => 2,
        () => 0,
    }
}

/// Whether letters without a vowel are a false start of the next word.
fn is_begun(token: &Token, next: &str) -> bool {
    let is_vowel = |byte: u8| matches!(byte, b'a' | b'e' | b'i' | b'o');
    let is_begun = token.written.len() <= 2 && !token.written.bytes().any(is_vowel);
    is_begun && next.len() > token.written.len() && next.starts_with(token.written)
}

fn push(token: &Token, start: usize, out: &mut String) {
    if token.written == "," && out[start..].ends_with(',') {
        return;
    }
    if out.len() > start {
        out.push(' ');
    }
    out.push_str(token.written);
    if let Some(mark) = token.mark.filter(|_| !out.ends_with(['.', '?', '!'])) {
        let end = out.trim_end_matches([',', ' ']).len().max(start);
        out.truncate(end);
        out.push(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(language: &'static str, sentence: &str) -> String {
        let mut plain = String::new();
        without_tags(sentence, &mut plain);
        let mut out = String::new();
        Fillers { language }.without(&plain, &mut out);
        out
    }

    #[test]
    fn sounds_and_stutters_go_and_words_stay() {
        let cases = [
            (
                "Okay so um, we {disfmarker} we could move the the launch, uh, to May.",
                "we could move the launch, to May.",
            ),
            ("Uh - huh . I mean , it's it's late , you know , for s some .", "it's late , for some ."),
            ("if we if we sell it {vocalsound} um .", "if we sell it ."),
            (
                "It goes by the uh by the th then when {gap} um when I tr try it.",
                "It goes by the then when I try it.",
            ),
            ("You know what I mean?", "You know what I mean?"),
            ("I know that that works (laughs) (as planned).", "I know that that works (as planned)."),
            ("Well, it works um.", "it works."),
            ("Mm-hmm .", ""),
        ];
        for (said, kept) in cases {
            assert_eq!(left("en", said), kept);
        }
    }

    #[test]
    fn a_filler_of_one_language_is_a_word_of_another() {
        assert_eq!(left("de", "Ähm, er kommt um acht, äh, mit dem Zug."), "er kommt um acht, mit dem Zug.");
        assert_eq!(left("pt", "Então, um amigo chega hoje."), "um amigo chega hoje.");
        assert_eq!(left("ja", "えーと、明日は会議です。"), "明日は会議です。");
    }

    #[test]
    fn what_is_no_tag_stays() {
        for text in ["{a: 1}", "{}", "[x]", "f(x)", "(", "{öl}", "a {very long remark about nothing at all}"]
        {
            let mut out = String::new();
            without_tags(text, &mut out);
            assert_eq!(out, text);
        }
    }
}
