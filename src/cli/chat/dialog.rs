//! The question whether to compact, as seed 004 words and lays it out.

use ratatui::{
    Frame,
    layout::Rect,
    style::Style,
    text::Line,
    widgets::{Block, Clear, Padding, Paragraph},
};

use crate::{cli::text::count, proto::CompactionAdvice};

/// Columns of the words.
const COLUMNS: u16 = 46;
/// Columns and rows of the frame, with the padding beside the words.
const FRAME: (u16, u16) = (4, 2);

/// Draws the question in the middle of `area`; in a small one without its empty rows and its tip.
pub fn draw(frame: &mut Frame, area: Rect, advice: CompactionAdvice) {
    let columns = COLUMNS.min(area.width.saturating_sub(FRAME.0));
    let mut lines = lines(advice, columns.into());
    let room = usize::from(area.height.saturating_sub(FRAME.1));
    if lines.len() > room {
        lines.retain(|line| !line.is_empty() && !line.starts_with("Tip:"));
        let surplus = lines.len().saturating_sub(room).min(lines.len().saturating_sub(ANSWERS));
        lines.drain(..surplus);
    }
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(FRAME.1);
    let area = area.centered(
        ratatui::layout::Constraint::Length(columns + FRAME.0),
        ratatui::layout::Constraint::Length(rows.min(area.height)),
    );
    let lines: Vec<_> = lines.into_iter().map(Line::from).collect();
    let block = Block::bordered().padding(Padding::horizontal(1)).border_style(Style::new().bold());
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Lines of the answers, the last to be given up.
const ANSWERS: usize = 3;

fn lines(advice: CompactionAdvice, columns: usize) -> Vec<String> {
    let question = format!(
        "Your conversation has {} messages and may be affecting performance. Compact older messages \
         while preserving the most recent context?",
        count(advice.utterance_count()),
    );
    let question = textwrap::wrap(&question, columns.max(1)).into_iter().map(|line| line.into_owned());
    let mut lines = vec!["📦 Conversation History Compaction".to_owned(), String::new()];
    lines.extend(question);
    lines.extend([
        String::new(),
        format!("[Y] Yes, compact now (keep last {})", count(advice.keep_recent())),
        "[N] Not now".into(),
        "[V] Never ask again this session".into(),
        String::new(),
        "Tip: Use /compact anytime to compact manually".into(),
    ]);
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::{Terminal, backend::TestBackend};

    use super::*;

    fn drawn(columns: u16, rows: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let advice =
            CompactionAdvice { threshold: Some(50), utterance_count: Some(52), keep_recent: Some(15) };
        terminal.draw(|frame| draw(frame, frame.area(), advice)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn it_looks_as_the_seed_draws_it() {
        let expected = r#"
"┌────────────────────────────────────────────────┐"
"│ 📦 Conversation History Compaction             │"
"│                                                │"
"│ Your conversation has 52 messages and may be   │"
"│ affecting performance. Compact older messages  │"
"│ while preserving the most recent context?      │"
"│                                                │"
"│ [Y] Yes, compact now (keep last 15)            │"
"│ [N] Not now                                    │"
"│ [V] Never ask again this session               │"
"│                                                │"
"│ Tip: Use /compact anytime to compact manually  │"
"└────────────────────────────────────────────────┘"
"#;
        let drawn = drawn(50, 13);
        let lines: Vec<_> = drawn.lines().map(|line| line.split(" Hidden by").next().unwrap()).collect();
        assert_eq!(lines.join("\n"), expected.trim());
    }

    #[test]
    fn a_small_screen_still_has_the_answers() {
        for (columns, rows) in [(50, 8), (24, 6), (50, 5)] {
            let drawn = drawn(columns, rows);
            for answer in ["[Y] ", "[N] ", "[V] "] {
                assert!(drawn.contains(answer), "{columns} by {rows}:\n{drawn}");
            }
        }
    }
}
