//! What happened in a run, in order and readable.

use std::fmt::Display;

use parking_lot::Mutex;

use crate::tell;

/// Counts the events of a run. Everything that is compared by order is compared by this.
pub type Tick = u64;

/// Who did or saw what, one numbered line each.
#[derive(Default)]
pub struct Story(Mutex<Vec<String>>);

impl Story {
    /// Adds an event; returns its number.
    pub fn tell(&self, who: impl Display, what: impl Display) -> Tick {
        let mut lines = self.0.lock();
        lines.push(tell::short(&format!("{who:>10}  {what}")));
        lines.len() as Tick
    }

    /// The number of the last event.
    pub fn now(&self) -> Tick {
        self.0.lock().len() as Tick
    }

    /// The whole of it.
    pub fn text(&self) -> String {
        let lines = self.0.lock();
        lines.iter().enumerate().map(|(at, line)| format!("{:>5} {line}\n", at + 1)).collect()
    }
}
