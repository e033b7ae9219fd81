//! Streams a backup of an open store to its reader.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, mpsc},
    task::{self, JoinHandle},
    time,
};

use super::write;
use crate::{BoxStream, Result, Store, StoreError};
use utterd_telemetry::panics::joined;

/// Chunks buffered for the reader.
const AHEAD: usize = 2;

impl dyn Store {
    /// Returns the bytes of a backup of the store as it is now, in every namespace: a file in chunks of at most
    /// [`MAX_BACKUP_CHUNK_BYTES`](utterd_domain::limits::MAX_BACKUP_CHUNK_BYTES).
    ///
    /// - An error is the last item; without one, the file is complete when the stream ends.
    /// - Ends when the stream is dropped, or with an error if the reader takes no chunk for `patience`. Holds `turn`
    ///   until it ends.
    pub fn backup(
        self: Arc<Self>,
        turn: OwnedSemaphorePermit,
        patience: Duration,
    ) -> BoxStream<'static, Result<Vec<u8>>> {
        let (chunks, taken) = mpsc::channel(AHEAD);
        let runtime = Handle::current();
        let writing = task::spawn_blocking(move || {
            let _turn = turn;
            write::write(|each| self.each_record(each), &mut |chunk| {
                if chunks.is_closed() {
                    return Err(StoreError::unavailable("nobody reads the backup"));
                }
                let sent = runtime.block_on(time::timeout(patience, chunks.send(chunk)));
                sent.map_err(|_| unread(patience))?
                    .map_err(|_| StoreError::unavailable("nobody reads the backup"))
            })
        });
        let chunks = stream::unfold(taken, async |mut taken| Some((taken.recv().await?, taken)));
        let end = stream::once(end(writing)).filter_map(async |end| end.err().map(Err));
        Box::pin(chunks.map(Ok).chain(end))
    }
}

/// Returns the result of the writing task.
async fn end(writing: JoinHandle<Result<()>>) -> Result<()> {
    joined(writing.await).unwrap_or_else(|| Err(StoreError::unavailable("the server is stopping")))
}

fn unread(patience: Duration) -> StoreError {
    let seconds = patience.as_secs_f64();
    StoreError::unavailable(format_args!("the backup was aborted: nothing was read for {seconds} seconds"))
}
