//! Arguments of the chat.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{Preset, Remote};

/// Talk in the terminal: the server keeps the conversation, a model replies if one is named
///
/// What you say is stored before the model is asked, and the model gets what BuildContext returns.
/// Any server with OpenAI's chat completions will do for the model. /help in the chat lists its commands.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd chat
  utterd chat --recipient alice --model gpt-4o-mini --api-key-file ~/.openai
  utterd chat --conversation demo --model llama3.2 --base-url http://localhost:11434/v1")]
pub struct Chat {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// The conversation, which is created if it does not exist [default: the recipient's active one]
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub conversation: String,
    /// The recipient [default: default]
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub recipient: String,
    /// The limits of a conversation that the chat creates
    #[arg(long, default_value = "session")]
    pub preset: Preset,
    /// The model that replies; without it, what you say is stored and nobody replies. It also summarises a new
    /// conversation if it is one of the server's models; if another one does, the chat says so when it opens
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The address of the model's server, which has OpenAI's chat completions [default: OpenAI]
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// The file with the API key of the model's server [default: OPENAI_API_KEY]
    #[arg(long, value_name = "FILE", requires = "model")]
    pub api_key_file: Option<PathBuf>,
}
