//! The progress of a long command.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows a command's progress as a moving line on stderr if that is a terminal, else nothing.
pub struct Meter {
    line: ProgressBar,
}

impl Meter {
    /// A meter that starts now, and moves by itself between updates.
    pub fn new() -> Self {
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
        line.enable_steady_tick(Duration::from_millis(100));
        Self { line }
    }

    /// Updates the progress.
    pub fn at(&self, so_far: impl Fn() -> String) {
        if !self.line.is_hidden() {
            self.line.set_message(so_far());
        }
    }

    /// Removes the moving line; returns how long the command took, for people.
    pub fn end(self) -> String {
        self.line.finish_and_clear();
        format!("{:.1} s", self.line.elapsed().as_secs_f64())
    }
}
