//! Sets of limits.

use clap::ValueEnum;

use crate::proto;

/// The limits that a conversation starts from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Preset {
    /// no limits; long conversations get the advice to compact
    Session,
    /// 20 utterances and 8,000 tokens
    Rolling,
    /// 10 turns and 8,000 tokens
    Turns,
}

impl Preset {
    /// Its number on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Session => proto::PolicyPreset::Session.into(),
            Self::Rolling => proto::PolicyPreset::Rolling.into(),
            Self::Turns => proto::PolicyPreset::Turns.into(),
        }
    }
}
