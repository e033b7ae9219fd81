//! A conversation's state, as it is published: immutable, and cheap to clone.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::domain::{
    ChangeId, ConversationKey, Encoding, ForkedFrom, LineageId, Now, Policy, Ranges, RecipientId, Refusal,
    Revision, Sequence, Timestamp, Trunk, Window,
    compaction::Compaction,
    exchange::{AbandonedCall, OpenExchange},
    limits::{CONVERSATION_BYTES, DEFAULT_AWAITING_TIMEOUT, DEFAULT_IDLE_TIMEOUT},
    memory::{self, allocated},
    segment::Summary,
    share::Share,
    state::StateEntry,
};

/// What never changes in a conversation's life.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// Its name.
    pub key: ConversationKey,
    /// Whose conversation it is.
    pub recipient: RecipientId,
    /// The one name of this life of it: an id that starts anew after a deletion has another. What
    /// the conversation alone has is stored under it; see [`Head::branch`] for its utterances.
    pub lineage: LineageId,
    /// When it was created.
    pub start_time: Timestamp,
    /// What its tokens are counted in.
    pub encoding: Encoding,
}

impl Identity {
    /// Whether it is one of its recipient's conversations. What keeps the recipient's own state is none.
    pub fn is_listed(&self) -> bool {
        !self.key.id.is_of_state()
    }
}

/// Everything about a conversation but its utterances and its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// What never changes.
    pub identity: Arc<Identity>,
    /// How often it has changed.
    pub revision: Revision,
    /// The commit that made this state; the default before any.
    pub change: ChangeId,
    /// When it changed last.
    pub update_time: Timestamp,
    /// The time of its newest utterance, by the server's clock; of its start before any.
    pub said_time: Timestamp,
    /// The sequence of the next utterance.
    pub next: Sequence,
    /// The turn of the newest utterance.
    pub turn: u32,
    /// Whether only instructions have been said so far.
    pub only_instructions: bool,
    /// The exchange that waits for results.
    pub open: Option<Arc<OpenExchange>>,
    /// Calls that were abandoned, in the order they were made: the newest
    /// [`MAX_ABANDONED_CALLS`](crate::domain::limits::MAX_ABANDONED_CALLS) of those that are stored.
    pub abandoned: Arc<[AbandonedCall]>,
    /// The newest utterance awaits an answer.
    pub awaits_answer: bool,
    /// The title that it was given.
    pub title: Option<Arc<str>>,
    /// How it ended; `None` while it goes on.
    pub ended: Option<Arc<Ending>>,
    /// The shares by which it can be read; those that expired go at the next change.
    pub shares: Arc<[Share]>,
    /// The caller's labels.
    pub labels: Arc<BTreeMap<String, String>>,
    /// Its limits.
    pub policy: Policy,
    /// Every sequence that left the window by eviction, stored or not.
    pub left: Arc<Ranges>,
    /// Of these, the ones that are stored.
    pub archived: Arc<Ranges>,
    /// Of the archived, the ones that were pinned there: eviction passes over those pinned before.
    pub pinned_away: Arc<Ranges>,
    /// Utterances stored, in the window and the archive.
    pub stored: u64,
    /// [Bytes](crate::domain::Utterance::stored_bytes) of the utterances stored, in the window and the archive. `None` in what
    /// was stored before they were noted here; whoever loads a state counts them.
    pub stored_bytes: Option<u64>,
    /// Tokens of the window's live utterances; `None` in what was stored before they were noted here.
    pub window_tokens: Option<u64>,
    /// The revision that erased or replaced text last; [`Revision::NONE`] when none did.
    pub erased_at: Revision,
    /// The revision that soft-forgot or restored something last; [`Revision::NONE`] when none did.
    pub silenced_at: Revision,
    /// The advice to compact that was answered, by its threshold; 0 when none stands answered.
    pub advice_answered: u32,
    /// The sequence that was next when the last compaction was made or undone; 0 before any.
    pub compacted_at: Sequence,
    /// The number of the next compaction.
    pub next_compaction: u32,
    /// Where utterances are stored that were written before a fork, the oldest first.
    pub trunks: Arc<[Trunk]>,
    /// The lineage that utterances are written to: that of [`Identity`] until the first fork.
    pub branch: LineageId,
    /// Nothing was written to [`Head::branch`] since the fork that made it, of which this is the
    /// parent or the result: another fork need not freeze it.
    pub fresh_branch: bool,
    /// What it was forked from.
    pub forked_from: Option<Arc<ForkedFrom>>,
    /// What is told of the values that callers keep beside it, by name.
    pub state: Arc<[StateEntry]>,
}

