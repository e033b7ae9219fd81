//! What motorhead's clients send and receive.

use http::{HeaderValue, StatusCode, header::ALLOW};
use serde::{Deserialize, Serialize};
use tonic::Status;

use crate::{
    proto::{Match, NewUtterance, Role, Utterance},
    rpc::bounded_message,
    server::plain_http::{self as plain, Answer, ReadError},
};

/// The name of the user in motorhead's clients.
const HUMAN: &str = "Human";
/// The name of the assistant in motorhead's clients.
const AI: &str = "AI";
/// The key of the metadata with any other name of a role.
const ROLE: &str = "motorhead_role";

/// A message.
#[derive(Debug, Deserialize, Serialize)]
pub struct Message {
    role: String,
    content: String,
}

/// What a client posts.
#[derive(Debug, Deserialize)]
pub struct Posted {
    /// What was said, the oldest first.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// A short context of what was said before; it replaces the one that was posted earlier.
    pub context: Option<String>,
}

/// A session's memory.
#[derive(Debug, Default, Serialize)]
pub struct Memory {
    /// The messages in the window, the newest first.
    pub messages: Vec<Message>,
    /// A short context of what was said before.
    pub context: Option<String>,
    /// The tokens of both.
    pub tokens: i64,
}

/// The request of a search.
#[derive(Debug, Deserialize)]
pub struct Sought {
    pub text: String,
}

/// Something that was found.
#[derive(Debug, Serialize)]
pub struct Found {
    role: String,
    content: String,
    /// The distance: 0 for a perfect match, near 1 for something unrelated.
    dist: f64,
}

/// The answer to a request that returns nothing.
#[derive(Debug, Serialize)]
pub struct Acknowledged {
    status: &'static str,
}

/// The answer of a healthy server.
#[derive(Debug, Serialize)]
pub struct Health {
    /// Milliseconds since 1970.
    pub now: i64,
}

/// A request that failed.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    text: String,
    allow: Option<&'static str>,
}

#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
}

impl Acknowledged {
    pub const OK: Self = Self { status: "Ok" };
}

impl From<Message> for NewUtterance {
    /// An unknown role becomes the user: it gets no more authority than that.
    fn from(Message { role, content }: Message) -> Self {
        let meant = match role.to_ascii_lowercase().as_str() {
            "ai" | "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => Role::User,
        };
        let kept = (name(meant) != role).then(|| (ROLE.to_owned(), role));
        Self { role: meant.into(), content, metadata: kept.into_iter().collect(), ..Self::default() }
    }
}

impl From<Utterance> for Message {
    fn from(mut utterance: Utterance) -> Self {
        let role = utterance.metadata.remove(ROLE);
        let role = role.unwrap_or_else(|| name(utterance.role()).to_owned());
        Self { role, content: utterance.content }
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Assistant => AI,
        Role::System => "System",
        Role::Tool => "Tool",
        _ => HUMAN,
    }
}

impl From<Match> for Found {
    fn from(found: Match) -> Self {
        let dist = 1.0 - found.relevance.unwrap_or(1.0);
        let Message { role, content } = found.utterance.unwrap_or_default().into();
        Self { role, content, dist }
    }
}

impl Failure {
    /// An invalid request.
    pub fn bad(text: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: bounded_message(text.into()), allow: None }
    }

    /// An unknown path.
    pub fn path() -> Self {
        let text =
            "nothing is here; accepted: /sessions, /sessions/ID/memory and /sessions/ID/retrieval".to_owned();
        Self { status: StatusCode::NOT_FOUND, text, allow: None }
    }

    /// A method that the path does not support.
    pub fn method(allowed: &'static str) -> Self {
        let text = format!("the method is not accepted here; accepted: {allowed}");
        Self { status: StatusCode::METHOD_NOT_ALLOWED, text, allow: Some(allowed) }
    }

    /// The answer.
    pub fn into_answer(self) -> Answer {
        let text = serde_json::json!(Told { error: &self.text }).to_string();
        let mut answer = plain::text(self.status, "application/json", text);
        if let Some(allowed) = self.allow {
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
        }
        answer
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self { status: error.code(), text: error.to_string(), allow: None }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let code = plain::status_of(status.code());
        Self { status: code, text: status.message().to_owned(), allow: None }
    }
}
