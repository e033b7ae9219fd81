//! One conversation at a time: its queue, who holds it, and what is decided and committed together.

pub(super) mod batch;
pub(super) mod commit;
pub(super) mod completed;
pub(super) mod confirmed;
pub(super) mod decide;
pub(super) mod hold;
pub(super) mod queue;
pub(super) mod queued;
pub(super) mod queues;
pub(super) mod recipient_state;
pub(super) mod run;
#[cfg(test)]
mod tests;
