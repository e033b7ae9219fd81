//! Ending a conversation: no more utterances are accepted, and a brief closing summary is made.

use std::sync::Arc;

use crate::{
    Conversation, Ending, Now, Result, Revision, Timestamp, Transition,
    change::Context,
    closing,
    conversation::{Status, Timeouts},
};

/// The reason given when the idle timeout ends a conversation (seed 000, `conversationIdleTimeoutMinutes`).
pub const IDLE_TIMEOUT: &str = "idle timeout";

/// How to end a conversation.
#[derive(Clone, Debug)]
pub struct End {
    /// The reason; may be empty.
    pub reason: Arc<str>,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
}

/// Ends the conversation. Its calls no longer accept results, and it no longer awaits an answer. It gets a title
/// and a closing summary, unless its policy disables summaries.
///
/// Refuses a conversation that has ended, and one whose revision is not the expected one.
pub fn end(before: &Conversation, command: &End, context: &Context<'_>) -> Result<Transition> {
    before.expect(command.expected)?;
    before.check_open()?;
    let mut transition = Transition::from(before, context.now);
    let head = &mut transition.after.head;
    head.open = None;
    head.awaits_answer = false;
    head.made_title = None;
    head.ended = Some(Arc::new(Ending::at(context.now, command.reason.clone())));
    transition.renew_closing(context);
    Ok(transition.finish(&before.summary))
}

impl Ending {
    /// An ending without a title or summary yet.
    pub(super) fn at(time: Timestamp, reason: Arc<str>) -> Self {
        Self { time, reason, title: None, summary: None, awaits: None, teller: None }
    }
}

impl Transition {
    /// Writes the title and summary of an ended conversation again, because its stored utterances changed;
    /// writes none if its policy disables summaries. If there is a model, it is asked to write them again
    /// too.
    pub(super) fn renew_closing(&mut self, context: &Context<'_>) {
        let Some(ending) = &self.after.head.ended else { return };
        let mut ending = Ending::at(ending.time, ending.reason.clone());
        if self.after.head.policy.summarization_enabled {
            ending.title = self.made_title();
            ending.summary = closing::summary(&self.after);
            ending.awaits = self.awaits_teller(context).filter(|_| ending.summary.is_some());
        }
        self.after.head.ended = Some(Arc::new(ending));
    }

    /// Updates the made title: removes it if the conversation was given a title, and makes one if that title was
    /// taken away.
    pub(super) fn renew_title(&mut self, context: &Context<'_>) {
        let Some(ending) = &self.after.head.ended else {
            self.after.head.made_title = self.made_title();
            return;
        };
        let mut ending = (**ending).clone();
        ending.title = self.made_title();
        if ending.title.is_some() {
            ending.awaits = ending.awaits.or(self.awaits_teller(context));
        }
        self.after.head.ended = Some(Arc::new(ending));
    }

    /// Makes the title of a conversation that goes on again, if it has one, because texts that it was made from may be
    /// gone.
    pub(super) fn remake_title(&mut self) {
        if self.after.head.made_title.is_some() {
            self.after.head.made_title = self.made_title();
        }
    }

    fn made_title(&self) -> Option<Arc<str>> {
        let head = &self.after.head;
        let is_made = head.title.is_none() && head.policy.summarization_enabled;
        is_made.then(|| closing::title(&self.after)).flatten()
    }

    /// The current time, if a model is to write what the conversation was about.
    fn awaits_teller(&self, context: &Context<'_>) -> Option<Timestamp> {
        context.summary_context(&self.after.head.policy).awaits
    }
}

/// Whether the next message to the conversation's recipient starts a new conversation at `now`.
///
/// It does if nothing was said for the idle timeout. Exceptions: nothing was ever said; an answer is awaited
/// and not yet stale; or the message `answers` a call that is open, or was abandoned and has no result.
pub fn is_left(conversation: &Conversation, now: Now, timeouts: Timeouts, answers: bool) -> bool {
    let head = &conversation.head;
    let said = head.next > crate::Sequence::FIRST;
    let idle = head.status(now, timeouts) == Status::Idle;
    said && idle && !(answers && (head.open.is_some() || head.awaits_late_results()))
}
