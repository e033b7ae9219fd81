//! Names and values, and how likely each is to be needed again.

pub(super) mod facts;
pub(super) mod ledger;
pub(super) mod named;
pub(super) mod root;
pub(super) mod salience;
