//! The upkeep of a store: metrics, quotas, backups, and whether it accepts writes.

use std::future::ready;

use futures::{StreamExt as _, stream};

use crate::{BoxStream, Quotas, Result, StoreError};
use utterd_telemetry::Registry;

/// Receives a record: its key and its value, or why it cannot be read.
pub type EachRecord<'a> = dyn FnMut(Result<(Vec<u8>, Vec<u8>)>) -> Result<()> + 'a;

/// The parts of a store's contract for its operators.
///
/// By default, it has no metrics, no quotas and no backups, and always accepts writes.
pub trait Upkeep: Send + Sync + 'static {
    /// Adds the metrics of this store to those of the server.
    ///
    /// - By default, there are none.
    fn describe(&self, _registry: &Registry) {}

    /// Limits what each namespace stores to `quotas` from now on; before the first call, nothing is limited.
    ///
    /// - Everything stored in a namespace counts, no matter which process stored it, and when: its
    ///   conversations, including ended ones, and the [bytes](utterd_domain::Head::counted_bytes) that their
    ///   heads count. Deleted, erased and dropped data stops counting with the commit that removes it.
    /// - A commit is refused because of its total growth: a commit that adds nothing of a kind is never
    ///   refused for that kind, no matter how much is stored. Concurrent commits are accepted only as far as
    ///   their sum fits.
    /// - A commit without effect does not count.
    /// - Called before the first commit; later calls can set other quotas. Can take as long as reading every
    ///   head.
    /// - If several processes share the store, everything that any of them stored counts, and each process
    ///   limits its own commits to the quotas that it was given.
    /// - By default, refused: the error says that the backend does not support quotas.
    fn set_quotas(&self, _quotas: Quotas) -> Result<()> {
        Err(StoreError::unavailable("the backend keeps no quotas"))
    }

    /// Passes every record to `each`, in every namespace, as of one moment between two commits: what a
    /// [backup](crate::backup) has, in the form and in the order in which the durable stores
    /// [keep it](crate::records).
    ///
    /// - It contains every commit that was answered before this call. A commit that takes effect meanwhile is
    ///   contained wholly or not at all.
    /// - Commits and reads go on, except for a brief moment.
    /// - Records that are derived from others can be among them.
    /// - A record that cannot be read is an error in its place. The first error that `each` returns ends it.
    /// - Blocks, and can take as long as `each` takes: must not be called on a thread of a runtime.
    /// - By default, refused.
    fn each_record(&self, _each: &mut EachRecord<'_>) -> Result<()> {
        Err(StoreError::unavailable("the backend has no backups"))
    }

    /// Whether commits have been waiting for long, and more are waiting than the backend writes at a time.
    /// Callers should then refuse further commits.
    ///
    /// - Cheap: it is called before each write. The backend still accepts commits.
    /// - By default, never.
    fn is_behind(&self) -> bool {
        false
    }

    /// Returns a stream of whether writes are accepted: the current condition, then each change. An error
    /// says why they are not.
    ///
    /// - A slow reader can miss a condition that has changed again.
    /// - By default, they always are.
    fn condition(&self) -> BoxStream<'static, Result<()>> {
        Box::pin(stream::once(ready(Ok(()))).chain(stream::pending()))
    }
}
