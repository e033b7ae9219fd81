//! Shortens a text to its head and its tail.

use crate::TokenCounter;

/// With fewer bytes than this, head and tail are useless, and are left out too.
const LEAST_BYTES: usize = 32;

/// Formats `1830` as `1,830`.
pub(super) fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The marker for `tokens` that were left out.
fn marker(tokens: u32) -> String {
    format!("[… {} tokens left out …]", grouped(tokens))
}

/// The shortest text that [`trim`] makes of a text of `tokens`, and its own tokens.
pub(super) fn least(tokens: u32, counter: &dyn TokenCounter) -> (String, u32) {
    let text = marker(tokens);
    let tokens = counter.count(&text);
    (text, tokens)
}

/// The head and the tail of `text`, which has `tokens`, with a marker between, in at most `room` tokens; and
/// its token count. Just the marker if there is no room for more, or not even for that.
pub(super) fn trim(text: &str, tokens: u32, room: u32, counter: &dyn TokenCounter) -> (String, u32) {
    let least = least(tokens, counter);
    let free = u64::from(room.saturating_sub(least.1));
    let mut keep = (text.len() as u64 * free / u64::from(tokens.max(1))) as usize;
    while keep >= LEAST_BYTES {
        let (head, tail) = ends(text, keep / 2);
        let kept = counter.count(head).saturating_add(counter.count(tail));
        let trimmed = format!("{head}\n{}\n{tail}", marker(tokens.saturating_sub(kept)));
        let count = counter.count(&trimmed);
        if count <= room {
            return (trimmed, count);
        }
        // in proportion, and a sixteenth less, so that a few steps are enough
        keep = (keep as u64 * u64::from(room) / u64::from(count)) as usize;
        keep -= keep / 16;
    }
    least
}

/// The first and the last `bytes` of `text`, without partial characters.
fn ends(text: &str, bytes: usize) -> (&str, &str) {
    let bytes = bytes.min(text.len() / 2);
    (&text[..text.floor_char_boundary(bytes)], &text[text.ceil_char_boundary(text.len() - bytes)..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::o200k;

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 12, 999, 1_000, 1_830, 1_234_567];
        assert_eq!(numbers.map(grouped), ["0", "12", "999", "1,000", "1,830", "1,234,567"]);
    }

    proptest! {
        #[test]
        fn fits_its_room_and_keeps_both_ends(text in "[a-z é漢\n]{200,900}", room in 10..200u32) {
            let tokens = o200k().count(&text);
            let (trimmed, count) = trim(&text, tokens, room, o200k());
            prop_assert_eq!(o200k().count(&trimmed), count);
            let least = least(tokens, o200k()).1;
            prop_assert!(count <= room.max(least));
            if let Some((head, rest)) = trimmed.split_once("\n[… ") {
                let (_, tail) = rest.split_once(" …]\n").unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            } else {
                prop_assert!(room < least + 40);
            }
        }
    }
}
