//! Streams a backup of an open store to its reader.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, mpsc},
    task::{self, JoinHandle},
    time,
};

use super::{
    super::{
        disk::{directory::Directory, room::Room},
        error::unavailable,
    },
    write,
};
use crate::{
    store::{BoxStream, Result, StoreError},
    telemetry::panics::joined,
};

/// Chunks buffered for the reader.
const AHEAD: usize = 2;

/// The permit to make a backup, held until it ends.
type Turn = OwnedSemaphorePermit;

/// Returns the bytes of a backup of the store as it is now, in chunks. Ends with an error if the reader takes
/// no chunk for `patience`.
pub(in crate::store::durable) fn stream(
    directory: Arc<Directory>,
    room: Arc<Room>,
    turn: Turn,
    patience: Duration,
) -> BoxStream<'static, Result<Vec<u8>>> {
    let (chunks, taken) = mpsc::channel(AHEAD);
    let runtime = Handle::current();
    let writing = task::spawn_blocking(move || {
        let _turn = turn;
        let copied = directory.pairs().snapshot_bytes().map_err(unavailable)?;
        if copied > 0 {
            room.check_copy(copied)?;
        }
        let pairs = directory.pairs().snapshot().map_err(unavailable)?;
        write::write(pairs, &mut |chunk| {
            if chunks.is_closed() {
                return Err(unavailable("nobody reads the backup"));
            }
            let sent = runtime.block_on(time::timeout(patience, chunks.send(chunk)));
            sent.map_err(|_| unread(patience))?.map_err(|_| unavailable("nobody reads the backup"))
        })
    });
    let chunks = stream::unfold(taken, async |mut taken| Some((taken.recv().await?, taken)));
    Box::pin(chunks.map(Ok).chain(stream::once(end(writing)).filter_map(async |end| end.err().map(Err))))
}

/// Returns the result of the writing task.
async fn end(writing: JoinHandle<Result<()>>) -> Result<()> {
    joined(writing.await).unwrap_or_else(|| Err(unavailable("the server is stopping")))
}

fn unread(patience: Duration) -> StoreError {
    let seconds = patience.as_secs_f64();
    unavailable(format!("the backup was aborted: nothing was read for {seconds} seconds"))
}
