//! What a call asks for.

use std::{collections::BTreeMap, sync::Arc};

use utterd::domain::{
    self, Draft,
    compaction::Extent,
    forget::How,
    policy::PolicyUpdate,
    state::{StateChange, UpdateState},
};

use super::Selection;

/// A command, and where it goes.
#[derive(Clone, Debug)]
pub struct Command {
    pub conversation: Option<String>,
    pub recipient: Option<String>,
    pub expected: Option<u64>,
    pub doing: Doing,
}

/// What a command does.
#[derive(Clone, Debug)]
pub enum Doing {
    Memorize(Memorize),
    Forget(Selection, How),
    Restore(Vec<String>),
    Edit(Edit),
    /// The same in a fork from before the utterance.
    EditAsFork(Edit),
    Update {
        title: Option<String>,
        policy: Option<PolicyUpdate>,
    },
    Create {
        title: String,
        policy: domain::Policy,
    },
    State(StateChange),
    /// Changes the recipient's own state.
    Own(Arc<UpdateState>),
    Fork(Fork),
    Compact(Extent, bool),
    Undo,
    End(String),
    /// The words of a summary or a closing are a model's now.
    Tell,
}

/// What is said, and what changes with it.
#[derive(Clone, Debug)]
pub struct Memorize {
    pub drafts: Vec<Draft>,
    pub lenient: bool,
    /// Whether an utterance with an existing id replaces the stored one.
    pub upsert: bool,
    /// Everything after this is removed first.
    pub after: Option<u64>,
    pub state: Option<StateChange>,
    pub own: Option<Arc<UpdateState>>,
}

/// A change of an utterance.
#[derive(Clone, Debug)]
pub struct Edit {
    pub id: String,
    pub pinned: Option<bool>,
    pub metadata: Option<BTreeMap<String, String>>,
    pub content: Option<Box<str>>,
}

/// A fork, which has a new id unless one is given.
#[derive(Clone, Debug)]
pub struct Fork {
    pub id: Option<String>,
    pub at: Option<u64>,
    pub title: Option<String>,
    pub activate: bool,
}
