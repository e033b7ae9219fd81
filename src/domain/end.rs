//! Ending a conversation: nothing more is said in it, and what it was about is told shortly.

use std::sync::Arc;

use crate::domain::{
    Conversation, Ending, Now, Refusal, Revision, Timestamp, Transition,
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
    head.ended = Some(Arc::new(Ending::at(context.now, command.reason.clone())));
    transition.renew_closing(context);
    Ok(transition.finish(&before.summary))
}

impl Ending {
    /// One of which nothing is told yet.
    pub(super) fn at(time: Timestamp, reason: Arc<str>) -> Self {
        Self { time, reason, title: None, summary: None, awaits: None, teller: None }
    }
}

impl Transition {
    /// Tells anew what an ended conversation was about, because what is stored of it changed; a model is to
    /// tell it again, where there is one.
    pub(super) fn renew_closing(&mut self, context: &Context<'_>) {
        let Some(ending) = &self.after.head.ended else { return };
        let mut ending = Ending::at(ending.time, ending.reason.clone());
        ending.title = self.made_title(context);
        ending.summary = closing::summary(&self.after, context.counter);
        ending.awaits = self.awaits_teller(context).filter(|_| ending.summary.is_some());
        self.after.head.ended = Some(Arc::new(ending));
    }

    /// Takes the title of an ended conversation back that was made of it, because it was given one, or makes
    /// one, because that was taken away.
    pub(super) fn renew_title(&mut self, context: &Context<'_>) {
        let Some(ending) = &self.after.head.ended else { return };
        let mut ending = (**ending).clone();
        ending.title = self.made_title(context);
        if ending.title.is_some() {
            ending.awaits = ending.awaits.or(self.awaits_teller(context));
        }
        self.after.head.ended = Some(Arc::new(ending));
    }

    fn made_title(&self, context: &Context<'_>) -> Option<Arc<str>> {
        match self.after.head.title {
            None => closing::title(&self.after, context.counter),
            Some(_) => None,
        }
    }

    /// The time, when a model is to tell what the conversation was about.
    fn awaits_teller(&self, context: &Context<'_>) -> Option<Timestamp> {
        context.summary_context(&self.after.head.policy).awaits
    }
}

/// Whether the next message to the conversation's recipient starts another one at `now`.
///
/// So it does when nothing was said for the idle timeout, unless nothing was ever said, an answer is
/// awaited and that is not stale, or the message `answers` a call: one that waits for its result, or one that
/// was abandoned and has none.
pub fn is_left(conversation: &Conversation, now: Now, timeouts: Timeouts, answers: bool) -> bool {
    let head = &conversation.head;
    let said = head.next > crate::domain::Sequence::FIRST;
    let idle = head.status(now, timeouts) == Status::Idle;
    said && idle && !(answers && (head.open.is_some() || head.awaits_late_results()))
}
