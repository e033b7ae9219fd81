//! A number of bytes that callers share.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

/// Callers that wait for room at once; of more, each is refused without waiting.
const MAX_WAITING: usize = 64;

/// Bytes that callers share. Taking some allocates nothing: it is a number.
///
/// A caller may have as much as is left over for the others: alone it gets half, two get a third each, and so
/// on. So there is always room for one more.
pub struct Budget {
    total: usize,
    taken: AtomicUsize,
    waiting: AtomicUsize,
    given_back: Notify,
}

/// One caller's share of a budget.
pub struct Share {
    budget: Arc<Budget>,
    taken: AtomicUsize,
}

/// Bytes that a caller has; given back when it is dropped.
pub struct Taken {
    share: Arc<Share>,
    bytes: usize,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(total: usize) -> Arc<Self> {
        let (taken, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { total, taken, waiting, given_back: Notify::new() })
    }

    /// Another caller's share.
    pub fn share(self: &Arc<Self>) -> Arc<Share> {
        Arc::new(Share { budget: self.clone(), taken: AtomicUsize::new(0) })
    }

    /// Bytes that are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Bytes that the caller has.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether the caller has as much as is left.
    pub fn is_full(&self) -> bool {
        let taken = self.taken.load(Ordering::Relaxed);
        taken > 0 && taken + self.budget.taken.load(Ordering::Relaxed) >= self.budget.total
    }

    /// Takes bytes whether there is room or not.
    pub fn take_anyway(self: &Arc<Self>, bytes: usize) -> Taken {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        self.budget.taken.fetch_add(bytes, Ordering::Relaxed);
        Taken { share: self.clone(), bytes }
    }

    /// Takes bytes; `None` when there is no room.
    pub fn try_take(self: &Arc<Self>, bytes: usize) -> Option<Taken> {
        let mine = self.taken.load(Ordering::Relaxed) + bytes;
        let all = self.budget.taken.load(Ordering::SeqCst) + bytes;
        (mine + all <= self.budget.total).then(|| self.take_anyway(bytes))
    }

    /// Takes bytes, and waits so long for room; `None` when there was none.
    pub async fn take(self: Arc<Self>, bytes: usize, patience: Duration) -> Option<Taken> {
        let waiting = Counted::up(&self.budget.waiting);
        if waiting.number > MAX_WAITING {
            return None;
        }
        tokio::time::timeout(patience, self.room_for(bytes)).await.ok()
    }

    /// Waits until the caller may have more.
    pub async fn until_there_is_room(self: Arc<Self>) {
        let _waiting = Counted::up(&self.budget.waiting);
        loop {
            let mut given_back = pin!(self.budget.given_back.notified());
            given_back.as_mut().enable();
            match self.is_full() {
                true => given_back.await,
                false => return,
            }
        }
    }

    async fn room_for(self: &Arc<Self>, bytes: usize) -> Taken {
        loop {
            let mut given_back = pin!(self.budget.given_back.notified());
            given_back.as_mut().enable();
            match self.try_take(bytes) {
                Some(taken) => return taken,
                None => given_back.await,
            }
        }
    }

    fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        self.budget.taken.fetch_sub(bytes, Ordering::SeqCst);
        if self.budget.waiting.load(Ordering::SeqCst) > 0 {
            self.budget.given_back.notify_waiters();
        }
    }
}

impl Taken {
    /// So many bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Joins `more` of the same caller's to it.
    pub fn join(&mut self, mut more: Self) {
        self.bytes += std::mem::take(&mut more.bytes);
    }

    /// Gives back what is beyond so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(beyond) = self.bytes.checked_sub(bytes) {
            self.bytes = bytes;
            self.share.give_back(beyond);
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.share.give_back(self.bytes);
        }
    }
}

/// One of those that are counted, until it is dropped.
struct Counted<'a> {
    count: &'a AtomicUsize,
    number: usize,
}

impl<'a> Counted<'a> {
    fn up(count: &'a AtomicUsize) -> Self {
        Self { count, number: count.fetch_add(1, Ordering::SeqCst) + 1 }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn a_caller_may_have_what_is_left_for_others() {
        let budget = Budget::new(120);
        let (one, two, three) = (budget.share(), budget.share(), budget.share());
        let _half = one.try_take(60).unwrap();
        assert!(one.try_take(1).is_none() && one.is_full() && !two.is_full());
        let second = two.try_take(30).unwrap();
        assert!(two.try_take(1).is_none(), "30 are left");
        let _third = three.try_take(15).unwrap();
        assert!(three.try_take(1).is_none(), "15 are left");
        drop(second);
        assert_eq!(budget.taken(), 75);
    }

    #[test]
    fn what_must_be_taken_is_and_counts() {
        let budget = Budget::new(100);
        let share = budget.share();
        let mut taken = share.take_anyway(150);
        assert!(share.is_full() && budget.share().try_take(1).is_none());
        taken.shrink_to(20);
        taken.join(share.try_take(5).unwrap());
        assert_eq!((taken.bytes(), budget.taken()), (25, 25));
        drop(taken);
        assert_eq!(budget.taken(), 0);
        assert!(!share.is_full());
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_waited_for() {
        let budget = Budget::new(100);
        let share = budget.share();
        let taken = share.try_take(50).unwrap();
        let mut waits = Box::pin(share.clone().take(50, PATIENCE));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(taken);
        assert_eq!(waits.await.unwrap().bytes(), 50);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let budget = Budget::new(100);
        let share = budget.share();
        let _taken = share.try_take(50).unwrap();
        let begun = tokio::time::Instant::now();
        assert!(share.clone().take(50, PATIENCE).await.is_none());
        assert_eq!(begun.elapsed(), PATIENCE);
        assert_eq!(budget.taken(), 50, "what was not had is not counted");
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_wait() {
        let budget = Budget::new(100);
        let share = budget.share();
        let _taken = share.try_take(50).unwrap();
        let mut waiting: Vec<_> =
            (0..MAX_WAITING).map(|_| Box::pin(share.clone().take(50, PATIENCE))).collect();
        for waits in &mut waiting {
            assert!(waits.as_mut().now_or_never().is_none());
        }
        assert!(share.clone().take(50, PATIENCE).now_or_never().unwrap().is_none(), "refused at once");
        waiting.pop();
        assert!(share.clone().take(50, PATIENCE).now_or_never().is_none(), "another may wait instead");
    }
}
