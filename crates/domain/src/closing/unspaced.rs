//! Scripts without blanks between words, and how requests open in them.

use crate::phrases::phrases;

/// How requests open in Chinese and Japanese, which part no words; each can follow another.
const WIDE_OPENINGS: [&str; 24] = phrases(
    "你好|您好|嗨|请问|我想要|我想|我要|我需要|请帮我|请你|麻烦|帮我|能不能|可以|请|好的|好呀|那么|谢谢|こんにちは|こんばんは|すみません|ありがとうございます|あの",
);
/// What stands between them.
const WIDE_MARKS: [char; 9] = ['，', '。', '！', '、', '～', '~', ' ', '!', ','];
/// An opening stays if less is left, in characters.
const LEAST_LEFT: usize = 5;

/// A Chinese or Japanese request without its greeting and politeness.
pub(super) fn without_opening(said: &str) -> &str {
    let mut rest = said;
    while let Some(next) = WIDE_OPENINGS.iter().find_map(|opening| rest.strip_prefix(opening)) {
        rest = next.trim_start_matches(WIDE_MARKS);
    }
    if rest.chars().count() < LEAST_LEFT { said } else { rest }
}

/// Whether a text is in a script without blanks.
pub(super) fn is_wide(text: &str) -> bool {
    text.chars().filter(|c| is_unspaced(*c)).count() * 2 > text.chars().count()
}

/// Han, kana, Thai, Lao, Khmer, Burmese: scripts without blanks between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(c, '\u{20000}'..='\u{3ffff}' | '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}')
        || matches!(c, '\u{1780}'..='\u{17ff}')
}
