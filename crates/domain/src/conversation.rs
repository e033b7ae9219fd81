//! A conversation's state as it is published: immutable, and cheap to clone.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    ChangeId, ConversationId, ConversationKey, Copied, Encoding, ForkedFrom, LineageId, Namespace, Now,
    Policy, Ranges, RecipientId, Refusal, Result, Revision, Sequence, Timestamp, Trunk, Window,
    compaction::Compaction,
    exchange::{AbandonedCall, OpenExchange},
    limits::{CONVERSATION_BYTES, DEFAULT_AWAITING_TIMEOUT, DEFAULT_IDLE_TIMEOUT},
    segment::Summary,
    share::Share,
    state::StateEntry,
    values::memory::{self, allocated},
};

/// What never changes during a conversation's life.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// The conversation's key.
    pub key: ConversationKey,
    /// The recipient the conversation belongs to.
    pub recipient: RecipientId,
    /// The unique name of this life of the conversation: if its id is used again after a deletion, the
    /// lineage differs. What belongs to the conversation alone is stored under it; see [`Head::branch`] for
    /// its utterances.
    pub lineage: LineageId,
    /// The creation time.
    pub start_time: Timestamp,
    /// The encoding in which its tokens are counted.
    pub encoding: Encoding,
}

impl Identity {
    /// Whether this is one of the recipient's conversations, and not the holder of the recipient's own state.
    pub fn is_listed(&self) -> bool {
        !self.key.id.is_of_state()
    }
}

/// The identity of no conversation.
impl Default for Identity {
    fn default() -> Self {
        Self {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::assigned(0) },
            recipient: RecipientId::default(),
            lineage: LineageId([0; 16]),
            start_time: Timestamp(0),
            encoding: Encoding::default(),
        }
    }
}

/// Everything about a conversation except its utterances, its summary and its compactions. The parts that are skipped
/// are stored apart from the others.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Head {
    /// What never changes.
    #[serde(skip)]
    pub identity: Arc<Identity>,
    /// The number of changes so far.
    pub revision: Revision,
    /// The commit that made this state; the default before the first.
    pub change: ChangeId,
    /// The time of the last change.
    pub update_time: Timestamp,
    /// The time of the newest utterance by the server's clock; before the first utterance, the start time.
    pub said_time: Timestamp,
    /// The sequence of the next utterance.
    pub next: Sequence,
    /// The turn of the newest utterance.
    pub turn: u32,
    /// Whether only instructions have been said so far.
    pub only_instructions: bool,
    /// The exchange waiting for results.
    pub open: Option<Arc<OpenExchange>>,
    /// Abandoned calls in the order they were made: the newest
    /// [`MAX_ABANDONED_CALLS`](crate::limits::MAX_ABANDONED_CALLS) that are stored.
    pub abandoned: Arc<[AbandonedCall]>,
    /// Whether the newest utterance awaits an answer.
    pub awaits_answer: bool,
    /// The title the conversation was given.
    #[serde(skip)]
    pub title: Option<Arc<str>>,
    /// While it goes on without one: the title made from what was said, if a caller asked for that.
    #[serde(skip)]
    pub made_title: Option<Arc<str>>,
    /// How the conversation ended; `None` if it has not.
    pub ended: Option<Arc<Ending>>,
    /// The shares through which it can be read; expired ones are dropped at the next change.
    #[serde(skip)]
    pub shares: Arc<[Share]>,
    /// The caller's labels.
    #[serde(skip)]
    pub labels: Arc<BTreeMap<String, String>>,
    /// Its limits.
    pub policy: Policy,
    /// Every sequence that left the window by eviction, stored or not.
    pub left: Arc<Ranges>,
    /// The stored ones among them.
    pub archived: Arc<Ranges>,
    /// Archived sequences that are pinned. They were pinned in the archive: eviction skips pinned utterances.
    pub pinned_away: Arc<Ranges>,
    /// Utterances stored, in the window and the archive.
    pub stored: u64,
    /// [Bytes](crate::Utterance::stored_bytes) of the utterances stored, in the window and the
    /// archive.
    pub stored_bytes: u64,
    /// Tokens of the window's live utterances.
    pub window_tokens: u64,
    /// The last revision that erased or replaced text; [`Revision::NONE`] if there was none.
    pub erased_at: Revision,
    /// The last revision that soft-forgot or restored something; [`Revision::NONE`] if there was none.
    pub silenced_at: Revision,
    /// The threshold of the advice to compact that was answered; 0 if there is no answered advice.
    pub advice_answered: u32,
    /// The value of `next` when the last compaction was made or undone; 0 before the first.
    pub compacted_at: Sequence,
    /// The number of the next compaction.
    pub next_compaction: u32,
    /// Where the utterances written before a fork are stored, oldest first.
    pub trunks: Arc<[Trunk]>,
    /// The lineage that utterances are written to: the one in [`Identity`] until the first fork.
    pub branch: LineageId,
    /// Whether nothing was written to [`Head::branch`] since the fork that created it, in which this
    /// conversation was the parent or the result. If so, another fork need not freeze it.
    pub fresh_branch: bool,
    /// The conversation it was forked from.
    #[serde(skip)]
    pub forked_from: Option<Arc<ForkedFrom>>,
    /// The utterances that were first said elsewhere, and were stored again in this conversation by an edit
    /// made as a fork, or by an import. Copies of copies name the first origin; an imported utterance without
    /// an origin names itself.
    #[serde(skip)]
    pub copies: Arc<[Copied]>,
    /// The names, versions and sizes of the values that callers keep with the conversation.
    #[serde(skip)]
    pub state: Arc<[StateEntry]>,
}

