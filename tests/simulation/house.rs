//! What the doors of a run are like, and who crowds before them.

use std::time::Duration;

use crate::dice::Dice;

/// The limits of each door of a run.
#[derive(Clone, Debug)]
pub struct House {
    /// Calls in flight, of all callers.
    pub calls: usize,
    /// Open streams, of all callers.
    pub streams: usize,
    /// Calls a second of one caller; 0: as many as it likes.
    pub calls_per_second: u32,
    pub max_call_duration: Duration,
    /// What a call takes of the thread.
    pub turn: Duration,
    pub crowd: Option<Crowd>,
    /// Of a hundred attempts, those that have a deadline.
    pub deadlines: u64,
    /// Of a hundred answers, those that lie unread for a while.
    pub unread: u64,
}

/// Callers who want more than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// Of several that call more often than they can be served.
    Rush,
    /// Of one to three that leave open what they have called.
    Hoard(u64),
}

impl House {
    /// Open to everybody: nothing is limited.
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

    /// That of a run: every other one is open to everybody.
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
