//! Delivers answers to callers: one message for all callers of a thread.
//!
//! Waking a task of another thread's runtime costs a system call. So a group's answers go to one task per
//! thread, which passes them on within its thread.

use std::cell::RefCell;

use tokio::{
    runtime::{Handle, Id},
    sync::{
        mpsc::{self, UnboundedSender},
        oneshot,
    },
};

use crate::CommitError;

/// The result of a request.
pub(super) type Outcome = Result<(), CommitError>;
type Answers = Vec<(oneshot::Sender<Outcome>, Outcome)>;

thread_local! {
    static OWN: RefCell<Option<Mailbox>> = const { RefCell::new(None) };
}

/// The channel to the callers of one thread in one runtime.
#[derive(Clone)]
struct Mailbox {
    runtime: Id,
    mail: UnboundedSender<Answers>,
}

/// A caller waiting for its answer.
pub(super) struct Caller {
    answer: oneshot::Sender<Outcome>,
    /// `None` outside of a runtime: the caller is then woken on its own.
    mailbox: Option<Mailbox>,
}

impl Caller {
    /// Creates a caller of this thread, and the receiver of its answer.
    pub(super) fn new() -> (Self, oneshot::Receiver<Outcome>) {
        let (answer, answered) = oneshot::channel();
        (Self { answer, mailbox: Mailbox::own() }, answered)
    }

    /// Answers this caller alone.
    pub(super) fn answer(self, outcome: Outcome) {
        // the caller may have disconnected
        let _ = self.answer.send(outcome);
    }
}

impl Mailbox {
    /// Returns this thread's mailbox in the current runtime.
    fn own() -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        OWN.with_borrow_mut(|own| match own {
            Some(own) if own.runtime == runtime.id() && !own.mail.is_closed() => Some(own.clone()),
            _ => Some(own.insert(Self::open(&runtime)).clone()),
        })
    }

    fn open(runtime: &Handle) -> Self {
        let (mail, mut answers) = mpsc::unbounded_channel::<Answers>();
        runtime.spawn(async move {
            while let Some(answers) = answers.recv().await {
                for (caller, outcome) in answers {
                    let _ = caller.send(outcome);
                }
            }
        });
        Self { runtime: runtime.id(), mail }
    }

    fn is(&self, other: &Self) -> bool {
        self.mail.same_channel(&other.mail)
    }
}

/// Answers every caller.
pub(super) fn answer_all(callers: impl IntoIterator<Item = (Caller, Outcome)>) {
    let mut mail: Vec<(Mailbox, Answers)> = Vec::new();
    for (caller, outcome) in callers {
        let Some(mailbox) = caller.mailbox else {
            let _ = caller.answer.send(outcome);
            continue;
        };
        match mail.iter_mut().find(|(other, _)| other.is(&mailbox)) {
            Some((_, answers)) => answers.push((caller.answer, outcome)),
            None => mail.push((mailbox, vec![(caller.answer, outcome)])),
        }
    }
    for (mailbox, answers) in mail {
        let _ = mailbox.mail.send(answers);
    }
}
