//! Arguments of the chat.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{Preset, Remote};

/// Talk in the terminal: the server keeps the conversation, a model replies if one is named
///
/// What is said is stored before the model is asked, and the model gets what BuildContext answers.
/// The model is any server of OpenAI's chat completions. /help in the chat tells its commands.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd chat
  utterd chat --recipient alice --model gpt-4o-mini --api-key-file ~/.openai
  utterd chat --conversation demo --model llama3.2 --base-url http://localhost:11434/v1")]
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
