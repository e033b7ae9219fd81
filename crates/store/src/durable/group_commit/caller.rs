//! Callers that wait for answers.
//!
//! Waking a task of another thread's runtime costs a system call. So a group's answers go to one task per runtime, which
//! passes them on.

use tokio::{runtime::Handle, sync::oneshot};

use crate::CommitError;

/// The result of a request.
pub(super) type Outcome = Result<(), CommitError>;
/// Receives the result of a request.
pub(in crate::durable) type Answer = oneshot::Receiver<Outcome>;
type Answers = Vec<(oneshot::Sender<Outcome>, Outcome)>;

/// A caller waiting for its answer.
pub(super) struct Caller {
    answer: oneshot::Sender<Outcome>,
    /// `None` outside of a runtime: the caller is then woken on its own.
    runtime: Option<Handle>,
}

impl Caller {
    /// Creates a caller of this thread, and the receiver of its answer.
    pub(super) fn new() -> (Self, Answer) {
        let (answer, answered) = oneshot::channel();
        (Self { answer, runtime: Handle::try_current().ok() }, answered)
    }

    /// Answers this caller alone.
    pub(super) fn answer(self, outcome: Outcome) {
        // the caller may have disconnected
        let _ = self.answer.send(outcome);
    }
}

/// Answers every caller.
pub(super) fn answer_all(callers: impl IntoIterator<Item = (Caller, Outcome)>) {
    let mut runtimes: Vec<(Handle, Answers)> = Vec::new();
    for (Caller { answer, runtime }, outcome) in callers {
        let Some(runtime) = runtime else {
            let _ = answer.send(outcome);
            continue;
        };
        match runtimes.iter_mut().find(|(other, _)| other.id() == runtime.id()) {
            Some((_, answers)) => answers.push((answer, outcome)),
            None => runtimes.push((runtime, vec![(answer, outcome)])),
        }
    }
    for (runtime, answers) in runtimes {
        runtime.spawn(async move {
            answers.into_iter().for_each(|(answer, outcome)| drop(answer.send(outcome)));
        });
    }
}
