//! Byte budgets that callers share.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

/// The most callers that wait for room at the same time; any more are refused without waiting.
const MAX_WAITING: usize = 64;

/// A number of bytes that callers share. It only counts them; taking bytes allocates nothing.
///
/// A budget can be a part of another one: taking from it takes from the other too, within both limits. A caller can
/// have three quarters of what the others leave, so there is always room for one more caller.
pub struct Budget {
    total: usize,
    taken: AtomicUsize,
    /// The budget that this one is a part of.
    whole: Option<Arc<Budget>>,
    waits: Arc<Waits>,
}

/// The callers that wait for room in a budget or in its parts.
#[derive(Default)]
struct Waits {
    waiting: AtomicUsize,
    given_back: Notify,
}

/// One caller's share of a budget.
pub struct Share {
    budget: Arc<Budget>,
    taken: AtomicUsize,
}

/// Bytes that a caller holds; released on drop.
pub struct Taken {
    share: Arc<Share>,
    bytes: usize,
}

impl Budget {
    /// A budget of `total` bytes.
    pub fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, taken: AtomicUsize::new(0), whole: None, waits: Arc::default() })
    }

    /// A part of this budget: at most `total` of its bytes.
    pub fn part(self: &Arc<Self>, total: usize) -> Arc<Self> {
        let (whole, waits) = (Some(self.clone()), self.waits.clone());
        Arc::new(Self { total, taken: AtomicUsize::new(0), whole, waits })
    }

    /// Returns the share of a new caller.
    pub fn share(self: &Arc<Self>) -> Arc<Share> {
        Arc::new(Share { budget: self.clone(), taken: AtomicUsize::new(0) })
    }

    /// Returns the bytes that are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// The budget, and all that it is a part of.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |budget| budget.whole.as_deref())
    }

    /// Takes bytes from every budget of the chain, or from none.
    fn try_add(&self, bytes: usize) -> bool {
        let within = |budget: &Self| {
            let sum = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= budget.total);
            budget.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, sum).is_ok()
        };
        let lacking = self.chain().position(|budget| !within(budget));
        if let Some(had) = lacking {
            self.chain().take(had).for_each(|budget| budget.subtract(bytes));
        }
        lacking.is_none()
    }

    fn add(&self, bytes: usize) {
        self.taken.fetch_add(bytes, Ordering::SeqCst);
    }

    fn subtract(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::SeqCst);
    }

    fn is_used_up(&self) -> bool {
        self.chain().any(|budget| budget.taken.load(Ordering::Relaxed) >= budget.total)
    }
}

impl Share {
    /// Returns the bytes that the caller holds.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether the caller can have no more.
    pub fn is_full(&self) -> bool {
        self.budget.is_used_up() || !self.leaves_room(1)
    }

    /// Takes bytes, whether there is room or not.
    pub fn take_anyway(self: &Arc<Self>, bytes: usize) -> Taken {
        self.budget.chain().for_each(|budget| budget.add(bytes));
        self.had(bytes)
    }

    /// Takes bytes; `None` if there is no room.
    pub fn try_take(self: &Arc<Self>, bytes: usize) -> Option<Taken> {
        (self.leaves_room(bytes) && self.budget.try_add(bytes)).then(|| self.had(bytes))
    }

    /// Like [`Self::try_take`], even if nothing is left for others.
    pub fn try_take_all(self: &Arc<Self>, bytes: usize) -> Option<Taken> {
        self.budget.try_add(bytes).then(|| self.had(bytes))
    }

    /// Takes bytes, and waits up to `patience` for room; `None` if there was none.
    pub async fn take(self: Arc<Self>, bytes: usize, patience: Duration) -> Option<Taken> {
        self.wait(patience, || self.try_take(bytes)).await
    }

    /// Like [`Self::take`], even if nothing is left for others.
    pub async fn take_all(self: Arc<Self>, bytes: usize, patience: Duration) -> Option<Taken> {
        self.wait(patience, || self.try_take_all(bytes)).await
    }

    /// Waits until the caller can have more.
    pub async fn until_there_is_room(self: Arc<Self>) {
        let _waiting = Counted::up(&self.budget.waits.waiting);
        loop {
            let mut given_back = pin!(self.budget.waits.given_back.notified());
            given_back.as_mut().enable();
            match self.is_full() {
                true => given_back.await,
                false => return,
            }
        }
    }

    async fn wait(&self, patience: Duration, take: impl Fn() -> Option<Taken>) -> Option<Taken> {
        let waits = &self.budget.waits;
        let waiting = Counted::up(&waits.waiting);
        if waiting.number > MAX_WAITING {
            return None;
        }
        let room = async {
            loop {
                let mut given_back = pin!(waits.given_back.notified());
                given_back.as_mut().enable();
                match take() {
                    Some(taken) => return taken,
                    None => given_back.await,
                }
            }
        };
        tokio::time::timeout(patience, room).await.ok()
    }

    fn had(self: &Arc<Self>, bytes: usize) -> Taken {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Taken { share: self.clone(), bytes }
    }