/// How a conversation ended. The title and summary made from the conversation hold only what is still stored
/// of it, or in its summary.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ending {
    /// The time it ended.
    pub time: Timestamp,
    /// The reason in the caller's words; empty if none was given.
    pub reason: Arc<str>,
    /// A title made from what was said, if the conversation was given none.
    pub title: Option<Arc<str>>,
    /// What it was about and what the result was, in two or three sentences.
    pub summary: Option<Arc<str>>,
    /// The time since which a model is awaited to rewrite both; `None` if none is.
    pub awaits: Option<Timestamp>,
    /// The model that wrote them, if one did.
    pub teller: Option<Teller>,
}

/// A model that wrote something, and the prompts it was given.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Teller {
    /// The model.
    pub model: Arc<str>,
    /// The version of the prompts.
    pub prompt: u32,
}

/// A conversation: its head, its window, and the summary of the utterances that left the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Everything else.
    pub head: Head,
    /// The live utterances.
    pub window: Window,
    /// The summary of the utterances that left the window.
    pub summary: Summary,
    /// Its compactions, the oldest first: the last [`MAX_COMPACTIONS`](crate::limits::MAX_COMPACTIONS).
    pub compactions: Arc<[Arc<Compaction>]>,
}

/// How long after the last utterance a conversation's status changes, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// A conversation is idle if nothing was said for this long.
    pub idle: Duration,
    /// An awaited answer is stale after this long.
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
    /// Something was said recently.
    Active,
    /// The assistant waits for an answer.
    AwaitingAnswer,
    /// Nothing was said within the idle timeout.
    Idle,
    /// It has ended.
    Closed,
}

