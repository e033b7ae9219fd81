//! Room in memory for the messages of calls: those received and not yet answered, and answers that are not read yet.

use std::sync::Arc;

use dashmap::DashMap;
use http::Extensions;
use rustc_hash::FxBuildHasher;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tonic::Status;

use crate::convert::status::turned_away;
use utterd_domain::limits::{MAX_WAITING_FOR_ROOM, ROOM_PATIENCE, ROOM_RETRY};

/// The number of callers beyond which those that hold nothing are forgotten.
const MANY: usize = 1_024;

/// The memory for the messages of all callers. One caller can have three quarters of it.
#[derive(Debug)]
pub struct MessageMemory {
    /// The KiB that are free.
    free: Arc<Semaphore>,
    /// The KiB that one caller can have.
    most_each: usize,
    /// The KiB that anything counts with at most: half of all, so that the largest finds room beside small ones.
    most: usize,
    /// Those that each caller can still take.
    callers: DashMap<u64, Arc<Semaphore>, FxBuildHasher>,
    /// Who can wait for room; any more are refused at once.
    waiting: Semaphore,
}

/// The room of one caller; in the extensions of a request if the server bounds the memory.
#[derive(Clone, Debug)]
pub struct Room {
    memory: Arc<MessageMemory>,
    caller: u64,
}

/// Room that a call holds until the value is dropped.
#[derive(Debug, Default)]
pub struct Held(Option<[OwnedSemaphorePermit; 2]>);

impl MessageMemory {
    /// Memory of this many bytes.
    pub fn new(bytes: usize) -> Arc<Self> {
        let kib = bytes >> 10;
        Arc::new(Self {
            free: Arc::new(Semaphore::new(kib)),
            most_each: kib / 4 * 3,
            most: kib / 2,
            callers: DashMap::default(),
            waiting: Semaphore::new(MAX_WAITING_FOR_ROOM),
        })
    }

    /// Returns the room of a caller.
    pub fn room(self: &Arc<Self>, caller: u64) -> Room {
        Room { memory: self.clone(), caller }
    }

    fn of(&self, caller: u64) -> Arc<Semaphore> {
        if self.callers.len() > MANY {
            self.callers.retain(|_, free| Arc::strong_count(free) > 1);
        }
        let own = || Arc::new(Semaphore::new(self.most_each));
        self.callers.entry(caller).or_insert_with(own).clone()
    }

    /// The KiB that `bytes` count with.
    fn kib(&self, bytes: usize) -> u32 {
        bytes.div_ceil(1 << 10).min(self.most) as u32
    }
}

impl Room {
    /// Returns the room for a request; `None` if nothing bounds its memory.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Self>().cloned()
    }

    /// Takes room for `bytes`; `None` if there is none now.
    pub fn try_take(&self, bytes: usize) -> Option<Held> {
        let (own, free, kib) =
            (self.memory.of(self.caller), self.memory.free.clone(), self.memory.kib(bytes));
        let own = own.try_acquire_many_owned(kib).ok()?;
        Some(Held(Some([own, free.try_acquire_many_owned(kib).ok()?])))
    }

    /// Like [`Self::try_take`], but waits a little for room.
    pub async fn take(&self, bytes: usize) -> Option<Held> {
        if let Some(held) = self.try_take(bytes) {
            return Some(held);
        }
        let _waiting = self.memory.waiting.try_acquire().ok()?;
        let (own, free, kib) =
            (self.memory.of(self.caller), self.memory.free.clone(), self.memory.kib(bytes));
        let room = async {
            let own = own.acquire_many_owned(kib).await.ok()?;
            Some(Held(Some([own, free.acquire_many_owned(kib).await.ok()?])))
        };
        timeout(ROOM_PATIENCE, room).await.ok()?
    }

    /// Makes `held` at least `bytes`; returns whether there was room.
    pub(crate) async fn grow(&self, held: &mut Held, bytes: usize) -> bool {
        let lacking = (self.memory.kib(bytes) as usize).saturating_sub(held.kib());
        if lacking == 0 {
            return true;
        }
        let Some(more) = self.take(lacking << 10).await else { return false };
        held.add(more);
        true
    }
}

impl Held {
    fn kib(&self) -> usize {
        self.0.as_ref().map_or(0, |[own, _]| own.num_permits())
    }

    fn add(&mut self, more: Self) {
        match (&mut self.0, more.0) {
            (Some([own, all]), Some([more, more_of_all])) => {
                own.merge(more);
                all.merge(more_of_all);
            }
            (None, more) => self.0 = more,
            (Some(_), None) => {}
        }
    }

    /// Gives back all but `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let beyond = self.kib().saturating_sub(bytes.div_ceil(1 << 10));
        for permit in self.0.iter_mut().flatten() {
            drop(permit.split(beyond));
        }
    }
}

/// There is no room for a message.
pub fn no_room() -> Status {
    let text = "the caller's unanswered messages leave no room for this one: wait for answers, \
                or send less at a time";
    turned_away("MESSAGES_IN_FLIGHT", text, ROOM_RETRY, Some(("received messages", text)))
}

/// There is no room for an answer.
pub fn unread() -> Status {
    let text = "the caller's unread answers leave no room for another: read them first";
    turned_away("ANSWERS_UNREAD", text, ROOM_RETRY, Some(("unread answers", text)))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const KIB: usize = 1 << 10;

    #[test]
    fn one_caller_leaves_a_quarter_to_others() {
        let memory = MessageMemory::new(160 * KIB);
        let (one, other) = (memory.room(1), memory.room(2));
        let all = [500, 40].map(|kib| one.try_take(kib * KIB).expect("room"));
        assert_eq!(all.each_ref().map(Held::kib), [80, 40]);
        assert!(one.try_take(1).is_none());
        let _rest = other.try_take(40 * KIB).expect("what is left");
        assert!(other.try_take(1).is_none());
        drop(all);
        assert!(other.try_take(80 * KIB).is_some() && one.try_take(80 * KIB).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn room_is_waited_for_and_given_back() {
        let memory = MessageMemory::new(160 * KIB);
        let room = memory.room(1);
        let mut held = Held::default();
        assert!(room.grow(&mut held, 1).await && room.grow(&mut held, 75 * KIB).await);
        assert_eq!(held.kib(), 75);
        let started = Instant::now();
        assert!(room.take(50 * KIB).await.is_none());
        assert_eq!(started.elapsed(), ROOM_PATIENCE);
        held.shrink_to(60 * KIB);
        assert!(room.take(50 * KIB).await.is_some());
        drop(held);
        assert_eq!(memory.free.available_permits(), 160);
    }
}
