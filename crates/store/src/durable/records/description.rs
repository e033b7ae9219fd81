//! A conversation's title, labels, shares, parent and copies, and the entries of its state.

use std::{collections::BTreeMap, sync::Arc};

use utterd_domain::{Copied, ForkedFrom, Head, Origin, Sequence, share::Share, state::StateEntry};

use super::{
    Fault,
    field::{Field, Message, message, sequence_or_0},
    fields::Fields,
    number::sequence,
    payload::Payload,
};

/// A conversation's title, labels, shares, parent, copies and state entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// See [`Head::title`].
    pub title: Option<Arc<str>>,
    /// See [`Head::labels`].
    pub labels: Arc<BTreeMap<String, String>>,
    /// See [`Head::shares`].
    pub shares: Arc<[Share]>,
    /// See [`Head::forked_from`].
    pub forked_from: Option<Arc<ForkedFrom>>,
    /// See [`Head::copies`].
    pub copies: Arc<[Copied]>,
    /// See [`Head::state`].
    pub state: Arc<[StateEntry]>,
}

impl Description {
    /// Returns the description of a conversation.
    pub fn of(head: &Head) -> Self {
        Self {
            title: head.title.clone(),
            labels: head.labels.clone(),
            shares: head.shares.clone(),
            forked_from: head.forked_from.clone(),
            copies: head.copies.clone(),
            state: head.state.clone(),
        }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

message! {
    Description {
        1 title: "the title",
        2 labels: "the labels",
        3 shares: "a share",
        4 forked_from: "the origin of the fork",
        5 copies: "a run of copies",
        6 state: "an entry of the state",
    }
}

message! {
    Share {
        1 id: "a share's id",
        2 digest: "a share's digest",
        3 create_time: "a share's start",
        4 expire_time: "a share's end",
        5 include_archive: "whether a share includes the archive",
    }
}

/// Field 2 holds the distance from the first sequence to the last.
impl Message for Copied {
    fn write(&self, to: &mut Fields<'_>) {
        self.first.put(1, to);
        (self.last.0 - self.first.0).put(2, to);
        self.origin.lineage.put(3, to);
        self.origin.sequence.put(4, to);
        self.edited.put(5, to);
    }

    fn read(from: &Payload<'_>) -> Result<Self, Fault> {
        const LAST: &str = "the last of a run of copies";
        let first: Sequence = Field::get("the first of a run of copies", 1, from)?;
        let more = u64::get(LAST, 2, from)?;
        let origin = Origin {
            lineage: Field::get("the lineage of an origin", 3, from)?,
            sequence: Field::get("the sequence of an origin", 4, from)?,
        };
        sequence("the last origin of a run of copies", origin.sequence.0.saturating_add(more))?;
        Ok(Self {
            first,
            last: sequence(LAST, first.0.saturating_add(more))?,
            origin,
            edited: Field::get("whether a copy was edited", 5, from)?,
        })
    }
}

impl Message for ForkedFrom {
    fn write(&self, to: &mut Fields<'_>) {
        self.conversation.put(1, to);
        self.sequence.put(2, to);
        self.approximate.put(3, to);
    }

    fn read(from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self {
            conversation: Field::get("the parent", 1, from)?,
            sequence: sequence_or_0("the sequence of the fork", 2, from)?,
            approximate: Field::get("whether the fork is approximate", 3, from)?,
        })
    }
}
