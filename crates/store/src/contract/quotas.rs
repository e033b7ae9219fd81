//! The limits on what a namespace stores.

use utterd_domain::Namespace;

/// The limits for each namespace. The default is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// The number of conversations, including ended ones.
    pub conversations: Option<u64>,
    /// Bytes, as [`Head::counted_bytes`](utterd_domain::Head::counted_bytes) counts them.
    pub bytes: Option<u64>,
}

/// The kind of a quota in [`Quotas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// [`Quotas::conversations`].
    Conversations,
    /// [`Quotas::bytes`].
    Bytes,
}

impl Quota {
    /// The setting's name.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Conversations => "max_conversations_per_namespace",
            Self::Bytes => "max_bytes_per_namespace",
        }
    }

    fn counts(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Bytes => "bytes",
        }
    }
}

/// A commit that would take a namespace beyond a quota.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the namespace {} has {used} {}, this write adds {added}, and it may have {limit}: delete conversations, or raise {}",
    namespace.as_str(), quota.counts(), quota.setting()
)]
pub struct OverQuota {
    /// The namespace.
    pub namespace: Namespace,
    /// Its quota.
    pub quota: Quota,
    /// The limit.
    pub limit: u64,
    /// The amount in use.
    pub used: u64,
    /// The amount that the commit would add.
    pub added: u64,
}
