//! What happened in a run, in order, as a person reads it.

use std::fmt::Display;

use parking_lot::Mutex;

use crate::tell;

/// Counts what happens in a run. All that is compared by its order is compared by this.
pub type Tick = u64;

/// Who did or saw what, one line each, numbered.
#[derive(Default)]
pub struct Story(Mutex<Vec<String>>);

impl Story {
    /// Adds what happens now; answers its number.
    pub fn tell(&self, who: impl Display, what: impl Display) -> Tick {
        let mut lines = self.0.lock();
        lines.push(tell::short(&format!("{who:>10}  {what}")));
        lines.len() as Tick
    }

    /// The number of the last thing that happened.
    pub fn now(&self) -> Tick {
        self.0.lock().len() as Tick
    }

    /// The whole of it.
    pub fn text(&self) -> String {
        let lines = self.0.lock();
        lines.iter().enumerate().map(|(at, line)| format!("{:>5} {line}\n", at + 1)).collect()
    }
}
