//! Who may call what: credentials, roles and namespaces, as a client sees them.
#![allow(clippy::expect_used, clippy::unwrap_used)] // a test that fails panics: that is its report

#[path = "../rpc/refusal.rs"]
#[allow(dead_code)] // of what a refusal may say, this is a part
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
mod tokens;
