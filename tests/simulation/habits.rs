//! The habits of the clients of a run: what they do often, and with whom.

use std::time::Duration;

use utterd::domain::{Marks, Policy};

use crate::dice::Dice;

/// How long a conversation must be silent to be idle.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The recipients.
pub const RECIPIENTS: [&str; 2] = ["default", "ann"];
/// The kinds of things that a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memorize,
    Line,
    Forget,
    Restore,
    Edit,
    Update,
    State,
    /// Changes a recipient's own state.
    Own,
    End,
    Create,
    Delete,
    Fork,
    Compact,
    Undo,
    Capacity,
    Get,
    List,
    Export,
    Remember,
    Conversations,
    Watch,
}

/// How often a run does what.
type Mix = &'static [(u64, Kind)];

/// Some of everything, or a lot of what interferes with each other.
#[rustfmt::skip]
const MIXES: [Mix; 5] = [
    &[
        (24, Kind::Memorize), (5, Kind::Line), (6, Kind::Forget), (4, Kind::Restore), (6, Kind::Edit),
        (3, Kind::Update), (4, Kind::State), (3, Kind::Own), (5, Kind::End), (4, Kind::Create), (3, Kind::Delete), (5, Kind::Fork),
        (4, Kind::Compact), (4, Kind::Undo), (8, Kind::Capacity), (3, Kind::Get), (6, Kind::List),
        (3, Kind::Export), (6, Kind::Remember), (3, Kind::Conversations), (3, Kind::Watch),
    ],
    &[
        (30, Kind::Memorize), (6, Kind::Line), (14, Kind::End), (10, Kind::Create), (4, Kind::Delete),
        (16, Kind::Fork), (14, Kind::Capacity), (4, Kind::Get), (2, Kind::Watch),
    ],
    &[(22, Kind::Memorize), (24, Kind::End), (36, Kind::Fork), (8, Kind::Create), (10, Kind::Capacity)],
    &[
        (30, Kind::Memorize), (22, Kind::Undo), (6, Kind::Compact), (4, Kind::Update), (24, Kind::Remember),
        (8, Kind::List), (6, Kind::Export), (10, Kind::Forget), (2, Kind::Watch),
    ],
    &[
        (26, Kind::Memorize), (8, Kind::Line), (14, Kind::Edit), (10, Kind::Forget), (8, Kind::Restore),
        (4, Kind::Fork), (12, Kind::List), (8, Kind::Capacity), (6, Kind::Remember), (10, Kind::State),
    ],
];

/// The habits of the clients of a run.
#[derive(Clone, Debug)]
pub struct Habits {
    pub mix: Mix,
    /// The percentage of calls that go to a recipient's active conversation.
    pub by_recipient: u64,
    /// How many of [`RECIPIENTS`] there are.
    pub recipients: usize,
    /// The percentage of moments in which all fall silent until their conversations are idle.
    pub silences: u64,
}

impl Habits {
    pub fn of(dice: &mut Dice) -> Self {
        Self {
            mix: dice.pick(&MIXES).unwrap_or(MIXES[0]),
            by_recipient: dice.pick(&[30, 50, 90]).unwrap_or(50),
            recipients: dice.pick(&[1, 2]).unwrap_or(2),
            silences: dice.pick(&[0, 15, 40]).unwrap_or(0),
        }
    }
}

/// The limits that a conversation can start with: its windows roll, and its archive is trimmed.
pub fn policy(dice: &mut Dice) -> Policy {
    let (utterances, turns, archive_limit) = match dice.below(6) {
        0 => (Some(Marks::of(6)), None, 8),
        1 => (Some(Marks::of(8)), None, 100),
        2..=4 => (None, Marks::with_keep(4, 2), 100),
        _ => (None, None, 100),
    };
    Policy {
        utterances,
        turns,
        tokens: None,
        archive_limit,
        summary_token_limit: Some(120),
        ..Policy::ROLLING
    }
}
