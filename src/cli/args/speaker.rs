//! The speaker of an utterance.

use clap::ValueEnum;

use crate::proto;

/// The speaker of an utterance.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Speaker {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool's result.
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
