//! The service that a call goes to, by its path.

use std::{
    convert::Infallible,
    future::ready,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Request, Response};
use rustc_hash::FxHashMap;
use tonic::{Status, body::Body, server::NamedService};
use tower::{Service, ServiceExt as _};

use super::transport::http::Serves;

/// The answer to a call.
pub type Answer = BoxFuture<'static, Result<Response<Body>, Infallible>>;
type Route = Arc<dyn Fn(Request<Body>) -> Answer + Send + Sync>;

/// The services of a server, by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Routes(Arc<FxHashMap<&'static str, Route>>);

impl Routes {
    /// Adds a service.
    pub fn with<S: Serves + NamedService + Sync>(mut self, service: S) -> Self {
        let route = move |request| -> Answer { Box::pin(service.clone().oneshot(request)) };
        Arc::make_mut(&mut self.0).insert(S::NAME, Arc::new(route));
        self
    }
}

impl Service<Request<Body>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        let route = path.split_once('/').and_then(|(service, _)| self.0.get(service));
        match route {
            Some(route) => route(request),
            None => Box::pin(ready(Ok(Status::unimplemented("").into_http()))),
        }
    }
}
