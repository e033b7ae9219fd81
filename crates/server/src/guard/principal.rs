//! Callers as the guard has identified them.

use std::{fmt, num::NonZeroU32, sync::Arc};

use clap::ValueEnum;

use utterd_domain::Namespace;

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Role {
    /// calls in its namespace that change nothing
    ReadOnly,
    /// every call in its namespace
    ReadWrite,
    /// every call in every namespace, and calls that affect the whole server
    Admin,
}

impl Role {
    /// Returns the role called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

/// The caller, in the extensions of each request that a credential let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The credential's name, unique among a server's credentials.
    pub name: Arc<str>,
    /// The namespace that the call is in: the credential's, unless an admin names another.
    pub namespace: Namespace,
    /// What it may do.
    pub role: Role,
    /// The most calls per second that the credential allows; `None` if it sets no limit.
    pub calls_per_second: Option<NonZeroU32>,
}

impl Principal {
    /// Whether it has the same rights as `other`.
    pub fn may_the_same(&self, other: &Self) -> bool {
        (&self.namespace, self.role) == (&other.namespace, other.role)
    }
}
