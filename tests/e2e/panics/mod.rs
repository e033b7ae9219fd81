//! A panic ends the call in which it happens with INTERNAL, and nothing else. It is logged with its place, and counted.
//!
//! All of it runs on the server's own kind of runtime, which has one thread. The number of panics is one for the process,
//! so the tests take turns.

mod breaking;
mod calls;
mod fragile;
mod stores;
mod workers;

use std::sync::LazyLock;

use tokio::sync::{Mutex, MutexGuard};
use tonic::{Code, Status};
use tonic_types::StatusExt;
use utterd::telemetry::panics::Within;

/// The turn of a test, and the panics before it.
struct Turn {
    _turn: MutexGuard<'static, ()>,
    before: [u64; 4],
}

const ALL: [Within; 4] = [Within::Call, Within::Queue, Within::Store, Within::Background];

impl Turn {
    async fn take() -> Self {
        static TURNS: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);
        let turn = TURNS.lock().await;
        Self { _turn: turn, before: ALL.map(Within::panics) }
    }

    /// Checks how many panics there were since: in calls, queues, stores and in the background.
    #[track_caller]
    fn had(&self, expected: [u64; 4]) {
        let now = ALL.map(Within::panics);
        let since: Vec<u64> = now.iter().zip(self.before).map(|(now, before)| now - before).collect();
        assert_eq!(since, expected);
    }
}

/// Checks that a call ended with INTERNAL, for a panic, and that the id of the call is in its details.
#[track_caller]
fn panicked(status: &Status) {
    assert_eq!(status.code(), Code::Internal, "{status:?}");
    let info = status.get_details_error_info().expect("an ErrorInfo");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), ("PANICKED", "utterd"));
    let id = status.metadata().get("x-request-id").expect("every call has an id").to_str().unwrap();
    assert_eq!(info.metadata.get("request_id").map(String::as_str), Some(id));
}