/// How a conversation ended. What is made of the conversation then holds only what is still stored
/// of it, or told by its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// When.
    pub time: Timestamp,
    /// Why, in the caller's words; empty when none were given.
    pub reason: Arc<str>,
    /// A title made of what was said, for a conversation that was given none.
    pub title: Option<Arc<str>>,
    /// What it was about and what came of it, in two or three sentences.
    pub summary: Option<Arc<str>>,
    /// Since when a model is to tell both; `None` when none is.
    pub awaits: Option<Timestamp>,
    /// Who told them, when a model did.
    pub teller: Option<Teller>,
}

/// A model that told something, and how it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teller {
    /// The model.
    pub model: Arc<str>,
    /// The version of the prompts.
    pub prompt: u32,
}

/// A conversation: its head, its window, and the summary of what left the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Everything else.
    pub head: Head,
    /// The live utterances.
    pub window: Window,
    /// What covers those that left.
    pub summary: Summary,
    /// Its compactions, the oldest first: the last [`MAX_COMPACTIONS`](crate::domain::limits::MAX_COMPACTIONS).
    pub compactions: Arc<[Arc<Compaction>]>,
}

/// How long something was said lately, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// With nothing said for so long, a conversation is idle.
    pub idle: Duration,
    /// An awaited answer is stale after so long.
    pub awaiting: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { idle: DEFAULT_IDLE_TIMEOUT, awaiting: DEFAULT_AWAITING_TIMEOUT }
    }
}

/// What a conversation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Something was said lately.
    Active,
    /// The assistant waits for an answer.
    AwaitingAnswer,
    /// Nothing was said for the idle timeout.
    Idle,
    /// It has ended.
    Closed,
}

impl Conversation {
    /// A conversation in which nothing was said yet, before its first revision.
    pub fn new(identity: Identity, policy: Policy) -> Self {
        let start_time = identity.start_time;
        let branch = identity.lineage;
        let head = Head {
            identity: Arc::new(identity),
            revision: Revision::NONE,
            change: ChangeId::default(),
            update_time: start_time,
            said_time: start_time,
            next: Sequence::FIRST,
            turn: 0,
            only_instructions: true,
            open: None,
            abandoned: Arc::default(),
            awaits_answer: false,
            title: None,
            ended: None,
            shares: Arc::default(),
            labels: Arc::default(),
            policy,
            left: Arc::default(),
            archived: Arc::default(),
            pinned_away: Arc::default(),
            stored: 0,
            stored_bytes: Some(0),
            window_tokens: Some(0),
            erased_at: Revision::NONE,
            silenced_at: Revision::NONE,
            advice_answered: 0,
            compacted_at: Sequence(0),
            next_compaction: 1,
            trunks: Arc::default(),
            branch,
            fresh_branch: false,
            forked_from: None,
            state: Arc::default(),
        };
        Self { head, window: Window::default(), summary: Summary::default(), compactions: Arc::default() }
    }

    /// Its name.
    pub fn key(&self) -> &ConversationKey {
        &self.head.identity.key
    }

    /// Whether it is stored: what a recipient has that has none is before its first revision.
    pub fn exists(&self) -> bool {
        self.head.revision != Revision::NONE
    }

    /// Since when a segment of its summary, or its closing, has waited for a model.
    pub fn awaits_since(&self) -> Option<Timestamp> {
        let closing = self.head.ended.as_ref().and_then(|ending| ending.awaits);
        self.summary.awaits_since().into_iter().chain(closing).min()
    }

    /// Whether the utterance is stored, in the window or the archive.
    pub fn stores(&self, sequence: Sequence) -> bool {
        self.window.get(sequence).is_some() || self.head.archived.contains(sequence)
    }

    /// Refuses when `expected` is another revision than the present one.
    pub fn expect(&self, expected: Option<Revision>) -> Result<(), Refusal> {
        let actual = self.head.revision;
        match expected {
            Some(expected) if expected != actual => {
                let of =
                    if self.head.identity.is_listed() { "the conversation" } else { "the recipient's state" };
                Err(Refusal::StaleRevision { of, expected, actual })
            }
            _ => Ok(()),
        }
    }

