//! A service that panics.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::CONTENT_TYPE};
use http_body::Frame;
use tonic::{Status, body::Body, server::NamedService};
use tower::Service;

/// Panics where the name of the method says: `Call`, `Future`, `Unary` or `Stream`.
#[derive(Clone)]
pub struct Breaking;

impl NamedService for Breaking {
    const NAME: &'static str = "test.Breaking";
}

impl Service<Request<Body>> for Breaking {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match request.uri().path() {
            "/test.Breaking/Call" => panic!("in a call"),
            "/test.Breaking/Future" => Box::pin(async { panic!("in a future") }),
            "/test.Breaking/Unary" => Box::pin(answered(0)),
            _ => Box::pin(answered(2)),
        }
    }
}

fn answered(messages: usize) -> Ready<Result<Response<Body>, Infallible>> {
    let mut response = Response::new(Body::new(Torn { messages }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    ready(Ok(response))
}

/// A body whose encoder panics after some messages, which are empty.
struct Torn {
    messages: usize,
}

impl http_body::Body for Torn {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(left) = self.messages.checked_sub(1) else { panic!("in an encoder") };
        self.messages = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[0; 5])))))
    }
}
