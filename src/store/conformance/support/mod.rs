//! Helpers of several topics: a scripted conversation, and a family of forks.

pub(super) mod compacting;
pub(in crate::store) mod family;
pub(in crate::store) mod script;
