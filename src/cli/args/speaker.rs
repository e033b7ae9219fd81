//! The speaker of an utterance.

use clap::ValueEnum;

use crate::proto;

/// The speaker of an utterance.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Speaker {
    /// instructions
    System,
    /// a person
    User,
    /// the model
    Assistant,
    /// the result of a tool
    Tool,
}

impl From<Speaker> for proto::Role {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::System => Self::System,
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Tool,
        }
    }
}
