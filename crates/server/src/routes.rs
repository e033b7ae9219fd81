//! The service that a call goes to, by its path.

use std::{convert::Infallible, future::ready, sync::Arc};

use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use rustc_hash::FxHashMap;
use tonic::{Status, body::Body, server::NamedService};
use tower::{Service, ServiceExt as _};

/// A service that serves calls. It is always ready.
pub trait Serves:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
    + NamedService
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Serves for S where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
        + NamedService
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// The answer to a call.
pub type Answer = BoxFuture<'static, Result<Response<Body>, Infallible>>;
type Route = Arc<dyn Fn(Request<Body>) -> Answer + Send + Sync>;

/// The services of a server, by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Routes(Arc<FxHashMap<&'static str, Route>>);

impl Routes {
    /// Adds a service.
    pub fn with<S: Serves>(mut self, service: S) -> Self {
        let route = move |request| -> Answer { Box::pin(service.clone().oneshot(request)) };
        Arc::make_mut(&mut self.0).insert(S::NAME, Arc::new(route));
        self
    }

    /// Returns the names of the services.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Makes a call to the service that its path names.
    pub fn call(&self, request: Request<Body>) -> Answer {
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        let route = path.split_once('/').and_then(|(service, _)| self.0.get(service));
        match route {
            Some(route) => route(request),
            None => Box::pin(ready(Ok(Status::unimplemented("").into_http()))),
        }
    }
}

/// The trailers of an answer that ends with `status`.
pub fn trailers(status: Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    // the server's own statuses always fit in headers
    let _ = status.add_header(&mut trailers);
    trailers
}
