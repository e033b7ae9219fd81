//! The progress of a long command.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::note;

/// Shows a command's progress as a moving line on stderr if that is a terminal, else nothing.
pub struct Meter {
    line: ProgressBar,
}

impl Meter {
    /// A meter that starts now.
    pub fn new() -> Self {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let line = match ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            Ok(style) => line.with_style(style),
            Err(_) => line,
        };
        Self { line }
    }

    /// A meter that moves by itself between updates.
    pub fn turning() -> Self {
        let meter = Self::new();
        meter.line.enable_steady_tick(Duration::from_millis(100));
        meter
    }

    /// Prints a line without disturbing the moving one.
    pub fn tell(&self, text: &str) {
        self.line.suspend(|| note(text));
    }

    /// Updates the progress.
    pub fn at(&self, so_far: impl Fn() -> String) {
        if !self.line.is_hidden() {
            self.line.set_message(so_far());
            self.line.tick();
        }
    }

    /// Removes the moving line; returns how long the command took, for people.
    pub fn end(self) -> String {
        self.line.finish_and_clear();
        format!("{:.1} s", self.line.elapsed().as_secs_f64())
    }
}
