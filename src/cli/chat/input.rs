//! The line that is being typed.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

/// Lines that can be recalled.
const HISTORY: usize = 500;

/// Text with a cursor, and the history of earlier texts.
#[derive(Debug, Default)]
pub struct Input {
    text: String,
    /// In bytes; always between two graphemes.
    cursor: usize,
    /// Earlier texts, the oldest first, with the sequences that they were stored under.
    history: Vec<(String, Option<i64>)>,
    /// The place in the history that is shown, and what was being typed before that.
    recalled: Option<(usize, String)>,
}

/// The text in rows, and the cursor's place in them.
#[derive(Debug, PartialEq, Eq)]
pub struct Rows {
    /// The rows, at least one.
    pub rows: Vec<String>,
    /// The cursor's row.
    pub row: usize,
    /// The cursor's column.
    pub column: usize,
}

impl Input {
    /// The typed text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Inserts text at the cursor. Line ends of any kind become `\n`; other control characters are left out.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        let text: String = text.chars().filter(|it| *it == '\n' || !it.is_control()).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Replaces the typed text; the cursor goes to its end.
    pub fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Replaces the typed text with its completion, if the cursor is at the end.
    pub fn complete(&mut self, text: String) {
        if self.cursor == self.text.len() {
            self.set(text);
        }
    }

