//! A message that is named without its content.

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use crate::terminal::role;
use utterd_rpc::proto::UtteranceRef;

/// A message without its content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// Its id.
    utterance_id: String,
    /// Its number in the conversation, from 1.
    sequence: i64,
    /// Who said it.
    role: String,
    /// What it costs in tokens.
    token_count: i64,
}

impl From<&UtteranceRef> for Reference {
    fn from(it: &UtteranceRef) -> Self {
        Self {
            utterance_id: it.utterance_id.clone(),
            sequence: it.sequence,
            role: role(it.role()),
            token_count: it.token_count().into(),
        }
    }
}
