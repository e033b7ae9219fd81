//! Who can call what: credentials, roles and namespaces, as a client sees them.
#![allow(clippy::expect_used, clippy::unwrap_used)] // a failed test panics: that is its report

#[path = "../rpc/refusal.rs"]
#[allow(dead_code)] // only part of the refusal checks is needed
mod refusal;
#[path = "../support/mod.rs"]
mod support;

mod guarded;
mod issuer;

mod certificates;
mod jwts;
mod reload;
mod roles;
mod shares;
mod strangers;
mod tokens;
