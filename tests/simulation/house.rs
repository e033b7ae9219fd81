//! The doors of a run, and the crowds before them.

use std::time::Duration;

use crate::dice::Dice;

/// The limits of each door of a run.
#[derive(Clone, Debug)]
pub struct House {
    /// Calls in flight, for all callers.
    pub calls: usize,
    /// Open streams, for all callers.
    pub streams: usize,
    /// Calls per second for one caller; 0 is unlimited.
    pub calls_per_second: u32,
    pub max_call_duration: Duration,
    /// How long a call occupies the thread.
    pub turn: Duration,
    pub crowd: Option<Crowd>,
    /// The percentage of attempts with a deadline.
    pub deadlines: u64,
    /// The percentage of answers that are not read immediately.
    pub unread: u64,
}

/// Callers who want more than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// Several that call more often than they can be served.
    Rush,
    /// One to three that leave their calls open.
    Hoard(u64),
}

impl House {
    /// No limits.
    fn open() -> Self {
        Self {
            calls: 40,
            streams: 4_096,
            calls_per_second: 0,
            max_call_duration: Duration::from_secs(300),
            turn: Duration::ZERO,
            crowd: None,
            deadlines: 0,
            unread: 0,
        }
    }

    /// The limits of a run: every other one has none.
    pub fn of(dice: &mut Dice) -> Self {
        let open = Self::open();
        if dice.percent(50) {
            return open;
        }
        let crowd = dice.weighted(&[
            (6, None),
            (1, Some(Crowd::Rush)),
            (3, Some(Crowd::Hoard(1 + dice.clone().below(3)))),
        ]);
        let one_of = |dice: &mut Dice, faces: &[u64]| dice.pick(faces).unwrap_or_default();
        let narrow = match crowd {
            None => Self {
                calls: one_of(dice, &[40, 3, 12]) as usize,
                streams: one_of(dice, &[4_096, 8, 4]) as usize,
                calls_per_second: one_of(dice, &[0, 5, 20]) as u32,
                turn: Duration::from_millis(one_of(dice, &[0, 1, 10])),
                ..open
            },
            Some(Crowd::Rush) => Self { turn: Duration::from_millis(5), ..open },
            Some(Crowd::Hoard(_)) => open,
        };
        Self {
            max_call_duration: Duration::from_millis(one_of(dice, &[300_000, 400])),
            deadlines: one_of(dice, &[0, 15, 40]),
            unread: one_of(dice, &[0, 20]),
            crowd,
            ..narrow
        }
    }
}
