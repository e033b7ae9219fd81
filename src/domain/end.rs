//! Ending a conversation: nothing more is said in it, and what it was about is told shortly.

use std::sync::Arc;

use crate::domain::{
    Conversation, Ending, Refusal, Revision, Timestamp, TokenCounter, Transition,
    change::Context,
    closing,
    conversation::{Status, Timeouts},
};

/// The reason of an ending by the idle timeout (seed 000, `conversationIdleTimeoutMinutes`).
pub const IDLE_TIMEOUT: &str = "idle timeout";

/// What to end a conversation with.
#[derive(Clone, Debug)]
pub struct End {
    /// Why; may be empty.
    pub reason: Arc<str>,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
}

/// Ends the conversation. Its calls take no results any more, and it awaits no answer.
///
/// Refuses one that has ended, and another revision than the expected one.
pub fn end(before: &Conversation, command: &End, context: &Context<'_>) -> Result<Transition, Refusal> {
    before.expect(command.expected)?;
    before.check_open()?;
    let mut transition = Transition::from(before, context.now);
    let head = &mut transition.after.head;
    head.open = None;
    head.awaits_answer = false;
    let (title, summary) = (None, None);
    head.ended = Some(Arc::new(Ending { time: context.now, reason: command.reason.clone(), title, summary }));
    transition.renew_closing(context.counter);
    Ok(transition.finish(&before.summary))
}

impl Transition {
    /// Tells anew what an ended conversation was about, because what is stored of it changed.
    pub(super) fn renew_closing(&mut self, counter: &dyn TokenCounter) {
        let Some(ending) = &self.after.head.ended else { return };
        let (time, reason) = (ending.time, ending.reason.clone());
        let title = match self.after.head.title {
            None => closing::title(&self.after, counter),
            Some(_) => None,
        };
        let summary = closing::summary(&self.after, counter);
        self.after.head.ended = Some(Arc::new(Ending { time, reason, title, summary }));
    }
}

/// Whether the next message to the conversation's recipient starts another one at `now`.
///
/// So it does when nothing was said for the idle timeout, unless nothing was ever said, an answer is
/// awaited and that is not stale, or the message `answers` a call: one that waits for its result, or one that
/// was abandoned and has none.
pub fn is_left(conversation: &Conversation, now: Timestamp, timeouts: Timeouts, answers: bool) -> bool {
    let head = &conversation.head;
    let said = head.next > crate::domain::Sequence::FIRST;
    let idle = head.status(now, timeouts) == Status::Idle;
    said && idle && !(answers && (head.open.is_some() || head.awaits_late_results()))
}
