//! Streams without an end of their own, until the client or the server ends them.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::Stream;
use tokio::sync::watch;
use tonic::{Code, Status};

use crate::transport_error;

/// A stream that ends with UNAVAILABLE when the server closes, so that nobody mistakes this for a regular end.
pub struct UntilClosing<S> {
    stream: Pin<Box<S>>,
    closing: watch::Receiver<bool>,
    closed: Pin<Box<dyn Future<Output = ()> + Send>>,
    ended: bool,
}

impl<S> UntilClosing<S> {
    /// Ends `stream` once `closing` is true or its sender is dropped.
    pub fn new(stream: S, closing: watch::Receiver<bool>) -> Self {
        let mut waiting = closing.clone();
        let closed = async move {
            let _ = waiting.wait_for(|closing| *closing).await;
        };
        Self { stream: Box::pin(stream), closing, closed: Box::pin(closed), ended: false }
    }

    /// Whether the server closes. For a busy stream, this only compares a version number; a stream that `waits`
    /// is woken.
    fn is_closing(&mut self, context: &mut Context<'_>, waits: bool) -> bool {
        match waits {
            true => self.closed.as_mut().poll(context).is_ready(),
            false => self.closing.has_changed().unwrap_or(true),
        }
    }
}

impl<T, S: Stream<Item = Result<T, Status>>> Stream for UntilClosing<S> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if !self.is_closing(context, false) {
            let next = self.stream.as_mut().poll_next(context);
            if next.is_ready() || !self.is_closing(context, true) {
                return next;
            }
        }
        self.ended = true;
        Poll::Ready(Some(Err(closing())))
    }
}

fn closing() -> Status {
    let text = "the server is shutting down; repeat what has no answer";
    transport_error(Code::Unavailable, "SERVER_CLOSING", text)
}
