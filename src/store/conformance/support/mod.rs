//! What the cases of several topics need: the conversations that they change, and the names of their parts.

pub(super) mod compacting;
pub(in crate::store) mod family;
pub(in crate::store) mod script;
pub(in crate::store) mod steps;
pub(in crate::store) mod values;

pub(super) use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

pub(super) use crate::domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Marks, Namespace, Policy, Ranges, Role,
    Sequence, Timestamp, policy::PolicyUpdate, update::Update,
};
pub(super) use crate::store::{
    Commit, CommitError, List, ListOf, ListOrder, OutcomeKey, PointerWrite, Quota, Quotas, RecipientKey,
    Store, StoreError, Write,
};
pub(super) use {family::Family, script::*, steps::*, values::*};
