//! The store that the engines of a run share: a real one with delays, faults and a ledger. A run waits for it with
//! its only thread, so that it answers at once by the clock of the run.
//!
//! Commits of one conversation take effect in the order in which they were called, as the contract requires;
//! those of different conversations can overtake one another.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::{sync::oneshot, time::sleep};
use utterd::{
    domain::ConversationKey,
    store::{BoxFuture, Commit, CommitError, StoreError},
};

use crate::{
    clock::VirtualClock,
    dice::Dice,
    faults::{Fate, Faults, refusal},
    ledger::{By, Ledger},
    moment::{Moment, Until},
    naive::{Command, World},
    place::Opened,
    story::{Story, Tick},
    stranger, tell,
};

pub type Committed = Result<(), CommitError>;

/// What is on the disk, and the state of calls to it.
pub struct Disk {
    pub inner: Opened,
    pub story: Arc<Story>,
    pub ledger: Mutex<Ledger>,
    pub clock: Arc<VirtualClock>,
    pub faults: Mutex<Faults>,
    pub dice: Mutex<Dice>,
    /// The last commit that was called for each conversation.
    line: Mutex<BTreeMap<ConversationKey, Moment>>,
}

/// One life of a process, as seen by the disk.
#[derive(Clone)]
pub struct Life {
    pub by: By,
    /// The moment of its end.
    pub end: Moment,
}

/// A commit on its way.
struct Call {
    commit: Commit,
    fate: Fate,
    life: Life,
    number: u64,
    /// The commits that take effect before it.
    ahead: Vec<Moment>,
    /// Dropped when it has taken effect, or never will.
    done: Until,
}

impl Disk {
    pub fn new(
        story: Arc<Story>,
        clock: Arc<VirtualClock>,
        faults: Faults,
        dice: Dice,
        inner: Opened,
        world: World,
    ) -> Self {
        let (ledger, line) = (Mutex::new(Ledger::new(world)), Mutex::default());
        let (faults, dice) = (Mutex::new(faults), Mutex::new(dice));
        Self { inner, story, ledger, clock, faults, dice, line }
    }

    /// From now on, nothing fails.
    pub fn calm(&self) {
        let mut faults = self.faults.lock();
        *faults = faults.calm();
    }

    /// Accepts a commit. It proceeds whether or not its answer is awaited.
    pub fn commit(self: &Arc<Self>, life: &Life, commit: Commit) -> BoxFuture<'static, Committed> {
        let number = self.story.now();
        let fate = self.faults.lock().fate(&mut self.dice.lock());
        let done = Moment::default();
        let mut ahead = Vec::new();
        for write in &commit.writes {
            ahead.extend(self.line.lock().insert(write.key().clone(), done.clone()));
        }
        ahead.retain(|other| !other.has_come());
        let (pause, at_once) = (self.pause(), self.dice.lock().percent(30));
        let call = Call { commit, fate, life: life.clone(), number, ahead, done: Until(done) };
        self.story.tell(tell::by(life.by), format_args!("commit #{number}: {}", tell::commit(&call.commit)));
        if call.ahead.is_empty() && at_once && pause.is_none() {
            let (committed, tick) = self.take_effect(&call);
            self.acknowledge(&committed, tick);
            return Box::pin(std::future::ready(committed));
        }
        let (sender, answer) = oneshot::channel();
        tokio::spawn(self.clone().carry_out(call, sender));
        Box::pin(async move {
            match answer.await {
                Ok(committed) => committed,
                Err(_) => std::future::pending().await,
            }
        })
    }

    /// The duration of the next step of a call, if it takes any time.
    pub fn pause(&self) -> Option<std::time::Duration> {
        self.faults.lock().pause(&mut self.dice.lock())
    }

    /// Whether the next commit panics if it fails.
    pub fn panics(&self) -> bool {
        let mut dice = self.dice.lock().clone();
        // the next number decides on the fate of the commit: another one is needed
        dice.below(2);
        dice.percent(self.faults.lock().panic)
    }

    async fn carry_out(self: Arc<Self>, call: Call, caller: oneshot::Sender<Committed>) {
        for ahead in &call.ahead {
            ahead.wait().await;
        }
        if let Some(pause) = self.pause() {
            tokio::select! { biased; () = call.life.end.wait() => {}, () = sleep(pause) => {} }
        }
        // what takes effect after the end of its process would surprise the next one
        if call.life.end.has_come() {
            self.story.tell("disk", format_args!("#{} is lost with its process", call.number));
            return;
        }
        let (committed, tick) = self.take_effect(&call);
        let Call { life, done, .. } = call;
        drop(done);
        if let Some(pause) = self.pause() {
            sleep(pause).await;
        }
        if !life.end.has_come() {
            self.acknowledge(&committed, tick);
            let _ = caller.send(committed);
        }
    }

    fn acknowledge(&self, committed: &Committed, tick: Tick) {
        if committed.is_ok() {
            self.ledger.lock().acknowledged.insert(tick);
        }
    }

    /// Lets the commit take effect or fail; returns the caller's answer, and when that was.
    fn take_effect(&self, call: &Call) -> (Committed, Tick) {
        let Call { commit, fate, life, number, .. } = call;
        let refused = match fate {
            Fate::Done | Fate::Lost => None,
            Fate::Refused => Some(refusal(&mut self.dice.lock())),
            Fate::Failed => Some(StoreError::Unavailable("the flush failed".to_owned())),
        };
        if let Some(error) = refused {
            let tick = self.story.tell("disk", format_args!("#{number} has no effect: {error}"));
            return (Err(error.into()), tick);
        }
        if self.dice.lock().percent(self.faults.lock().stranger) {
            stranger::interfere(self, commit);
        }
        let (committed, tick) = self.apply(commit, life.by, &format!("#{number}"), None);
        match (&committed, fate) {
            (Ok(()), Fate::Lost) => {
                self.story.tell("disk", format_args!("the answer to #{number} is lost"));
                (Err(lost_answer()), tick)
            }
            _ => (committed, tick),
        }
    }

    /// Applies a commit, of another process if it does something `strange`, and records it in the ledger; returns
    /// the result, and when that was.
    pub fn apply(&self, commit: &Commit, by: By, name: &str, strange: Option<&Command>) -> (Committed, Tick) {
        let committed = self.inner.ask(|store| store.commit(commit.clone()));
        let tick = match &committed {
            Ok(()) => self.story.tell("disk", format_args!("{name} takes effect")),
            Err(error) => self.story.tell("disk", format_args!("{name} has no effect: {error}")),
        };
        if committed.is_ok() {
            self.ledger.lock().take(commit, tick, by, strange);
        }
        (committed, tick)
    }
}

/// The error for a caller whose commit took effect, but whose answer was lost.
fn lost_answer() -> CommitError {
    CommitError::Unknown("the answer was lost".to_owned())
}
