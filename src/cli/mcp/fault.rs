//! What goes wrong with a call, and what the caller can do about it.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use serde_json::Value;
use tonic::{Code, Status};

use crate::cli::errors::{reason, refusal};

/// Why there is no answer.
#[derive(Debug)]
pub enum Fault {
    /// The server refused.
    Refused(Box<Status>),
    /// What was asked for is no request, as the text says.
    Wrong(String),
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

impl Fault {
    /// What went wrong, with the server's reason, and what to do next.
    pub fn told(&self) -> String {
        match self {
            Self::Wrong(text) => text.clone(),
            Self::Refused(status) => match next_step(status) {
                Some(next) => format!("{}\n{next}", refusal(status)),
                None => refusal(status),
            },
        }
    }

    /// An answer of a tool: a model reads it, and can do better.
    pub fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.told())])
    }

    /// An error of the protocol, where nothing else can be answered; `data` says of what.
    pub fn into_error(self, data: Option<Value>) -> ErrorData {
        match &self {
            Self::Refused(status) if status.code() == Code::NotFound => {
                ErrorData::resource_not_found(self.told(), data)
            }
            Self::Refused(status) if status.code() != Code::InvalidArgument => {
                ErrorData::internal_error(self.told(), data)
            }
            _ => ErrorData::invalid_params(self.told(), data),
        }
    }
}

/// What helps, where that is known.
fn next_step(status: &Status) -> Option<&'static str> {
    let step = match reason(status).as_str() {
        "CONVERSATION_NOT_FOUND" => {
            "Next: call get_conversation with list_recent to see the ids of completed conversations. Without a \
             conversation_id the recipient's current conversation is meant; memorize starts one where there is none."
        }
        "CONVERSATION_CLOSED" => {
            "Next: call get_conversation to read it. memorize without a conversation_id starts or continues the current \
             conversation."
        }
        "STALE_REVISION" => {
            "Next: the conversation has changed since. Leave out expected_revision; to forget, call forget without \
             confirm again to see what it would forget now."
        }
        "NO_OPEN_CALL" => {
            "Next: memorize the assistant's message with tool_calls first, then its results, each with the call's id \
             as tool_call_id."
        }
        "RECIPIENT_MISMATCH" => {
            "Next: leave out recipient_id, or conversation_id: a conversation has one recipient."
        }
        "MISSING_CREDENTIALS" | "INVALID_CREDENTIALS" | "EXPIRED_CREDENTIALS" => {
            "Next: ask the user to configure a token for this MCP server; calling again does not help."
        }
        "ROLE_FORBIDS" => "Next: tell the user that this MCP server may only read here.",
        _ => match status.code() {
            Code::Unavailable => {
                "Next: try again in a moment. If that fails too, ask the user to see whether the utterd server is running."
            }
            Code::ResourceExhausted | Code::Aborted | Code::DeadlineExceeded => {
                "Next: try again in a moment."
            }
            _ => return None,
        },
    };
    Some(step)
}