    /// Refuses when the conversation has ended.
    pub fn check_open(&self) -> Result<(), Refusal> {
        match self.head.ended {
            Some(_) => Err(Refusal::Closed(self.key().id.to_string())),
            None => Ok(()),
        }
    }

    /// The sequence that `id` names, when the id tells it: one that the client gave to an
    /// utterance of the window, or one that the server assigned.
    pub fn sequence_of(&self, id: &str) -> Option<Sequence> {
        let given = self.window.given(id);
        given.or_else(|| self.head.assigned(id))
    }
}

impl Head {
    /// What the conversation is doing at `now`.
    pub fn status(&self, now: impl Into<Now>, timeouts: Timeouts) -> Status {
        let now = now.into();
        let said_time = now.noted(self.said_time);
        if self.ended.is_some() {
            return Status::Closed;
        }
        if self.awaits_answer && now.time < said_time.plus(timeouts.awaiting) {
            return Status::AwaitingAnswer;
        }
        match now.time < said_time.plus(timeouts.idle) {
            true => Status::Active,
            false => Status::Idle,
        }
    }

    /// The bytes that the conversation counts of what its namespace may store: those of its utterances, its title,
    /// its labels and its state, and [`CONVERSATION_BYTES`]. What it shares with a fork counts in both.
    pub fn counted_bytes(&self) -> u64 {
        let labels: usize = self.labels.iter().map(|(key, value)| key.len() + value.len()).sum();
        let title = self.title.as_ref().map_or(0, |title| title.len());
        self.stored_bytes.unwrap_or(0) + CONVERSATION_BYTES + (labels + title) as u64 + self.state_bytes()
    }

    /// Adds and takes away bytes of utterances stored.
    pub(in crate::domain) fn weigh(&mut self, more: u64, less: u64) {
        self.stored_bytes = self.stored_bytes.map(|bytes| (bytes + more).saturating_sub(less));
    }

    /// About how many bytes the conversation takes in memory without what was said: head,
    /// identity, its lists, labels, title and trunks.
    pub fn memory_bytes(&self) -> usize {
        let identity = &self.identity;
        // the names stand in the maps and in the lists that they are found by
        let names = 4 * (identity.key.id.as_str().len() + identity.recipient.as_str().len());
        let shares = self.shares.len() * (size_of::<Share>() + 48);
        let abandoned: usize = self.abandoned.iter().map(|call| allocated(call.id.len()) + 64).sum();
        let ranges = [&self.left, &self.archived, &self.pinned_away].map(|ranges| ranges.memory_bytes());
        2_304
            + names
            + memory::map(&self.labels)
            + shares
            + self.trunks.len() * 128
            + abandoned
            + self.state.iter().map(|entry| allocated(entry.name.len()) + 64).sum::<usize>()
            + ranges.iter().sum::<usize>()
            + self.title.as_ref().map_or(0, |title| allocated(title.len()))
            + self.ended.as_ref().map_or(0, |ending| ending.memory_bytes())
    }

    /// About the bytes that it takes in an answer: its texts, each with its tag and length, and its numbers.
    pub fn answer_bytes(&self) -> usize {
        let labels: usize = self.labels.iter().map(|(key, value)| key.len() + value.len() + 24).sum();
        let ended = self.ended.as_ref().map_or(0, |ending| ending.memory_bytes());
        let identity = self.identity.key.id.as_str().len() + self.identity.recipient.as_str().len();
        512 + identity + labels + self.title.as_ref().map_or(0, |title| title.len()) + ended
    }

    /// The title that it was given, or else the one that was made when it ended.
    pub fn shown_title(&self) -> Option<&Arc<str>> {
        self.title.as_ref().or_else(|| self.ended.as_ref()?.title.as_ref())
    }

    /// When the conversation is to be removed, if ever.
    pub fn expire_time(&self) -> Option<Timestamp> {
        self.policy.expire_after.map(|after| self.update_time.plus(after))
    }
}

impl Ending {
    fn memory_bytes(&self) -> usize {
        let made = [&self.title, &self.summary].map(|text| text.as_ref().map_or(0, |text| text.len()));
        let model = self.teller.as_ref().map_or(0, |teller| teller.model.len());
        128 + self.reason.len() + model + made.iter().sum::<usize>()
    }
}
