//! Anthropic's messages API.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    answer::{Answer, usage},
    prompts::Prompt,
};
use utterd_engine::models::llm::LlmError;

/// The path below the address of the server.
pub(super) const PATH: &str = "/v1/messages";

/// Models that accept a temperature; newer ones refuse a request that has one.
const WITH_TEMPERATURE: [&str; 3] = ["claude-3", "claude-haiku-4", "claude-sonnet-4"];

/// The request for an answer to `prompt`.
pub(super) fn request(model: &str, prompt: &Prompt) -> Value {
    let mut request = json!({
        "model": model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
    });
    if WITH_TEMPERATURE.iter().any(|family| model.starts_with(family)) {
        request["temperature"] = 0.into();
    }
    request
}

/// The parts of a message that are needed here.
#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    #[serde(other)]
    Other,
}

/// Reads the answer.
pub(super) fn answer(body: &RawValue) -> Result<Answer, LlmError> {
    let garbled = |error| LlmError::Unusable(format!("it is not a message: {error}"));
    let message: Message = serde_json::from_str(body.get()).map_err(garbled)?;
    match message.stop_reason.as_deref() {
        None | Some("end_turn" | "stop_sequence") => {
            let texts = message.content.into_iter().map(Block::text);
            let usage = usage(message.usage);
            Ok(Answer { text: texts.collect(), model: message.model, usage })
        }
        Some("max_tokens") => Err(LlmError::Unusable("it was cut off at the token limit".into())),
        Some(other) => Err(LlmError::Unusable(format!("it ended with {other:?}"))),
    }
}

impl Block {
    fn text(self) -> String {
        match self {
            Self::Text { text } => text,
            Self::Other => String::new(),
        }
    }
}
