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
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    guard::access::Access,
    plain_http as plain,
    plain_http::{Answer, Bound, Carried, Room},
    transport::http2::Serves,
};
use crate::engine::{LONG_TEXT_BYTES, LONG_TOKENS, offload};
use calls::Session;
use wire::{Failure, Posted, Sought};

const JSON: &str = "application/json";

/// Answers requests with the calls of `service` until `shutdown`. A request has at most `most` bytes, which take `room`.
pub async fn serve(
    bound: Option<Bound>,
    shutdown: impl Future<Output = ()>,
    service: impl Serves + Sync,
    room: Room,
    most: usize,
) {
    plain::serve(bound, shutdown, move |request| {
        let (service, carried, room) = (service.clone(), Carried::of(&request), room.clone());
        async move {
            let calls = Session::new(service, carried.clone());
            let mut answer = answer(request, calls, &room, most).await.unwrap_or_else(Failure::into_answer);
            carried.mark(&mut answer);
            answer
        }
    })
    .await;
}

async fn answer<S: Serves>(
    request: Request<Incoming>,
    calls: Session<S>,
    room: &Room,
    most: usize,
) -> Result<Answer, Failure> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match (request.method().clone(), parts.as_slice()) {
        (Method::GET, ["health"]) => calls.health().await.and_then(|health| json(&health)),
        (Method::GET, ["sessions"]) => json(&calls.list(request.uri().query().unwrap_or_default()).await?),
        (method, ["sessions", id, rest @ ("memory" | "retrieval")]) => {
            let calls = calls.of(decoded(id)?);
            match (method, *rest) {
                (Method::GET, "memory") => {
                    let memory = calls.memory().await?;
                    let is_long = memory.tokens.unsigned_abs() > LONG_TOKENS;
                    offload(is_long, move || json(&memory)).await
                }
                (Method::POST, "memory") => {
                    json(&calls.post(body::<Posted>(request, room, Access::Write, most).await?).await?)
                }
                (Method::DELETE, "memory") => json(&calls.delete().await?),
                (Method::POST, "retrieval") => {
                    json(&calls.retrieve(body::<Sought>(request, room, Access::Read, most).await?).await?)
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

/// Reads the JSON that a request for a call with `access` sends, whatever its type says.
async fn body<T: DeserializeOwned + Send + 'static>(
    request: Request<Incoming>,
    room: &Room,
    access: Access,
    most: usize,
) -> Result<T, Failure> {
    let content = room.read(request, access, most).await?;
    offload(content.len() > LONG_TEXT_BYTES, move || serde_json::from_slice(&content))
        .await
        .map_err(|error| Failure::bad(format!("the request is not as expected: {error}")))
}

fn json(value: &impl Serialize) -> Result<Answer, Failure> {
    match serde_json::to_vec(value) {
        Ok(json) => Ok(plain::text(StatusCode::OK, JSON, json)),
        Err(error) => Err(Failure::bad(error.to_string())),
    }
}
