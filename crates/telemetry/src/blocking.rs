//! Work on the runtime's threads for blocking work.

use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
};

use super::panics::joined;

/// Does `work` on a thread for blocking work. Returns `None` if the runtime ends first.
///
/// - A panic of `work` is a panic of the caller.
/// - If the caller is dropped, work that has not begun is not done. Work that has begun is completed, for nobody.
///
/// The work is boxed, so that the runtime's code for a task is compiled once, and not for each kind of work.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, mut answered) = oneshot::channel();
    let work: Box<dyn FnOnce() + Send> = Box::new(move || {
        // the caller may be gone
        let _ = answer.send(work());
    });
    let mut task = Task(spawn_blocking(work));
    joined((&mut task.0).await)?;
    answered.try_recv().ok()
}

/// Work on another thread. When dropped, it does not begin any more.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
