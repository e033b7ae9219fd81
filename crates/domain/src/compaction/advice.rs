//! The advice to compact, and the answer to it.

use crate::{
    Conversation, Result, Revision, Transition,
    change::Context,
    limits::{ADVICE_SPACING, ADVICE_STEP, FIRST_ADVICE},
};

/// The advice that a window should be compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Advice {
    /// The number of utterances that triggered it.
    pub threshold: u32,
    /// Utterances in the window.
    pub utterances: u64,
}

/// An answer to the advice, other than following it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// The highest threshold that a window of this many utterances has reached; 0 below the first.
fn reached(utterances: usize) -> u32 {
    let utterances = u32::try_from(utterances).unwrap_or(u32::MAX);
    if utterances < FIRST_ADVICE { 0 } else { utterances - utterances % ADVICE_STEP }
}

impl Advice {
    /// The current advice for a conversation.
    ///
    /// - At 50 utterances in the window, and at every 10 more, until it is answered (seed 004).
    /// - None while an exchange is open, until 20 utterances were said since the last compaction, and for a
    ///   conversation that has ended or has no summaries.
    pub fn of(conversation: &Conversation) -> Option<Self> {
        let head = &conversation.head;
        let threshold = reached(conversation.window.len());
        let since = head.next.get() - head.compacted_at.get();
        let spaced = head.compacted_at.get() == 0 || since >= ADVICE_SPACING;
        let may = head.open.is_none() && head.ended.is_none() && head.policy.summarization_enabled;
        (threshold > head.advice_answered && may && spaced)
            .then(|| Self { threshold, utterances: conversation.window.len() as u64 })
    }
}

/// Answers the current advice with "not now"; `None` if there is none.
pub fn answer(before: &Conversation, command: &Answer, context: &Context<'_>) -> Result<Option<Transition>> {
    before.expect(command.expected)?;
    before.check_open()?;
    let threshold = reached(before.window.len());
    if threshold <= before.head.advice_answered {
        return Ok(None);
    }
    let mut transition = Transition::from(before, context.now);
    transition.after.head.advice_answered = threshold;
    Ok(Some(transition.finish(&before.summary)))
}

impl Transition {
    /// An answer holds as long as the window does not fall below its threshold.
    pub(crate) fn forget_answer(&mut self) {
        let reached = reached(self.after.window.len());
        let head = &mut self.after.head;
        head.advice_answered = head.advice_answered.min(reached);
    }
}
