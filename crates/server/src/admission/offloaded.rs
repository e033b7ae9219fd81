//! Polls a call on another thread while it decodes a long message.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::future::BoxFuture;

use super::request::Message;
use utterd_engine::offload;
use utterd_telemetry::Span;

/// A call or the body of its answer, which decodes messages when it is polled. The poll that decodes a long one runs on
/// another thread: one of 16 MiB takes some 30 ms, in which the worker would serve nobody.
pub struct Offloaded<P, T> {
    /// `None` while it is polled on another thread.
    polled: Option<P>,
    poll: fn(&mut P, &mut Context<'_>) -> Poll<T>,
    elsewhere: Option<BoxFuture<'static, (P, Poll<T>)>>,
    message: Arc<Message>,
}

impl<P: Send + 'static, T: Send + 'static> Offloaded<P, T> {
    /// Polls `polled`, which receives `message`, with `poll`.
    pub fn new(polled: P, poll: fn(&mut P, &mut Context<'_>) -> Poll<T>, message: Arc<Message>) -> Self {
        Self { polled: Some(polled), poll, elsewhere: None, message }
    }

    /// Returns what is polled, unless another thread has it.
    pub fn get(&self) -> Option<&P> {
        self.polled.as_ref()
    }

    /// Polls it here, or waits until another thread has polled it.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<T> {
        loop {
            if let Some(elsewhere) = &mut self.elsewhere {
                let (polled, result) = ready!(elsewhere.as_mut().poll(context));
                (self.polled, self.elsewhere) = (Some(polled), None);
                if result.is_ready() {
                    return result;
                }
            }
            let Some(polled) = &mut self.polled else { return Poll::Pending };
            let result = (self.poll)(polled, context);
            if result.is_ready() || !self.message.take_long() {
                return result;
            }
            let (polled, poll, waker) = (self.polled.take(), self.poll, context.waker().clone());
            let span = Span::current();
            self.elsewhere = polled.map(|mut polled| -> BoxFuture<'static, _> {
                Box::pin(offload(true, move || {
                    let _entered = span.as_ref().map(Span::enter);
                    let result = poll(&mut polled, &mut Context::from_waker(&waker));
                    (polled, result)
                }))
            });
        }
    }
}
