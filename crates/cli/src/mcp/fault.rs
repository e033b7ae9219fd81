//! What goes wrong with a call, and what the caller can do about it.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock};
use tokio::time::{Instant, sleep};
use tonic::{Code, Status};

use crate::errors::{is_lost, reason, refusal};

/// Why a call failed.
#[derive(Debug)]
pub enum Fault {
    /// The server refused.
    Refused(Box<Status>),
    /// The request is wrong; the text says how.
    Wrong(String),
}

/// So long a request is tried while the connection to the server is lost each time: when a client's windows end, one
/// after another can have the store.
const PATIENCE: Duration = Duration::from_secs(10);
/// So long an attempt waits for the one before it.
const PAUSE: Duration = Duration::from_millis(20);

/// Makes an attempt, and another one if the connection to the server was lost: the next one may reach the server again, or
/// the one that took its place. A lost attempt may have had its effect, so each must have the same request id.
pub async fn persist<T, F>(attempt: impl Fn() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let begun = Instant::now();
    loop {
        match attempt().await {
            Err(Fault::Refused(status)) if is_lost(&status) && begun.elapsed() < PATIENCE => {
                sleep(PAUSE).await
            }
            answered => return answered,
        }
    }
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

impl Fault {
    /// What went wrong, with the server's reason, and what to do next.
    fn told(self) -> String {
        match self {
            Self::Wrong(text) => text,
            Self::Refused(status) => match next_step(&status) {
                Some(next) => format!("{}\n{next}", refusal(&status)),
                None => refusal(&status),
            },
        }
    }

    /// The fault as a tool's answer: a model reads it, and can correct its call.
    pub fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.told())])
    }
}

/// What helps, if known.
fn next_step(status: &Status) -> Option<&'static str> {
    let step = match reason(status).as_str() {
        "CONVERSATION_NOT_FOUND" => {
            "Next: call get_conversation with list_recent to see the ids of completed conversations. Without a \
             conversation_id the recipient's current conversation is meant; memorize starts one if there is none."
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
            code if code == Code::Unavailable || is_lost(status) => {
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
