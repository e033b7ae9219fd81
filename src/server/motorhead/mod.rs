//! The REST interface of motorhead, a memory server that is no longer maintained: its clients change one address.
//!
//! | request | call |
//! |---|---|
//! | `GET /sessions` | ListConversations |
//! | `GET /sessions/ID/memory` | ListUtterances, GetSummary, GetState |
//! | `POST /sessions/ID/memory` | Memorize, UpdateState |
//! | `DELETE /sessions/ID/memory` | DeleteConversation |
//! | `POST /sessions/ID/retrieval` | Remember |
//!
//! A session is a conversation of the recipient `default`. The calls pass through everything that a gRPC call passes
//! through: credentials (`Authorization: Bearer TOKEN`), admission, limits and metrics.

mod calls;
mod wire;

use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    http2::Serves,
    plain_http::{self as plain, Answer},
    socket::Listener,
};
use crate::domain::limits::MAX_PASSED_OVER_BYTES;
use calls::Session;
use wire::{Failure, Posted, Sought};

const JSON: &str = "application/json";

/// Answers the requests to `listener` with the calls of `service`, until this is dropped. A request has at most `most`
/// bytes.
pub async fn serve(listener: Option<Listener>, service: impl Serves + Sync, most: usize) {
    let Some(listener) = listener else { return std::future::pending().await };
    plain::serve(listener, move |request| {
        let service = service.clone();
        async move { answer(request, service, most).await.unwrap_or_else(Failure::into_answer) }
    })
    .await;
}

async fn answer(request: Request<Incoming>, service: impl Serves, most: usize) -> Result<Answer, Failure> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let calls = Session::new(service, request.headers());
    match (request.method().clone(), parts.as_slice()) {
        (Method::GET, ["health"]) => calls.health().await.and_then(|health| json(&health)),
        (Method::GET, ["sessions"]) => json(&calls.list(request.uri().query().unwrap_or_default()).await?),
        (method, ["sessions", id, rest @ ("memory" | "retrieval")]) => {
            let calls = calls.of(decoded(id)?);
            match (method, *rest) {
                (Method::GET, "memory") => json(&calls.memory().await?),
                (Method::POST, "memory") => json(&calls.post(body::<Posted>(request, most).await?).await?),
                (Method::DELETE, "memory") => json(&calls.delete().await?),
                (Method::POST, "retrieval") => {
                    json(&calls.retrieve(body::<Sought>(request, most).await?).await?)
                }
                _ => Err(Failure::method(if *rest == "memory" { "GET, POST, DELETE" } else { "POST" })),
            }
        }
        _ => Err(Failure::path()),
    }
}

/// The id of a session in a path.
fn decoded(id: &str) -> Result<String, Failure> {
    let id = percent_decode_str(id).decode_utf8();
    id.map(Into::into).map_err(|_| Failure::bad("the session's id is not UTF-8"))
}

/// Reads the JSON that a request sends, whatever its type says.
async fn body<T: DeserializeOwned>(request: Request<Incoming>, most: usize) -> Result<T, Failure> {
    let content = read(request.into_body(), most).await?;
    serde_json::from_slice(&content)
        .map_err(|error| Failure::bad(format!("the request is not as expected: {error}")))
}

/// Reads a body of at most `most` bytes. Of a longer one, the rest is read too, as a client that still sends would not
/// see the answer; but not endlessly.
async fn read(mut body: Incoming, most: usize) -> Result<Vec<u8>, Failure> {
    let (mut content, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Failure::bad(format!("the request cannot be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length <= most {
            content.extend_from_slice(&data);
        } else if length > MAX_PASSED_OVER_BYTES.max(most) {
            break;
        }
    }
    match length > most {
        true => Err(Failure::bad(format!("the request is too large; accepted: at most {most} bytes"))),
        false => Ok(content),
    }
}

fn json(value: &impl Serialize) -> Result<Answer, Failure> {
    match serde_json::to_vec(value) {
        Ok(json) => Ok(plain::text(StatusCode::OK, JSON, json)),
        Err(error) => Err(Failure::bad(error.to_string())),
    }
}
