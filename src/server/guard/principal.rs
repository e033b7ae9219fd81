//! Who calls, as a guard found out.

use std::{fmt, num::NonZeroU32, sync::Arc};

use crate::{domain::Namespace, server::access::Access};

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The calls of its namespace that change nothing.
    ReadOnly,
    /// Every call of its namespace.
    ReadWrite,
    /// Every call of every namespace, and what concerns the whole server.
    Admin,
}

impl Role {
    /// Every role, the one with the fewest rights first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::ReadWrite, Self::Admin];

    /// The role called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
            Self::Admin => "admin",
        }
    }

    /// The least role that `access` asks for.
    pub fn needed(access: Access) -> Self {
        match access {
            Access::Open | Access::Read => Self::ReadOnly,
            Access::Write => Self::ReadWrite,
            Access::Admin => Self::Admin,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who calls: in the extensions of each request that a credential let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// What the credential is called: unique among a server's credentials.
    pub name: Arc<str>,
    /// The namespace that the call is in: the credential's, unless an admin names another.
    pub namespace: Namespace,
    /// What it may do.
    pub role: Role,
    /// The most calls a second that the credential allows; `None` where it says nothing of it.
    pub calls_per_second: Option<NonZeroU32>,
}

impl Principal {
    /// Whether it may do what `other` may.
    pub fn may_the_same(&self, other: &Self) -> bool {
        (&self.namespace, self.role) == (&other.namespace, other.role)
    }
}
