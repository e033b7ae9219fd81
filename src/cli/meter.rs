//! How far a long command has come.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::note;

/// Where stderr is no terminal, a line is told so often.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Tells on stderr how far a command is: a moving line on a terminal, else a line now and then.
pub struct Meter {
    line: ProgressBar,
    told: Duration,
}

impl Meter {
    /// A meter that starts now.
    pub fn new() -> Self {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let line = match ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            Ok(style) => line.with_style(style),
            Err(_) => line,
        };
        Self { line, told: Duration::ZERO }
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
    pub fn at(&mut self, so_far: impl Fn() -> String) {
        if !self.line.is_hidden() {
            self.line.set_message(so_far());
            self.line.tick();
        } else if due(&mut self.told, self.line.elapsed()) {
            note(&so_far());
        }
    }

    /// Takes the moving line away; answers how long it took, as people write it.
    pub fn end(self) -> String {
        self.line.finish_and_clear();
        format!("{:.1} s", self.line.elapsed().as_secs_f64())
    }
}

/// Whether a line is due at `now`, when the last was `told`; if so, the next is due later.
fn due(told: &mut Duration, now: Duration) -> bool {
    let due = now.saturating_sub(*told) >= LINE_INTERVAL;
    if due {
        *told = now;
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_apart() {
        let mut told = Duration::ZERO;
        let due: Vec<_> = (0..=40).filter(|second| due(&mut told, Duration::from_secs(*second))).collect();
        assert_eq!(due, [10, 20, 30, 40]);
    }
}
