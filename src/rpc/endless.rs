//! Streams that go on until the client or the server ends them.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::Stream;
use tokio::sync::watch;

/// A stream that ends when the server closes, once it has nothing ready.
///
/// The server is asked only when the stream would wait, so that a stream in full flow pays
/// nothing for it.
pub struct UntilClosing<S> {
    stream: Pin<Box<S>>,
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<S: Stream> UntilClosing<S> {
    /// Ends `stream` once `closing` is true, or its sender is gone.
    pub fn new(stream: S, mut closing: watch::Receiver<bool>) -> Self {
        let closing = async move {
            let _ = closing.wait_for(|closing| *closing).await;
        };
        Self { stream: Box::pin(stream), closing: Box::pin(closing) }
    }
}

impl<S: Stream> Stream for UntilClosing<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        match self.stream.as_mut().poll_next(context) {
            Poll::Pending => self.closing.as_mut().poll(context).map(|()| None),
            ready => ready,
        }
    }
}
