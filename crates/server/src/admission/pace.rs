//! How fast a message has to arrive.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use utterd_domain::limits::{LEAST_MESSAGE_RATE, MESSAGE_PATIENCE};

/// If the timer is polled this long after its deadline, nobody was waiting for it: nobody asked for more bytes, and
/// flow control may have kept the client from sending.
const UNASKED: Duration = Duration::from_secs(1);

/// The pace of an arriving message: within each [`MESSAGE_PATIENCE`], all of it must arrive, or as much as
/// [`LEAST_MESSAGE_RATE`] requires.
#[derive(Default)]
pub struct Pace {
    since: Option<Instant>,
    came: usize,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    /// Notes that `bytes` arrived.
    pub fn came(&mut self, bytes: usize) {
        self.came += bytes;
    }

    /// Notes that no bytes are expected.
    pub fn rest(&mut self) {
        self.since = None;
    }

    /// Waits until the expected bytes are late.
    pub fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let since = *self.since.get_or_insert_with(|| {
                self.came = 0;
                Instant::now()
            });
            let due = since + MESSAGE_PATIENCE;
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
            if timer.deadline() != due {
                timer.as_mut().reset(due);
            }
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if self.came < enough() && due.elapsed() < UNASKED {
                return Poll::Ready(());
            }
            self.since = None;
        }
    }
}

fn enough() -> usize {
    LEAST_MESSAGE_RATE * MESSAGE_PATIENCE.as_secs() as usize
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_is_late() {
        let (mut pace, begun) = (Pace::default(), Instant::now());
        poll_fn(|context| pace.poll_late(context)).await;
        assert_eq!(begun.elapsed(), MESSAGE_PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_fast_enough_is_waited_for() {
        let (mut pace, begun) = (Pace::default(), Instant::now());
        for _ in 0..10 {
            let late = poll_fn(|context| pace.poll_late(context));
            assert!(tokio::time::timeout(MESSAGE_PATIENCE / 2, late).await.is_err());
            pace.came(enough());
        }
        assert!(begun.elapsed() >= MESSAGE_PATIENCE * 5);
        poll_fn(|context| pace.poll_late(context)).await;
        assert!(begun.elapsed() <= MESSAGE_PATIENCE * 7, "some bytes a second are not enough");
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_asked_for_is_not_late() {
        let mut pace = Pace::default();
        let late = poll_fn(|context| pace.poll_late(context));
        assert!(tokio::time::timeout(MESSAGE_PATIENCE / 2, late).await.is_err());
        tokio::time::advance(MESSAGE_PATIENCE * 2).await;
        let again = Instant::now();
        poll_fn(|context| pace.poll_late(context)).await;
        assert_eq!(again.elapsed(), MESSAGE_PATIENCE, "its time starts again");
    }
}
