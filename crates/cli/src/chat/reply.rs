//! A model's replies, from any server with OpenAI's chat completions.

use std::{env, io, time::Duration};

use futures::StreamExt;
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::time::timeout;

use super::args;
use crate::{errors::CliError, terminal::read};
use utterd_models::model_server::{KeyNames, ModelServer, Protocol, ServerSettings, SetupError};

/// How long the server may be silent.
const PATIENCE: Duration = Duration::from_secs(120);
/// The largest reply, in bytes: what a server accepts as the content of an utterance by default.
const MAX_REPLY_BYTES: usize = 1 << 20;
/// What ends a stream of OpenAI's.
const DONE: &str = "[DONE]";
/// Characters of an error that are shown.
const ERROR_CHARS: usize = 400;

/// A model behind a chat.
pub struct Model {
    name: String,
    server: ModelServer,
}

impl Model {
    /// The model that the arguments name, if any. Without a base URL, a key is needed.
    pub fn of(args: &args::Chat) -> Result<Option<Self>, CliError> {
        let Some(name) = args.model.clone() else { return Ok(None) };
        if let Some(file) = &args.api_key_file {
            read::trusted(file).map_err(|error| CliError::Usage(format!("--api-key-file {error}")))?;
        }
        let settings = ServerSettings {
            protocol: Protocol::OpenAi,
            base_url: args.base_url.as_ref(),
            api_key_file: args.api_key_file.as_deref(),
            names: KeyNames { file: "--api-key-file", variable: "OPENAI_API_KEY" },
            timeout: PATIENCE,
            max_answer_bytes: MAX_REPLY_BYTES,
        };
        let server = ModelServer::new(&settings, |name| env::var(name).ok());
        let server = server.map_err(|error| match error {
            SetupError::NoKey { .. } => CliError::Usage(
                "--model needs --api-key-file, OPENAI_API_KEY, or the --base-url of a server without keys"
                    .into(),
            ),
            error => CliError::Usage(error.to_string()),
        })?;
        Ok(Some(Self { name, server }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks for a reply to `messages`, a JSON array; `piece` gets each part of it as it arrives. Returns
    /// the whole reply. A reply that is empty, cut off or too large is an error.
    pub async fn reply(&self, messages: &str, piece: impl FnMut(&str)) -> Result<String, CliError> {
        self.streamed(messages, piece).await.map_err(|reason| io::Error::other(shown(&reason)).into())
    }

    async fn streamed(&self, messages: &str, mut piece: impl FnMut(&str)) -> Result<String, String> {
        let messages: Value = serde_json::from_str(messages).map_err(|error| error.to_string())?;
        let request = json!({"model": self.name, "messages": messages, "stream": true});
        let body = patiently(self.server.stream("/chat/completions", request)).await?;
        let mut events = SseStream::new(body.map_err(|error| error.to_string())?);
        let (mut reply, mut finished) = (String::new(), false);
        while let Some(event) = patiently(events.next()).await? {
            let data = event.map_err(|error| error.to_string())?.data.unwrap_or_default();
            if data == DONE {
                break;
            }
            let chunk: Value = serde_json::from_str(&data).map_err(|error| error.to_string())?;
            if let Some(error) = chunk["error"]["message"].as_str().or(chunk["error"].as_str()) {
                return Err(error.to_owned());
            }
            let choice = &chunk["choices"][0];
            if let Some(text) = choice["delta"]["content"].as_str().filter(|text| !text.is_empty()) {
                reply.push_str(text);
                piece(text);
            }
            if reply.len() > MAX_REPLY_BYTES {
                return Err("the reply is larger than 1 MiB".into());
            }
            finished |= choice["finish_reason"].is_string();
        }
        match (finished, reply.trim()) {
            (false, "") => Err("the model's server sent no reply".into()),
            (false, _) => Err("the reply was cut off".into()),
            (true, "") => Err("the reply is empty".into()),
            (true, reply) => Ok(reply.to_owned()),
        }
    }
}

/// The result of `work` with the model's server, unless that is silent for too long.
async fn patiently<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let silent = |_| format!("the model's server was silent for {} seconds", PATIENCE.as_secs());
    timeout(PATIENCE, work).await.map_err(silent)
}

fn shown(text: &str) -> String {
    text.trim_end().chars().take(ERROR_CHARS).collect()
}
