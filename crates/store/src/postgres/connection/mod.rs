//! Connections to the database, their limits and their errors.

pub(super) mod connect;
pub(super) mod database;
pub(super) mod fault;
pub(super) mod options;
pub(super) mod waits;
