//! A model's replies, from any server with OpenAI's chat completions.

use std::{env, error::Error, io, time::Duration};

use futures::StreamExt;
use http_body_util::{BodyExt, Limited};
use reqwest::{Response, header::CONTENT_TYPE};
use serde_json::{Value, json};
use sse_stream::SseStream;

use super::args;
use crate::{
    errors::{CliError, root_cause},
    terminal::read,
};

/// The default server.
const BASE_URL: &str = "https://api.openai.com/v1";
/// How long the model's server may take to accept the connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server may be silent.
const READ_TIMEOUT: Duration = Duration::from_secs(120);
/// The largest reply, in bytes: what a server accepts as the content of an utterance by default.
const MAX_REPLY_BYTES: usize = 1 << 20;
/// What ends a stream of OpenAI's.
const DONE: &str = "[DONE]";
/// Characters of an error that are shown.
const ERROR_CHARS: usize = 400;

/// A model behind a chat.
pub struct Model {
    name: String,
    http: reqwest::Client,
    url: String,
    key: Option<String>,
}

impl Model {
    /// The model that the arguments name, if any. Without a base URL, a key is needed.
    pub fn of(args: &args::Chat) -> Result<Option<Self>, CliError> {
        let Some(name) = args.model.clone() else { return Ok(None) };
        let key = key(args)?;
        if key.is_none() && args.base_url.is_none() {
            let needed =
                "--model needs --api-key-file, OPENAI_API_KEY, or the --base-url of a server without keys";
            return Err(CliError::Usage(needed.into()));
        }
        // This fails if another provider is installed already, which is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http =
            reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build();
        let http = http.map_err(|error| CliError::Usage(error.to_string()))?;
        let base = args.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        Ok(Some(Self { name, http, url: format!("{base}/chat/completions"), key }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks for a reply to `messages`, a JSON array; `piece` gets each part of it as it arrives. Returns
    /// the whole reply. A reply that is empty, cut off or too large is an error.
    pub async fn reply(&self, messages: &str, piece: impl FnMut(&str)) -> Result<String, CliError> {
        self.streamed(messages, piece).await.map_err(|reason| io::Error::other(reason).into())
    }

    async fn streamed(&self, messages: &str, mut piece: impl FnMut(&str)) -> Result<String, String> {
        let messages: Value = serde_json::from_str(messages).map_err(|error| error.to_string())?;
        let request = json!({"model": self.name, "messages": messages, "stream": true});
        let response = self.send(request.to_string()).await?;
        let mut events = SseStream::new(http::Response::from(response).into_body());
        let (mut reply, mut finished) = (String::new(), false);
        while let Some(event) = events.next().await {
            let data = event.map_err(|error| describe(&error))?.data.unwrap_or_default();
            if data == DONE {
                break;
            }
            let chunk: Value = serde_json::from_str(&data).map_err(|error| describe(&error))?;
            if let Some(error) = error_in(&chunk) {
                return Err(shown(error));
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

    /// Sends a request; returns the response, which is a stream of events, or the server's reason for
    /// refusing the request.
    async fn send(&self, request: String) -> Result<Response, String> {
        let mut to = self.http.post(&self.url).header(CONTENT_TYPE, "application/json").body(request);
        if let Some(key) = &self.key {
            to = to.bearer_auth(key);
        }
        let response = to.send().await.map_err(|error| describe(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = Limited::new(http::Response::from(response).into_body(), MAX_REPLY_BYTES).collect().await;
        let body = body.map_or_else(|_| Default::default(), |body| body.to_bytes());
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let told = error_in(&json).map_or_else(|| String::from_utf8_lossy(&body), Into::into);
        Err(shown(&format!("{status}: {told}")))
    }
}

/// The message of an error, in OpenAI's form or as a bare string.
fn error_in(json: &Value) -> Option<&str> {
    json["error"]["message"].as_str().or(json["error"].as_str())
}

/// The key in the file, or else in `OPENAI_API_KEY`.
fn key(args: &args::Chat) -> Result<Option<String>, CliError> {
    let key = match &args.api_key_file {
        Some(file) => {
            let read = read::trusted(file).map(Some);
            read.map_err(|error| CliError::Usage(format!("--api-key-file {error}")))?
        }
        None => env::var("OPENAI_API_KEY").ok(),
    };
    Ok(key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()))
}

fn describe(error: &dyn Error) -> String {
    let (text, cause) = (error.to_string(), root_cause(error));
    shown(&if text.contains(&cause) { text } else { format!("{text}: {cause}") })
}

fn shown(text: &str) -> String {
    text.trim_end().chars().take(ERROR_CHARS).collect()
}
