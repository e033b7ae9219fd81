//! OpenAI's chat completions API, as OpenAI's and other servers accept it.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    answer::{Answer, usage},
    prompts::Prompt,
};
use utterd_engine::models::llm::LlmError;

/// The path below the address of the server.
pub(super) const PATH: &str = "/chat/completions";

/// The tokens that a model may think before it answers; one limit covers its thoughts and its answer.
const THOUGHT_TOKENS: u32 = 4_096;

/// The request for an answer to `prompt`.
pub(super) fn request(model: &str, prompt: &Prompt) -> Value {
    let mut request = json!({
        "model": model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        "stream": false,
    });
    if reasons(model) {
        request["max_completion_tokens"] = prompt.max_tokens.saturating_add(THOUGHT_TOKENS).into();
    } else {
        request["max_tokens"] = prompt.max_tokens.into();
        request["temperature"] = 0.into();
    }
    request
}

/// Whether `model` is one of OpenAI's reasoning models. These accept no temperature, and use a name for the
/// limit that many servers do not accept. A gateway puts `openai/` before the name.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let versions = ["o", "gpt-"].map(|family| name.strip_prefix(family)?.chars().next()?.to_digit(10));
    matches!(versions, [Some(_), _] | [_, Some(5..)])
}

/// The parts of a completion that are needed here.
#[derive(Deserialize)]
struct Completion {
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

/// Reads the answer.
pub(super) fn answer(body: &RawValue) -> Result<Answer, LlmError> {
    let garbled = |error| LlmError::Unusable(format!("it is not a chat completion: {error}"));
    let completion: Completion = serde_json::from_str(body.get()).map_err(garbled)?;
    let choice = completion.choices.into_iter().next();
    let Some(Choice { message, finish_reason }) = choice else {
        return Err(LlmError::Unusable("it has no choices".into()));
    };
    if message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(LlmError::Unusable("the model declined to answer".into()));
    }
    match finish_reason.as_deref() {
        // a server that leaves it out, or empty, has sent a complete answer
        None | Some("" | "stop" | "eos" | "end_turn") => {
            let usage = usage(completion.usage);
            Ok(Answer { text: message.content.unwrap_or_default(), model: completion.model, usage })
        }
        Some("length") => Err(LlmError::Unusable("it was cut off at the token limit".into())),
        Some(other) => Err(LlmError::Unusable(format!("it ended with {other:?}"))),
    }
}
