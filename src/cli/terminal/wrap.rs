//! Wraps text into rows of a given width. A character is what people see as one: an emoji of several code
//! points, a flag or a letter with its accents stays whole.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

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

/// Joins parts, as many to a row as fit; a part itself is never broken.
pub fn flow<T: AsRef<str>>(parts: &[T], between: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in parts.iter().map(AsRef::as_ref) {
        match rows.last_mut().filter(|row| row.width() + between.width() + part.width() <= columns) {
            Some(row) => *row = format!("{row}{between}{part}"),
            None => rows.push(part.to_owned()),
        }
    }
    rows
}

/// The columns of a term, and of the narrowest screen with room for its explanation next to it.
const LEFT: (usize, usize) = (30, 64);

/// A term with its explanation next to it, or below it if there is no room.
pub fn explained(term: &str, explanation: &str, columns: usize) -> Vec<String> {
    let (left, wide) = LEFT;
    let beside = columns >= wide;
    let indent = " ".repeat(if beside { left } else { 4 });
    let mut rows: Vec<_> = wrap(explanation, columns.saturating_sub(indent.len()))
        .into_iter()
        .map(|row| format!("{indent}{row}"))
        .collect();
    match rows.first_mut().filter(|_| beside && term.width() < left) {
        Some(first) => first.replace_range(..term.len(), term),
        None => rows.insert(0, clipped(term, columns)),
    }
    rows
}

/// A line cut to `columns`, with `…` if something is missing.
pub fn clipped(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut shown = String::new();
    for character in line.graphemes(true) {
        if shown.width() + character.width() >= columns {
            break;
        }
        shown.push_str(character);
    }
    if columns > 0 { format!("{}…", shown.trim_end()) } else { shown }
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

    #[test]
    fn parts_stay_whole() {
        assert_eq!(flow(&["[Y] Yes", "[N] No", "[V] Never"], "  ", 16), ["[Y] Yes  [N] No", "[V] Never"]);
    }

    #[test]
    fn an_explanation_stands_where_there_is_room() {
        let beside = format!("{:<30}end this conversation and start", "/new");
        let below = format!("{:<30}another", "");
        assert_eq!(explained("/new", "end this conversation and start another", 64), [beside, below]);
        let narrow = ["/new", "    end this conversation and", "    start another"];
        assert_eq!(explained("/new", "end this conversation and start another", 30), narrow);
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(clipped("model", 5), "model");
        assert_eq!(clipped("a model", 4), "a m…");
        assert_eq!(clipped("a 👩‍🚀👩‍🚀", 5), "a 👩‍🚀…");
        assert_eq!(clipped("model", 0), "");
    }
}
