//! The services of one worker, behind the layers that each call passes through.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use tonic::body::Body;
use tower::Service;

use super::{
    admission::Admitting,
    calls::Calls,
    guard::{Guard, let_in},
    routes::{Answer, Routes},
    transport::transport_errors::TransportErrors,
};

/// The services of one worker, and their layers, the outermost first. Cheap to clone.
#[derive(Clone)]
pub struct Stack {
    pub calls: Arc<Calls>,
    pub errors: TransportErrors,
    pub guard: Option<Arc<Guard>>,
    pub admitting: Arc<Admitting>,
    pub routes: Routes,
}

impl Service<Request<Body>> for Stack {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let routed = |request| self.routes.call(request);
        let admitted = |request| self.admitting.admit(request, routed);
        let guarded = |request| let_in(self.guard.as_ref(), request, admitted);
        let clear = |request| self.errors.report(request, guarded);
        self.calls.record(request, clear)
    }
}
