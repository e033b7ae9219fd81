//! Draws a chat: its transcript, its status and what is typed.

use ratatui::{
    Frame,
    buffer::{Buffer, CellDiffOption},
    layout::{Constraint, Layout, Position, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    model::{Chat, PROMPT, STATUS_ROWS},
    status,
    transcript::{self, Look, Row},
};

/// Whether to use colours; without them, font weight distinguishes the speakers.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    /// Whether to use colours.
    pub colours: bool,
}

impl Palette {
    fn style(self, look: Look) -> Style {
        let (colour, modifier) = match look {
            Look::User => (Color::Cyan, Modifier::BOLD),
            Look::Assistant => (Color::Green, Modifier::BOLD),
            Look::Aside => (Color::Reset, Modifier::DIM),
            Look::Note => (Color::Reset, Modifier::DIM.union(Modifier::ITALIC)),
            Look::Help => (Color::Reset, Modifier::empty()),
            Look::Wrong => (Color::Red, Modifier::BOLD),
        };
        let style = Style::new().add_modifier(modifier);
        if self.colours { style.fg(colour) } else { style }
    }
}

/// Draws the whole chat.
pub fn draw(frame: &mut Frame, chat: &Chat, palette: Palette) {
    let panel = chat.panel();
    let rows = [
        Constraint::Fill(1),
        Constraint::Length(panel.len() as u16),
        Constraint::Length(STATUS_ROWS),
        Constraint::Length(chat.input_rows()),
    ];
    let [transcript, between, status, input] = Layout::vertical(rows).areas(frame.area());
    draw_transcript(frame, transcript, chat, palette);
    let lines: Vec<_> = panel.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines).style(Style::new().add_modifier(Modifier::BOLD)), between);
    draw_status(frame, status, chat);
    draw_input(frame, input, chat);
    redraw_clusters(frame.buffer_mut());
}

/// Makes rows with characters of several code points be redrawn in full: a terminal that does not join the code
/// points overwrites the cells after them.
fn redraw_clusters(buffer: &mut Buffer) {
    let columns = usize::from(buffer.area.width).max(1);
    for row in buffer.content.chunks_mut(columns) {
        if row.iter().any(|cell| cell.symbol().chars().nth(1).is_some()) {
            row.iter_mut().for_each(|cell| cell.diff_option = CellDiffOption::AlwaysUpdate);
        }
    }
}

fn draw_transcript(frame: &mut Frame, area: Rect, chat: &Chat, palette: Palette) {
    let (height, scroll) = (usize::from(area.height), chat.scroll());
    let mut rows = transcript::last_rows(&chat.entries(), height + scroll, area.width.into());
    rows.truncate(rows.len().saturating_sub(scroll));
    let rows = rows.split_off(rows.len().saturating_sub(height));
    // A short transcript is at the bottom, next to the input.
    let below = Rect { y: area.y + (height - rows.len()) as u16, height: rows.len() as u16, ..area };
    let lines: Vec<_> = rows.into_iter().map(|row| line(row, palette)).collect();
    frame.render_widget(Paragraph::new(lines), below);
}

fn line(row: Row, palette: Palette) -> Line<'static> {
    let style = palette.style(row.look);
    let text = match row.look {
        Look::User | Look::Assistant => Style::new(),
        _ => style,
    };
    Line::from(vec![Span::styled(row.speaker, style), Span::styled(row.text, text)])
}

fn draw_status(frame: &mut Frame, area: Rect, chat: &Chat) {
    let activity = chat.activity();
    let bar = Style::new().add_modifier(Modifier::REVERSED);
    let columns = usize::from(area.width).saturating_sub(1);
    let budget = Line::from(format!(" {}", status::budget(chat.capacity(), columns)));
    let [above, below] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    frame.render_widget(Paragraph::new(budget).style(bar), above);
    let right = u16::try_from(activity.chars().count() + 2).unwrap_or(0);
    let [place_area, doing] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(right)]).areas(below);
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(
        Paragraph::new(format!(" {}", status::place(chat, usize::from(place_area.width).saturating_sub(1))))
            .style(dim),
        place_area,
    );
    frame.render_widget(Paragraph::new(format!(" {activity}")).style(dim), doing);
}

fn draw_input(frame: &mut Frame, area: Rect, chat: &Chat) {
    let laid = chat.input().rows(chat.input_columns());
    let height = usize::from(area.height);
    let first = (laid.row + 1).saturating_sub(height.max(1));
    let prompt = |index: usize| if index == 0 { PROMPT } else { "  " };
    let shown = laid.rows.iter().enumerate().skip(first).take(height);
    let lines: Vec<_> = shown.map(|(index, row)| Line::from(format!("{}{row}", prompt(index)))).collect();
    frame.render_widget(Paragraph::new(lines), area);
    let column = u16::try_from(PROMPT.len() + laid.column).unwrap_or(u16::MAX);
    let row = u16::try_from(laid.row - first).unwrap_or(u16::MAX);
    let cursor = Position { x: area.x.saturating_add(column), y: area.y.saturating_add(row) };
    if area.contains(cursor) {
        frame.set_cursor_position(cursor);
    }
}
