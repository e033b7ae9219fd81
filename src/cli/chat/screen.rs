//! The terminal during a chat.

use std::{
    io::{self, Stdout},
    panic,
    sync::atomic::{AtomicBool, Ordering},
};

use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste},
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use ratatui::{Terminal, backend::CrosstermBackend, layout::Rect};

use super::{
    model::Chat,
    view::{self, Palette},
};

/// Whether the terminal must be restored.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// A terminal in raw mode, on its alternate screen. It is restored when this is dropped, and before a panic
/// is reported.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    palette: Palette,
}

impl Screen {
    /// Takes over the terminal of this process.
    pub fn enter() -> io::Result<Self> {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            leave();
            told(panic);
        }));
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let entered = execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        match entered {
            Ok(terminal) => Ok(Self { terminal, palette: Palette { colours } }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Its columns and rows.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Clears the screen, so that all of it is drawn again.
    pub fn clear(&mut self) -> io::Result<()> {
        // Not `clear`, which asks the terminal where the cursor is: the answer would arrive as a key.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// Draws a chat.
    pub fn draw(&mut self, chat: &Chat) -> io::Result<()> {
        self.terminal.draw(|frame| view::draw(frame, chat, self.palette)).map(|_| ())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Restores the terminal, once: a second time would move the cursor over later output.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A terminal that was closed needs no restoring.
    let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, crossterm::cursor::Show);
    let _ = disable_raw_mode();
}
