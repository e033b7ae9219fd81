//! Counts the usage of namespaces, and the growth by commits. [`Keeper`] is for a backend whose single
//! process makes all commits.

use std::{collections::HashMap, sync::OnceLock};

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::{Commit, OverQuota, Quota, Quotas, Result, StoreError, Write};
use utterd_domain::{Head, Namespace};

/// Enforces quotas on commits, if any are set.
#[derive(Default)]
pub(super) struct Keeper(OnceLock<Mutex<Ledger>>);

/// The usage that a commit adds to namespaces.
#[derive(Debug, Default)]
pub(super) struct Growth(SmallVec<[(Namespace, Usage); 1]>);

/// The usage of namespaces.
#[derive(Default)]
pub(super) struct Ledger {
    quotas: Quotas,
    used: HashMap<Namespace, Usage>,
}

/// The usage of a namespace, or what is added to it: negative if it shrinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) conversations: i64,
    pub(super) bytes: i64,
}

impl Keeper {
    /// Enforces `quotas` on commits from now on. The first call counts the stored conversations with `count`.
    pub(super) fn set(&self, quotas: Quotas, count: impl FnOnce(&mut Ledger) -> Result<()>) -> Result<()> {
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

    /// Returns the usage that `commit` adds; empty as long as nothing is counted.
    pub(super) fn growth(&self, commit: &Commit) -> Growth {
        match self.0.get() {
            Some(_) => Growth::of(commit),
            None => Growth::default(),
        }
    }

    /// Counts the usage that a commit adds. The commit must then take effect, or be given back. Fails if the
    /// commit would exceed a quota.
    pub(super) fn take(&self, growth: &Growth) -> Result<()> {
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
    /// Returns the usage that `commit` adds.
    pub(super) fn of(commit: &Commit) -> Self {
        let mut growth = Self::default();
        for write in &commit.writes {
            growth.add(&write.key().namespace, Usage::by(write));
        }
        growth
    }

    /// Returns the usage added to each namespace.
    #[cfg(feature = "postgres")]
    pub(super) fn each(&self) -> impl Iterator<Item = &(Namespace, Usage)> {
        self.0.iter()
    }

    fn add(&mut self, namespace: &Namespace, added: Usage) {
        match self.0.iter_mut().find(|(other, _)| other == namespace) {
            Some((_, sum)) => *sum = sum.plus(added),
            None => self.0.push((namespace.clone(), added)),
        }
    }
}

impl Usage {
    /// Returns the usage of one conversation. A conversation that holds a recipient's own state counts only
    /// bytes.
    fn of(head: &Head) -> Self {
        let conversations = i64::from(head.identity.is_listed());
        Self { conversations, bytes: head.counted_bytes() as i64 }
    }

    /// Returns the usage that a write adds.
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
        self.add(&head.identity.key.namespace, Usage::of(head));
    }

    fn take(&mut self, growth: &Growth) -> Result<()> {
        growth.0.iter().try_for_each(|(namespace, added)| self.check(namespace, *added))?;
        growth.0.iter().for_each(|(namespace, added)| self.add(namespace, *added));
        Ok(())
    }

    fn check(&self, namespace: &Namespace, added: Usage) -> Result<()> {
        let used = self.used.get(namespace).copied().unwrap_or_default();
        check(&self.quotas, namespace, used, added)
    }

    fn add(&mut self, namespace: &Namespace, added: Usage) {
        let used = self.used.entry(namespace.clone()).or_default();
        let Usage { conversations, bytes } = used.plus(added);
        *used = Usage { conversations: conversations.max(0), bytes: bytes.max(0) };
        if *used == Usage::default() {
            self.used.remove(namespace);
        }
    }
}

/// Fails if a namespace would exceed a quota. A commit that adds nothing of a kind never exceeds that quota,
/// even if the namespace does.
pub(super) fn check(quotas: &Quotas, namespace: &Namespace, used: Usage, added: Usage) -> Result<()> {
    let kinds = [
        (Quota::Conversations, quotas.conversations, used.conversations, added.conversations),
        (Quota::Bytes, quotas.bytes, used.bytes, added.bytes),
    ];
    for (quota, limit, used, added) in kinds {
        let (Some(limit), Ok(added @ 1..)) = (limit, u64::try_from(added)) else { continue };
        let used = used.max(0).unsigned_abs();
        if used.saturating_add(added) > limit {
            let over = OverQuota { namespace: namespace.clone(), quota, limit, used, added };
            return Err(StoreError::OverQuota(Box::new(over)));
        }
    }
    Ok(())
}