    /// Whether the caller, with `bytes` more, has at most three quarters of what the others leave.
    fn leaves_room(&self, bytes: usize) -> bool {
        let mine = self.taken.load(Ordering::Relaxed) + bytes;
        let all = self.budget.taken.load(Ordering::SeqCst) + bytes;
        all.saturating_add(mine / 3) <= self.budget.total
    }

    fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
        self.budget.chain().for_each(|budget| budget.subtract(bytes));
        let waits = &self.budget.waits;
        if waits.waiting.load(Ordering::SeqCst) > 0 {
            waits.given_back.notify_waiters();
        }
    }
}

impl Taken {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds `more` of the same caller's bytes.
    pub fn join(&mut self, mut more: Self) {
        self.bytes += std::mem::take(&mut more.bytes);
    }

    /// Releases all but `bytes`.
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

/// One unit of a count; subtracted on drop.
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
    use proptest::prelude::*;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[test]
    fn a_caller_may_have_three_quarters_of_what_others_leave() {
        let budget = Budget::new(160);
        let (one, two, three) = (budget.share(), budget.share(), budget.share());
        let first = one.try_take(120).unwrap();
        assert!(one.try_take(1).is_none() && one.is_full() && !two.is_full());
        let second = two.try_take(30).unwrap();
        assert!(two.try_take(1).is_none(), "40 were left");
        let _third = three.try_take(8).unwrap();
        assert!(three.try_take(1).is_none(), "10 were left");
        drop((first, second));
        assert_eq!(budget.taken(), 8);
    }

    /// Each kind leaves the others what only they can use.
    #[test]
    fn a_part_is_taken_of_the_whole() {
        let whole = Budget::new(100);
        let (calls, bytes) = (whole.part(90), whole.part(80));
        let (messages, answers) = (bytes.part(60), bytes.part(60));
        let first = messages.share().try_take_all(60).unwrap();
        assert!(messages.share().try_take_all(1).is_none() && messages.share().is_full());
        let second = answers.share().try_take_all(20).unwrap();
        assert!(answers.share().try_take_all(1).is_none() && answers.share().is_full());
        let third = calls.share().try_take_all(20).unwrap();
        assert!(calls.share().try_take_all(1).is_none());
        assert_eq!([&whole, &bytes, &messages, &answers].map(|budget| budget.taken()), [100, 80, 60, 20]);
        drop((first, third));
        assert_eq!([&whole, &bytes, &messages, &answers].map(|budget| budget.taken()), [20, 20, 0, 20]);
        drop(second);
        assert_eq!(whole.taken(), 0);
    }

    proptest! {
        /// However callers take and give back, the sum stays within the whole, and each kind within its part.
        #[test]
        fn the_sum_is_never_more_than_there_is(
            steps in prop::collection::vec((0..3_usize, 0..5_usize, 0..70_usize, any::<bool>()), 1..200),
        ) {
            let whole = Budget::new(100);
            let kinds = [whole.part(90), whole.part(60), whole.part(60)];
            let shares = kinds.each_ref().map(|kind| (0..5).map(|_| kind.share()).collect::<Vec<_>>());
            let mut taken = Vec::new();
            for (kind, caller, bytes, gives_back) in steps {
                match gives_back && !taken.is_empty() {
                    true => drop(taken.swap_remove(bytes % taken.len())),
                    false => taken.extend(shares[kind][caller].try_take(bytes)),
                }
                let sum: usize = taken.iter().map(Taken::bytes).sum();
                prop_assert_eq!(whole.taken(), sum);
                prop_assert!(sum <= 100 && kinds.iter().all(|kind| kind.taken() <= kind.total));
                prop_assert_eq!(kinds.iter().map(|kind| kind.taken()).sum::<usize>(), sum);
            }
            drop(taken);
            prop_assert_eq!(whole.taken(), 0);
        }
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
        let taken = share.try_take(75).unwrap();
        let mut waits = Box::pin(share.clone().take(75, PATIENCE));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(taken);
        assert_eq!(waits.await.unwrap().bytes(), 75);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let budget = Budget::new(100);
        let share = budget.share();
        let _taken = share.try_take(75).unwrap();
        let begun = tokio::time::Instant::now();
        assert!(share.clone().take(75, PATIENCE).await.is_none());
        assert_eq!(begun.elapsed(), PATIENCE);
        assert_eq!(budget.taken(), 75, "what was not had is not counted");
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_wait() {
        let budget = Budget::new(100);
        let share = budget.share();
        let _taken = share.try_take(75).unwrap();
        let mut waiting: Vec<_> =
            (0..MAX_WAITING).map(|_| Box::pin(share.clone().take(75, PATIENCE))).collect();
        for waits in &mut waiting {
            assert!(waits.as_mut().now_or_never().is_none());
        }
        assert!(share.clone().take(75, PATIENCE).now_or_never().unwrap().is_none(), "refused at once");
        waiting.pop();
        assert!(share.clone().take(75, PATIENCE).now_or_never().is_none(), "another may wait instead");
    }
}