impl Conversation {
    /// Creates a conversation in which nothing was said yet, before its first revision.
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
            made_title: None,
            ended: None,
            shares: Arc::default(),
            labels: Arc::default(),
            policy,
            left: Arc::default(),
            archived: Arc::default(),
            pinned_away: Arc::default(),
            stored: 0,
            stored_bytes: 0,
            window_tokens: 0,
            erased_at: Revision::NONE,
            silenced_at: Revision::NONE,
            advice_answered: 0,
            compacted_at: Sequence(0),
            next_compaction: 1,
            trunks: Arc::default(),
            branch,
            fresh_branch: false,
            forked_from: None,
            copies: Arc::default(),
            state: Arc::default(),
        };
        Self { head, window: Window::default(), summary: Summary::default(), compactions: Arc::default() }
    }

    /// The conversation's key.
    pub fn key(&self) -> &ConversationKey {
        &self.head.identity.key
    }

    /// Whether the conversation is stored. A recipient without one is represented by a
    /// conversation before its first revision.
    pub fn exists(&self) -> bool {
        self.head.revision != Revision::NONE
    }

    /// Since when a segment of the summary, or the closing, has been waiting for a model.
    pub fn awaits_since(&self) -> Option<Timestamp> {
        let closing = self.head.ended.as_ref().and_then(|ending| ending.awaits);
        self.summary.awaits_since().into_iter().chain(closing).min()
    }

    /// Whether the utterance is stored, in the window or the archive.
    pub fn stores(&self, sequence: Sequence) -> bool {
        self.window.get(sequence).is_some() || self.head.archived.contains(sequence)
    }

    /// Refuses if `expected` is not the current revision.
    pub fn expect(&self, expected: Option<Revision>) -> Result<()> {
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

    /// Refuses if the conversation has ended.
    pub fn check_open(&self) -> Result<()> {
        match self.head.ended {
            Some(_) => Err(Refusal::Closed(self.key().id.to_string())),
            None => Ok(()),
        }
    }

    /// Returns the sequence that `id` names, if that is known without the archive: the client gave the id to
    /// an utterance of the window, or the server assigned it.
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
        if now.time < said_time.plus(timeouts.idle) { Status::Active } else { Status::Idle }
    }

    /// The bytes that count against the storage limit of the conversation's namespace: those of its
    /// utterances, title, labels and state, plus [`CONVERSATION_BYTES`]. What a fork shares with its parent
    /// counts in both.
    pub fn counted_bytes(&self) -> u64 {
        let labels: usize = self.labels.iter().map(|(key, value)| key.len() + value.len()).sum();
        let title = self.title.as_ref().map_or(0, |title| title.len());
        self.stored_bytes + CONVERSATION_BYTES + (labels + title) as u64 + self.state_bytes()
    }

    /// Adds and subtracts bytes of stored utterances.
    pub(crate) fn weigh(&mut self, more: u64, less: u64) {
        self.stored_bytes = (self.stored_bytes + more).saturating_sub(less);
    }

    /// The approximate memory in bytes of the conversation without what was said: head, identity, its lists,
    /// labels, title and trunks.
    pub fn memory_bytes(&self) -> usize {
        let identity = &self.identity;
        // the names are stored in the maps, and in the lists used to find them
        let names = 4 * (identity.key.id.as_str().len() + identity.recipient.as_str().len());
        let shares = self.shares.len() * (size_of::<Share>() + 48);
        let abandoned: usize = self.abandoned.iter().map(|call| allocated(call.id.len()) + 64).sum();
        let ranges = [&self.left, &self.archived, &self.pinned_away].map(|ranges| ranges.memory_bytes());
        2_304
            + names
            + memory::map(&self.labels)
            + shares
            + self.trunks.len() * 128
            + self.copies.len() * size_of::<Copied>()
            + abandoned
            + self.state.iter().map(|entry| allocated(entry.name.len()) + 64).sum::<usize>()
            + ranges.iter().sum::<usize>()
            + [&self.title, &self.made_title]
                .into_iter()
                .flatten()
                .map(|title| allocated(title.len()))
                .sum::<usize>()
            + self.ended.as_ref().map_or(0, |ending| ending.memory_bytes())
    }

    /// The approximate size in an answer: the texts, each with its tag and length, and the numbers.
    pub fn answer_bytes(&self) -> usize {
        let labels: usize = self.labels.iter().map(|(key, value)| key.len() + value.len() + 24).sum();
        let ended = self.ended.as_ref().map_or(0, |ending| ending.memory_bytes());
        let identity = self.identity.key.id.as_str().len() + self.identity.recipient.as_str().len();
        512 + identity + labels + self.shown_title().map_or(0, |title| title.len()) + ended
    }

    /// The title it was given, or else the one made on demand or when it ended.
    pub fn shown_title(&self) -> Option<&Arc<str>> {
        let made = || self.ended.as_ref().map_or(self.made_title.as_ref(), |ending| ending.title.as_ref());
        self.title.as_ref().or_else(made)
    }

    /// The time at which the conversation expires, if it does.
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
