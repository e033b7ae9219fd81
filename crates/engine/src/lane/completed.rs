//! Work that is completed even if its caller is dropped: once the store has a commit, it must be published and
//! answered, whoever still waits for it.

use std::{
    future::Future,
    task::{Context, Poll, Waker},
};

use tokio::{runtime::Handle, sync::oneshot};

use crate::{EngineError, Result};
use utterd_telemetry::panics::Within;

/// Does the work here until it has to wait, and the rest in its own task.
pub fn start(work: impl Future<Output = ()> + Send + 'static) {
    let mut work = Box::pin(Within::Queue.catching(work));
    if let Poll::Pending = work.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        && let Ok(runtime) = Handle::try_current()
    {
        runtime.spawn(work);
    }
}

/// Like [`start`], and waits for the result.
pub async fn complete<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    start(async move {
        let done = Within::Call.catching(work).await;
        // the caller may be gone
        let _ = answer.send(done.unwrap_or(Err(EngineError::Panicked)));
    });
    answered.await.unwrap_or(Err(EngineError::Interrupted))
}
