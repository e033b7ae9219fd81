//! The storage of conversations.
//!
//! [`Store`] is the contract that every backend fulfils. The suite that checks the contract is in
//! `conformance`, behind the feature of that name.

pub mod backup;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod contract;
mod delta;
// Without an engine, what engines need is not used.
#[cfg_attr(not(any(feature = "fjall", feature = "sled")), allow(dead_code, unused_variables))]
pub mod durable;
mod entries;
mod listing;
mod memory;
mod meters;
mod overload;
#[cfg(feature = "postgres")]
pub mod postgres;
mod quotas;
pub mod records;
pub mod verify;

pub use contract::{
    Begin, Begun, BoxFuture, BoxStream, Capabilities, Changes, Claim, Commit, CommitError, Conflict, Derived,
    DerivedBlock, DerivedBytes, DerivedData, Due, EachRecord, Hint, List, ListOf, ListOrder, ListedAt, Newer,
    Outcome, OutcomeKey, OverQuota, PointerWrite, Quota, Quotas, RecipientKey, Reference, Result, Sharing,
    StateOf, Store, StoreError, TracePage, TracePlace, Traced, Upkeep, WorkerId, Write, async_trait,
};
pub use memory::MemoryStore;