    /// Moves the typed text into the history and empties the line.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.recalled = None;
        self.keep(text.clone(), None);
        text
    }

    fn keep(&mut self, text: String, sequence: Option<i64>) {
        if text.trim().is_empty() {
            return;
        }
        match self.history.last_mut().filter(|(last, _)| last.trim() == text.trim()) {
            Some((_, known)) => *known = sequence.or(*known),
            None => self.history.push((text, sequence)),
        }
        let surplus = self.history.len().saturating_sub(HISTORY);
        self.history.drain(..surplus);
    }

    /// Records in the history that a text was stored under a sequence.
    pub fn said(&mut self, text: &str, sequence: i64) {
        let unnamed = |(typed, known): &&mut (String, Option<i64>)| {
            known.is_none() && crate::cli::chat::command::message(typed) == text
        };
        match self.history.iter_mut().rev().find(unnamed) {
            Some((_, known)) => *known = Some(sequence),
            None => self.keep(text.to_owned(), Some(sequence)),
        }
    }

    /// Removes forgotten texts from the history.
    pub fn forget(&mut self, sequences: &[i64]) {
        self.history.retain(|(_, known)| known.is_none_or(|known| !sequences.contains(&known)));
        self.recalled = None;
    }

    /// Removes the character before the cursor, as people see characters.
    pub fn backspace(&mut self) {
        let end = self.cursor;
        self.move_left();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes the character at the cursor.
    pub fn delete(&mut self) {
        let end = self.after();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes everything before the cursor in its line.
    pub fn delete_to_home(&mut self) {
        let end = self.cursor;
        self.home();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes everything from the cursor to the end of its line.
    pub fn delete_to_end(&mut self) {
        let start = self.cursor;
        self.end();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes the word before the cursor.
    pub fn delete_word(&mut self) {
        let end = self.cursor;
        self.word_left();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Moves to the start of the word before the cursor.
    pub fn word_left(&mut self) {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let start = before.trim_end().rfind(char::is_whitespace).map_or(0, |space| space + 1);
        self.cursor = before.ceil_char_boundary(start);
    }

    /// Moves to the end of the word after the cursor.
    pub fn word_right(&mut self) {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        let word = after.trim_start();
        let end = word.find(char::is_whitespace).unwrap_or(word.len());
        self.cursor += after.len() - word.len() + end;
    }

    /// Moves one character to the left.
    pub fn move_left(&mut self) {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        self.cursor = cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0);
    }

    /// Moves one character to the right.
    pub fn move_right(&mut self) {
        self.cursor = self.after();
    }

    /// Moves to the start of the line.
    pub fn home(&mut self) {
        self.cursor = self.line_start(self.cursor);
    }

    /// Moves to the end of the line.
    pub fn end(&mut self) {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        self.cursor += after.find('\n').unwrap_or(after.len());
    }

    /// Moves one line up; from the first one, to the earlier text in the history.
    pub fn up(&mut self) {
        let (start, column) = self.place();
        match start.checked_sub(1) {
            Some(end) => self.cursor = self.at(self.line_start(end), column),
            None => self.earlier(),
        }
    }

    /// Moves one line down; from the last one, to the later text in the history.
    pub fn down(&mut self) {
        let (_, column) = self.place();
        let after = self.text.get(self.cursor..).unwrap_or_default();
        match after.find('\n') {
            Some(end) => self.cursor = self.at(self.cursor + end + 1, column),
            None => self.later(),
        }
    }

    /// Where the cursor's line starts, and the cursor's column in it.
    fn place(&self) -> (usize, usize) {
        let start = self.line_start(self.cursor);
        (start, self.text.get(start..self.cursor).unwrap_or_default().width())
    }

    fn line_start(&self, place: usize) -> usize {
        self.text.get(..place).unwrap_or_default().rfind('\n').map_or(0, |end| end + 1)
    }

    /// The place at a column of the line that starts at `start`, or at its end.
    fn at(&self, start: usize, column: usize) -> usize {
        let line = self.text.get(start..).unwrap_or_default().split('\n').next().unwrap_or_default();
        let mut width = 0;
        let right = line.grapheme_indices(true).find(|(_, character)| {
            width += character.width();
            width > column
        });
        start + right.map_or(line.len(), |(at, _)| at)
    }

    fn earlier(&mut self) {
        let at = self.recalled.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let line = at.checked_sub(1).and_then(|at| self.history.get(at)).map(|(text, _)| text.clone());
        let Some(line) = line else { return };
        let typed = self.recalled.take().map_or_else(|| self.text.clone(), |(_, typed)| typed);
        self.recalled = Some((at - 1, typed));
        self.set(line);
    }

    fn later(&mut self) {
        let Some((at, typed)) = self.recalled.take() else { return };
        match self.history.get(at + 1).map(|(text, _)| text.clone()) {
            Some(line) => {
                self.recalled = Some((at + 1, typed));
                self.set(line);
            }
            None => self.set(typed),
        }
    }

    /// The text in rows of at most `columns` columns.
    pub fn rows(&self, columns: usize) -> Rows {
        let mut laid = Rows { rows: vec![String::new()], row: 0, column: 0 };
        let (mut width, columns) = (0, columns.max(2));
        for (at, grapheme) in self.text.grapheme_indices(true) {
            let own = grapheme.width();
            if grapheme != "\n" && width + own > columns {
                laid.rows.push(String::new());
                width = 0;
            }
            if at == self.cursor {
                (laid.row, laid.column) = (laid.rows.len() - 1, width);
            }
            match (grapheme, laid.rows.last_mut()) {
                ("\n", _) => {
                    laid.rows.push(String::new());
                    width = 0;
                }
                (_, Some(row)) => {
                    row.push_str(grapheme);
                    width += own;
                }
                _ => {}
            }
        }
        if self.cursor == self.text.len() {
            if width == columns {
                laid.rows.push(String::new());
                width = 0;
            }
            (laid.row, laid.column) = (laid.rows.len() - 1, width);
        }
        laid
    }

    fn after(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Input {
        let mut input = Input::default();
        input.insert(text);
        input
    }

    #[test]
    fn a_character_is_what_people_see() {
        let mut input = typed("ae\u{301}👩‍🚀z");
        input.move_left();
        input.backspace();
        assert_eq!(input.text(), "ae\u{301}z");
        input.move_left();
        input.delete();
        assert_eq!(input.text(), "az");
        input.home();
        input.backspace();
        input.end();
        input.delete();
        assert_eq!(input.text(), "az");
    }

    #[test]
    fn what_is_pasted_may_have_lines_and_cannot_steer_the_terminal() {
        assert_eq!(typed("one\r\ntwo\rthree\u{1b}[2J").text(), "one\ntwo\nthree[2J");
    }

    #[test]
    fn home_end_and_deleting_stay_in_the_line() {
        let mut input = typed("one\ntwo three");
        input.home();
        input.insert(">");
        input.end();
        input.delete_word();
        assert_eq!(input.text(), "one\n>two ");
        input.delete_to_home();
        assert_eq!(input.text(), "one\n");
    }

    #[test]
    fn the_history_gives_back_what_was_being_typed() {
        let mut input = typed("first");
        input.take();
        input.insert("second");
        input.take();
        input.insert("thi");
        input.up();
        input.up();
        input.up();
        assert_eq!(input.text(), "first");
        input.down();
        assert_eq!(input.text(), "second");
        input.down();
        assert_eq!(input.text(), "thi");
        input.down();
        assert_eq!(input.text(), "thi");
    }

    #[test]
    fn words_are_moved_over_and_lines_are_cut() {
        let mut input = typed("one two  three\nfour");
        input.move_left();
        input.word_left();
        input.word_left();
        input.insert("<");
        input.word_right();
        input.insert(">");
        assert_eq!(input.text(), "one two  <three>\nfour");
        input.word_left();
        input.delete_to_end();
        assert_eq!(input.text(), "one two  \nfour");
    }

    #[test]
    fn the_history_holds_what_was_said_until_it_is_forgotten() {
        let mut input = Input::default();
        input.said("before", 1);
        input.insert("now");
        input.take();
        input.said("now", 3);
        input.insert("/help");
        input.take();
        input.forget(&[3]);
        let mut recalled = || {
            input.up();
            input.text().to_owned()
        };
        assert_eq!([recalled(), recalled(), recalled()], ["/help", "before", "before"]);
    }

    #[test]
    fn up_and_down_move_in_the_text_before_they_leave_it() {
        let mut input = typed("before");
        input.take();
        input.insert("one\n漢字 two\nx");
        input.up();
        input.insert("|");
        assert_eq!(input.text(), "one\n|漢字 two\nx");
        input.end();
        input.up();
        input.insert("!");
        assert_eq!(input.text(), "one!\n|漢字 two\nx");
        input.up();
        assert_eq!(input.text(), "before");
        input.down();
        assert_eq!(input.text(), "one!\n|漢字 two\nx");
    }

    #[test]
    fn rows_break_by_columns_not_by_characters() {
        let rows = |text: &str| typed(text).rows(4);
        assert_eq!(rows(""), Rows { rows: vec![String::new()], row: 0, column: 0 });
        assert_eq!(rows("漢字あ"), Rows { rows: vec!["漢字".into(), "あ".into()], row: 1, column: 2 });
        assert_eq!(rows("abcd"), Rows { rows: vec!["abcd".into(), String::new()], row: 1, column: 0 });
        assert_eq!(rows("a\nb"), Rows { rows: vec!["a".into(), "b".into()], row: 1, column: 1 });
        let mut input = typed("abcdef");
        input.move_left();
        input.move_left();
        assert_eq!((input.rows(4).row, input.rows(4).column), (1, 0));
    }
}
