//! What the cases of several topics need: the conversations that they change, and the names of their parts.

pub(super) mod compacting;
pub(crate) mod family;
pub(crate) mod script;
pub(crate) mod steps;
pub(crate) mod values;

pub(super) use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

pub(super) use crate::{
    Commit, CommitError, List, ListOf, ListOrder, OutcomeKey, PointerWrite, Quota, Quotas, RecipientKey,
    Store, StoreError, Write,
};
pub(super) use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Marks, Namespace, Policy, Ranges, Role,
    Sequence, Timestamp, policy::PolicyUpdate, update::Update,
};
pub(super) use {family::Family, script::*, steps::*, values::*};
