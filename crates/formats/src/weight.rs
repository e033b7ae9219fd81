//! The memory that JSON takes once parsed.

/// An object, with its first few fields.
const OBJECT: usize = 480;
/// An element of a growing list, or of an object.
const VALUE: usize = 120;

/// Approximately how many bytes JSON takes once parsed, including the JSON itself: its texts again, and its
/// values. A value of two bytes can take several hundred.
pub fn weight(json: &[u8]) -> usize {
    let (mut weight, mut within_text, mut escaped) = (json.len(), false, false);
    for byte in json {
        match (within_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => within_text = !within_text,
            (false, b'{') => weight += OBJECT,
            (false, b',' | b'[') => weight += VALUE,
            _ => {}
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_weigh_their_bytes_and_values_more() {
        assert_eq!(weight(br#""a {,[ \" {,[ text""#), 19);
        assert_eq!(weight(b"[{},{}]"), 7 + 2 * OBJECT + 2 * VALUE);
    }
}
