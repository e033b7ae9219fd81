//! Work that is completed even if its caller is dropped: once the store has a commit, it must be published and
//! answered, whoever still waits for it.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, resume_unwind},
    task::{Context, Poll, Waker},
};

use futures::FutureExt;
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

/// Like [`start`], and waits for the result. A panic goes on in the caller, which counts it.
pub async fn complete<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    start(async move {
        let done = AssertUnwindSafe(work).catch_unwind().await;
        // the caller may be gone: then nobody waits for this work any more
        if let Err(Err(_)) = answer.send(done) {
            Within::Background.count();
        }
    });
    match answered.await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => Err(EngineError::Interrupted),
    }
}
