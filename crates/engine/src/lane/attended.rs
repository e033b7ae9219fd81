//! Work that is completed even if its caller is dropped.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use tokio::runtime::Handle;

use utterd_telemetry::panics::Within;

/// A future that its caller polls, and that continues in its own task once the caller drops it.
///
/// Once the store has a commit, it must be published and answered, whoever still waits for it; cancelling the
/// caller undoes nothing.
pub struct Attended<T: Send + 'static>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T: Send + 'static> Attended<T> {
    pub fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(work)))
    }

    /// Runs the work here until it has to wait, and the rest in its own task.
    pub fn start(mut self) {
        let _ = Pin::new(&mut self).poll(&mut Context::from_waker(Waker::noop()));
    }
}

impl<T: Send + 'static> Future for Attended<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // taken: work that panics here must not be polled again by a task
        let Some(mut work) = self.0.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Attended<T> {
    fn drop(&mut self) {
        if let Some(work) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(Within::Call.catching(work));
        }
    }
}
