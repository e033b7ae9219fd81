//! Commits: planned, ordered, and written as statements.

pub(super) mod commit;
pub(super) mod failed;
pub(super) mod lanes;
mod lone;
pub(super) mod plan;
pub(super) mod quotas;
pub(super) mod row;
pub(super) mod sql;
