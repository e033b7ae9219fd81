//! Wraps text into rows of a given width. A character is what people see as one: an emoji of several code
//! points, a flag or a letter with its accents stays whole.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Breaks a text behind `head` into rows of `columns`, the other rows indented below the head.
pub fn hanging(head: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = head.width();
    let rows = text.split('\n').flat_map(|line| wrap(line, columns.saturating_sub(indent)));
    let head = |place| if place == 0 { head.to_owned() } else { " ".repeat(indent) };
    rows.enumerate().map(|(place, row)| format!("{}{row}", head(place)).trim_end().to_owned()).collect()
}

/// Breaks a line between words, and inside a word that is wider than a row.
pub fn wrap(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut rows = vec![String::new()];
    for piece in line.split_inclusive(char::is_whitespace) {
        let (used, needed) = (rows.last().map_or(0, |row| row.width()), piece.trim_end().width());
        match (needed == 0 || used + needed <= columns, needed <= columns) {
            (true, _) => append(&mut rows, piece),
            (false, true) => rows.push(piece.to_owned()),
            (false, false) => broken(&mut rows, piece, columns),
        }
    }
    rows.iter_mut().for_each(|row| row.truncate(row.trim_end().len()));
    rows
}

fn append(rows: &mut [String], piece: &str) {
    if let Some(row) = rows.last_mut() {
        row.push_str(piece);
    }
}

/// Fills the last row with a word, and as many more rows as it needs.
fn broken(rows: &mut Vec<String>, word: &str, columns: usize) {
    for character in word.graphemes(true) {
        if rows.last().is_none_or(|row| row.width() + character.trim_end().width() > columns) {
            rows.push(String::new());
        }
        append(rows, character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("  let x = 1;  y", 12), ["  let x = 1;", "y"]);
        assert_eq!(wrap("", 7), [""]);
        assert_eq!(wrap("word   ", 4), ["word"]);
    }

    #[test]
    fn a_word_wider_than_a_row_is_broken_between_characters() {
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrap("🇩🇪🇫🇷🇮🇹", 4), ["🇩🇪🇫🇷", "🇮🇹"]);
        assert_eq!(wrap("👩‍🚀👍🏽❤️e\u{301}", 4), ["👩‍🚀👍🏽", "❤️e\u{301}"]);
    }
}
