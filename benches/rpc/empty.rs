//! The call that others are compared with: it takes nothing, does nothing and returns nothing.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use tonic::{
    Request, Response, Status,
    body::Body,
    server::{Grpc, NamedService, UnaryService},
};
use tonic_prost::ProstCodec;

/// The path of the call.
pub const PATH: &str = "/utterd.bench.Empty/Call";

/// The service that serves it.
#[derive(Clone)]
pub struct Empty;

impl NamedService for Empty {
    const NAME: &'static str = "utterd.bench.Empty";
}

impl UnaryService<()> for Empty {
    type Response = ();
    type Future = Ready<Result<Response<()>, Status>>;

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new(())))
    }
}

impl tower::Service<http::Request<Body>> for Empty {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<(), ()>::default());
            Ok(grpc.unary(Empty, request).await)
        })
    }
}
