//! Counts the messages of a stream as calls.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{Stream, StreamExt};
use tokio::time::{Sleep, sleep};

/// The rate at which messages of a stream are accepted; in the extensions of a request if its caller is
/// limited.
#[derive(Clone)]
pub struct Pace(Arc<dyn Fn() -> Result<(), Duration> + Send + Sync>);

impl Pace {
    /// Makes a pace: `take` accepts a message, or returns how long the message has to wait.
    pub fn new(take: impl Fn() -> Result<(), Duration> + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pace")
    }
}

/// A stream that delays each item for as long as a call would be refused.
pub struct Paced<S: Stream> {
    stream: S,
    pace: Option<Pace>,
    waiting: Option<(S::Item, Pin<Box<Sleep>>)>,
}

impl<S: Stream> Paced<S> {
    /// Returns `stream` at the given pace, if any.
    pub fn new(stream: S, pace: Option<Pace>) -> Self {
        Self { stream, pace, waiting: None }
    }
}

impl<S: Stream<Item: Unpin> + Unpin> Stream for Paced<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let Some(pace) = self.pace.clone() else { return self.stream.poll_next_unpin(context) };
        loop {
            if let Some((_, until)) = &mut self.waiting {
                ready!(until.as_mut().poll(context));
            }
            let item = match self.waiting.take() {
                Some((item, _)) => item,
                None => match ready!(self.stream.poll_next_unpin(context)) {
                    Some(item) => item,
                    None => return Poll::Ready(None),
                },
            };
            match (pace.0)() {
                Ok(()) => return Poll::Ready(Some(item)),
                Err(wait) => self.waiting = Some((item, Box::pin(sleep(wait)))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use parking_lot::Mutex;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_item_waits_for_its_turn() {
        const INTERVAL: Duration = Duration::from_millis(10);
        let next = Mutex::new(Instant::now());
        let pace = Pace::new(move || {
            let (now, mut next) = (Instant::now(), next.lock());
            match now >= *next {
                true => *next = now + INTERVAL,
                false => return Err(*next - now),
            }
            Ok(())
        });
        let started = Instant::now();
        let items: Vec<_> = Paced::new(stream::iter(0..10), Some(pace)).collect().await;
        assert_eq!(items, (0..10).collect::<Vec<_>>());
        assert!(started.elapsed() >= 9 * INTERVAL);
        let items: Vec<_> = Paced::new(stream::iter(0..10), None).collect().await;
        assert_eq!(items.len(), 10);
    }
}
