//! The inspector: a page for browsers, and the calls that it makes.
//!
//! | request | answer |
//! |---|---|
//! | `GET /`, `GET /NAME.js`, … | the page, which is embedded in the program |
//! | `POST /utterd.v1.SERVICE/METHOD` | that call, in JSON |
//!
//! The calls pass through everything that a gRPC call passes through: credentials, admission, limits and metrics. Their
//! form is that of the Connect protocol, with JSON as the codec: `application/json` for a call with one request and one
//! response, `application/connect+json` for a stream. A browser sends neither type to another origin without a
//! preflight request, which gets no answer here, so a page of another origin cannot call in a user's name.

mod call;
mod failure;
mod frames;
mod page;

use http::{Method, Request};
use hyper::body::Incoming;

use super::{
    plain_http as plain,
    plain_http::{Answer, Bound, Room},
    stack::Stack,
};

/// Serves the page, and its calls with those of `service`, until `shutdown`. A message of a request has at most `most`
/// bytes; requests take `room`.
pub async fn serve(
    bound: Option<Bound>,
    shutdown: impl Future<Output = ()>,
    service: Stack,
    room: Room,
    most: usize,
) {
    plain::serve(bound, shutdown, move |request| {
        let (service, room) = (service.clone(), room.clone());
        async move { answer(request, service, &room, most).await }
    })
    .await;
}

async fn answer(request: Request<Incoming>, service: Stack, room: &Room, most: usize) -> Answer {
    match *request.method() {
        Method::GET | Method::HEAD => page::answer(&request),
        Method::POST => call::answer(request, service, room, most).await,
        _ => plain::not_allowed("GET, HEAD, POST", "accepted: GET for the page, POST for its calls\n"),
    }
}
