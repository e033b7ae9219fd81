//! How far a long command has come.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::note;

/// Tells on stderr how far a command is by a moving line, where that is a terminal; nothing elsewhere.
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

    /// A meter that moves by itself while nothing is told.
    pub fn turning() -> Self {
        let meter = Self::new();
        meter.line.enable_steady_tick(Duration::from_millis(100));
        meter
    }

    /// Tells something beside the moving line.
    pub fn tell(&self, text: &str) {
        self.line.suspend(|| note(text));
    }

    /// The command is so far.
    pub fn at(&self, so_far: impl Fn() -> String) {
        if !self.line.is_hidden() {
            self.line.set_message(so_far());
            self.line.tick();
        }
    }

    /// Takes the moving line away; answers how long it took, as people write it.
    pub fn end(self) -> String {
        self.line.finish_and_clear();
        format!("{:.1} s", self.line.elapsed().as_secs_f64())
    }
}
