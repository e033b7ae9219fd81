//! A model's answer.

use serde::Deserialize;
use serde_json::value::RawValue;

use utterd_engine::models::llm::Usage;

/// A model's answer.
pub(super) struct Answer {
    /// The text, unchanged.
    pub text: String,
    /// The model that the server names.
    pub model: Option<String>,
    /// The cost of the call, if the server reports it.
    pub usage: Option<Usage>,
}

/// The token counts, by the names of both protocols.
#[derive(Deserialize)]
struct Counted {
    #[serde(alias = "prompt_tokens")]
    input_tokens: u64,
    #[serde(alias = "completion_tokens")]
    output_tokens: u64,
}

/// Reads the token counts; `None` if they cannot be read, as the answer is usable without them.
pub(super) fn usage(reported: Option<Box<RawValue>>) -> Option<Usage> {
    let counted: Counted = serde_json::from_str(reported?.get()).ok()?;
    Some(Usage { input: counted.input_tokens, output: counted.output_tokens })
}
