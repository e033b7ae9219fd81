//! A conversation's titles, labels, shares, parent and copies, and the entries of its state.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use utterd_domain::{Copied, ForkedFrom, Head, share::Share, state::StateEntry};

/// A conversation's titles, labels, shares, parent, copies and state entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// See [`Head::made_title`].
    pub made_title: Option<Arc<str>>,
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
            made_title: head.made_title.clone(),
        }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
