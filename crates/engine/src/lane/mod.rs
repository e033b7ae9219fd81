//! One conversation at a time: its queue, who holds it, and what is decided and committed together.

pub(super) mod attended;
pub(super) mod batch;
pub(super) mod beside;
pub(super) mod commit;
pub(super) mod decide;
pub(super) mod drive;
pub(super) mod hold;
pub(super) mod pipeline;
pub(super) mod queue;
pub(super) mod queued;
pub(super) mod queues;
#[cfg(test)]
mod tests;
