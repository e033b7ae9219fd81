//! Counts what commits add to what namespaces store. [`Keeper`] is for a backend whose single process makes all
//! commits.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::OnceLock,
};

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::{Commit, OverQuota, Quota, Quotas, StoreError, Write};
use crate::domain::{Head, Namespace};

/// Enforces quotas on commits, if any are set.
#[derive(Default)]
pub(super) struct Keeper(OnceLock<Mutex<Ledger>>);

/// What a commit adds to the usage of namespaces.
#[derive(Debug, Default)]
pub(super) struct Growth(SmallVec<[(Namespace, Added); 1]>);

/// The usage of namespaces.
#[derive(Default)]
pub(super) struct Ledger {
    quotas: Quotas,
    used: HashMap<Namespace, Used>,
}

/// What is added to the usage of a namespace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Added {
    pub(super) conversations: i64,
    pub(super) bytes: i64,
}

/// The usage of a namespace.
#[derive(Clone, Copy, Default)]
pub(super) struct Used {
    pub(super) conversations: u64,
    pub(super) bytes: u64,
}

impl Keeper {
    /// Enforces `quotas` on commits from now on. The first time, `count` counts what is stored.
    pub(super) fn set(
        &self,
        quotas: Quotas,
        count: impl FnOnce(&mut Ledger) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if self.0.get().is_none() {
            let mut ledger = Ledger::default();
            count(&mut ledger)?;
            self.0.get_or_init(|| Mutex::new(ledger));
        }
        if let Some(ledger) = self.0.get() {
            ledger.lock().quotas = quotas;
        }
        Ok(())
    }

    /// What `commit` adds; empty as long as nothing is counted.
    pub(super) fn growth(&self, commit: &Commit) -> Growth {
        match self.0.get() {
            Some(_) => Growth::of(commit),
            None => Growth::default(),
        }
    }

    /// Counts what a commit adds, which then takes effect; or returns the quota that it exceeds.
    pub(super) fn take(&self, growth: &Growth) -> Result<(), StoreError> {
        match self.0.get() {
            Some(ledger) if !growth.0.is_empty() => ledger.lock().take(growth),
            _ => Ok(()),
        }
    }

    /// Reverts the count for a commit that has no effect.
    pub(super) fn give_back(&self, growth: &Growth) {
        if let Some(ledger) = self.0.get() {
            let mut ledger = ledger.lock();
            growth.0.iter().for_each(|(namespace, added)| ledger.add(namespace, added.negated()));
        }
    }
}

impl Growth {
    /// What `commit` adds.
    pub(super) fn of(commit: &Commit) -> Self {
        let mut growth = Self::default();
        for write in &commit.writes {
            growth.add(&write.key().namespace, Added::by(write));
        }
        growth
    }

    /// What it adds to each namespace.
    pub(super) fn each(&self) -> impl Iterator<Item = &(Namespace, Added)> {
        self.0.iter()
    }

    fn add(&mut self, namespace: &Namespace, added: Added) {
        match self.0.iter_mut().find(|(other, _)| other == namespace) {
            Some((_, sum)) => *sum = sum.plus(added),
            None => self.0.push((namespace.clone(), added)),
        }
    }
}

impl Added {
    /// The usage of one conversation; one that holds a recipient's own state only counts bytes.
    fn of(head: &Head) -> Self {
        let conversations = i64::from(head.identity.is_listed());
        Self { conversations, bytes: head.counted_bytes() as i64 }
    }

    /// What a write adds.
    fn by(write: &Write) -> Self {
        let [before, after] = [write.before(), write.after()]
            .map(|state| state.map_or_else(Self::default, |it| Self::of(&it.head)));
        after.plus(before.negated())
    }

    fn plus(self, other: Self) -> Self {
        Self { conversations: self.conversations + other.conversations, bytes: self.bytes + other.bytes }
    }

    fn negated(self) -> Self {
        Self { conversations: -self.conversations, bytes: -self.bytes }
    }
}

impl Ledger {
    /// Counts a stored conversation.
    pub(super) fn count(&mut self, head: &Head) {
        self.add(&head.identity.key.namespace, Added::of(head));
    }

    fn take(&mut self, growth: &Growth) -> Result<(), StoreError> {
        growth.0.iter().try_for_each(|(namespace, added)| self.check(namespace, *added))?;
        growth.0.iter().for_each(|(namespace, added)| self.add(namespace, *added));
        Ok(())
    }

    fn check(&self, namespace: &Namespace, added: Added) -> Result<(), StoreError> {
        let used = self.used.get(namespace).copied().unwrap_or_default();
        check(&self.quotas, namespace, used, added)
    }

    fn add(&mut self, namespace: &Namespace, added: Added) {
        let mut used = match self.used.entry(namespace.clone()) {
            Entry::Occupied(used) => used,
            Entry::Vacant(place) => place.insert_entry(Used::default()),
        };
        let sum = used.get_mut();
        sum.conversations = sum.conversations.saturating_add_signed(added.conversations);
        sum.bytes = sum.bytes.saturating_add_signed(added.bytes);
        if (sum.conversations, sum.bytes) == (0, 0) {
            used.remove();
        }
    }
}

/// The quota that a namespace would exceed. A commit that adds nothing of a kind never exceeds its quota, though
/// the namespace might.
pub(super) fn check(
    quotas: &Quotas,
    namespace: &Namespace,
    used: Used,
    added: Added,
) -> Result<(), StoreError> {
    let kinds = [
        (Quota::Conversations, quotas.conversations, used.conversations, added.conversations),
        (Quota::Bytes, quotas.bytes, used.bytes, added.bytes),
    ];
    for (quota, limit, used, added) in kinds {
        let (Some(limit), Ok(added @ 1..)) = (limit, u64::try_from(added)) else { continue };
        if used.saturating_add(added) > limit {
            let over = OverQuota { namespace: namespace.clone(), quota, limit, used, added };
            return Err(StoreError::OverQuota(Box::new(over)));
        }
    }
    Ok(())
}
