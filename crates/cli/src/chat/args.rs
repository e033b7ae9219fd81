//! Arguments of the chat.

use std::path::PathBuf;

use clap::Args;
use http::Uri;

use crate::args::{Preset, Remote};

/// Talk to a model in the terminal
///
/// Without --model, the chat only stores your messages. With it, the server stores your message before the chat asks the model, which gets the messages that `utterd context` prints.
/// The model's server can be any with OpenAI's chat completions. /help in the chat lists the chat's commands.
///
/// Lines can also come from a pipe. Replies, and what commands print, go to stdout, all else to stderr. The first line
/// that fails ends the chat.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd chat
  utterd chat --recipient alice --model gpt-4o-mini --api-key-file ~/.openai
  utterd chat trip --model llama3.2 --base-url http://localhost:11434/v1
  echo 'When do we land?' | utterd chat trip --model gpt-4o-mini")]
pub struct Chat {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// The conversation, which is created if it does not exist [default: the recipient's active one]
    #[arg(value_name = "CONVERSATION", default_value = "")]
    pub conversation: String,
    /// The recipient whose conversations are meant [default: default]
    #[arg(long, short, value_name = "ID", default_value = "")]
    pub recipient: String,
    /// The limits of a conversation that the chat creates
    #[arg(long, default_value = "session")]
    pub preset: Preset,
    /// The model that replies [default: none, and the chat only stores your messages]. A new conversation is also
    /// summarised by this model, if it is one of the server's models
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The address of the model's server [default: OpenAI's]
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<Uri>,
    /// The file with the API key for the model's server [default: the key in OPENAI_API_KEY]
    #[arg(long, value_name = "FILE", requires = "model")]
    pub api_key_file: Option<PathBuf>,
}
