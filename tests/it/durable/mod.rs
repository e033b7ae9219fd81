//! Stores in files, as their operators see them: damaged files, and stores of the first format.
//!
//! - [`damage`]: files are cut, flipped, zeroed, swapped and removed; a server reports it or has lost
//!   nothing.
//! - [`fixture`]: a store of each kind, kept in `tests/fixtures`, still has its data.
//! - [`recipient`]: no file contains anything of a deleted recipient.
//!
//! `UTTERD_DAMAGE_CASES` sets how many times each store is damaged, `UTTERD_DAMAGE_SEED` how.

mod answers;
mod call;
mod damage;
mod files;
mod fixture;
mod home;
mod json;
mod life;
mod recipient;
