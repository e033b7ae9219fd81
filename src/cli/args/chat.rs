//! Arguments of the chat.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::target::Remote;
use crate::proto;

/// The limits that a conversation starts from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Preset {
    /// None: compaction is advised when it gets long
    Session,
    /// 20 utterances and 8,000 tokens
    Rolling,
    /// 10 turns and 8,000 tokens
    Turns,
}

impl Preset {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Session => proto::PolicyPreset::Session.into(),
            Self::Rolling => proto::PolicyPreset::Rolling.into(),
            Self::Turns => proto::PolicyPreset::Turns.into(),
        }
    }
}

/// Arguments of `chat`.
#[derive(Debug, Args)]
pub struct Chat {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// The conversation, which is created if there is none; without it the recipient's active one
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub conversation: String,
    /// Whose conversation; without it `default`
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub recipient: String,
    /// The limits of a conversation that the chat creates
    #[arg(long, default_value = "session")]
    pub preset: Preset,
    /// The model that replies; without it what you say is kept and nobody replies. Where the server has models
    /// summarise, a new conversation is summarised by this one too
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the model is served, by OpenAI's chat completions [default: OpenAI]
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// The file that holds the key of the model's server [default: OPENAI_API_KEY]
    #[arg(long, value_name = "FILE", requires = "model")]
    pub api_key_file: Option<PathBuf>,
}
