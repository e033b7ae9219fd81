//! The line that is being typed.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

/// Lines that can be recalled.
const HISTORY: usize = 500;

/// Text with a cursor, and the lines before it.
#[derive(Debug, Default)]
pub struct Input {
    text: String,
    /// In bytes; always between two graphemes.
    cursor: usize,
    history: Vec<String>,
    /// The place in the history that is shown, and what was being typed before.
    recalled: Option<(usize, String)>,
}

/// The text in rows, and where the cursor stands in them.
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
    /// What is typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Puts text at the cursor. Line ends of any kind are `\n`; other control characters are left out.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        let text: String = text.chars().filter(|it| *it == '\n' || !it.is_control()).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Replaces what is typed; the cursor goes to its end.
    pub fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Takes what is typed into the history and empties the line.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.recalled = None;
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text.clone());
            let surplus = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..surplus);
        }
        text
    }

    /// Removes what stands before the cursor, one character as people see it.
    pub fn backspace(&mut self) {
        let end = self.cursor;
        self.move_left();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes what stands at the cursor.
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

    /// Removes the word before the cursor.
    pub fn delete_word(&mut self) {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let kept = before.trim_end().rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let kept = before.ceil_char_boundary(kept);
        self.text.replace_range(kept..self.cursor, "");
        self.cursor = kept;
    }

    /// One character to the left.
    pub fn move_left(&mut self) {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        self.cursor = cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0);
    }

    /// One character to the right.
    pub fn move_right(&mut self) {
        self.cursor = self.after();
    }

    /// To the start of the line.
    pub fn home(&mut self) {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        self.cursor = before.rfind('\n').map_or(0, |end| end + 1);
    }

    /// To the end of the line.
    pub fn end(&mut self) {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        self.cursor += after.find('\n').unwrap_or(after.len());
    }

    /// The line before in the history.
    pub fn earlier(&mut self) {
        let at = self.recalled.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(line) = at.checked_sub(1).and_then(|at| self.history.get(at)).cloned() else { return };
        let typed = self.recalled.take().map_or_else(|| self.text.clone(), |(_, typed)| typed);
        self.recalled = Some((at - 1, typed));
        self.set(line);
    }

    /// The line after in the history; at last what was being typed.
    pub fn later(&mut self) {
        let Some((at, typed)) = self.recalled.take() else { return };
        match self.history.get(at + 1).cloned() {
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
        input.earlier();
        input.earlier();
        input.earlier();
        assert_eq!(input.text(), "first");
        input.later();
        assert_eq!(input.text(), "second");
        input.later();
        assert_eq!(input.text(), "thi");
        input.later();
        assert_eq!(input.text(), "thi");
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
