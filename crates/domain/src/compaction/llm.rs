//! Applying a model's text for a segment.

use std::sync::Arc;

use crate::{Conversation, Ranges, Revision, Transition, change::Context, extract::Line, segment::LlmText};

/// A model's text for a segment.
#[derive(Clone, Debug)]
pub struct ReplaceByLlm {
    /// The segment's number.
    pub segment: u32,
    /// The text, accepted by the segment.
    pub lines: Vec<Line>,
    /// The model.
    pub model: Arc<str>,
    /// The version of the prompts.
    pub prompt: u32,
    /// The revision at which the model was shown the segment.
    pub seen: Revision,
    /// Every sequence that the model was shown a part of.
    pub from: Ranges,
}

/// Puts a model's text in place of a segment's own lines; `None` if the segment no longer exists, or anything
/// was forgotten, restored or edited since the model was shown it.
///
/// Segments are immutable, and a replacement gets another number: a segment that still exists covers the same
/// utterances as before.
pub fn replace_by_llm(
    before: &Conversation,
    command: &ReplaceByLlm,
    context: &Context<'_>,
) -> Option<Transition> {
    let segment = awaiting(before, command.segment)?;
    let head = &before.head;
    if head.erased_at > command.seen || head.silenced_at > command.seen {
        return None;
    }
    let mut from = command.from.clone();
    from.union(&segment.covers);
    let mut transition = Transition::from(before, context.now);
    let (model, prompt) = (command.model.as_ref().into(), command.prompt);
    let llm_text = LlmText { lines: command.lines.clone(), model, prompt, from };
    let with = context.summary_context(&head.policy);
    transition.after.summary = before.summary.replace_by_llm(command.segment, &llm_text, &with);
    transition.retell_compactions(&before.summary);
    Some(transition.finish(&before.summary))
}

/// Stops waiting for a model to write the segment; `None` if nothing waits.
pub fn give_up(before: &Conversation, segment: u32, context: &Context<'_>) -> Option<Transition> {
    awaiting(before, segment)?;
    let mut transition = Transition::from(before, context.now);
    transition.after.summary = before.summary.settle(Some(segment));
    Some(transition.finish(&before.summary))
}

fn awaiting(before: &Conversation, number: u32) -> Option<&Arc<crate::segment::Segment>> {
    let mut segments = before.summary.segments().iter();
    segments.find(|segment| segment.number == number && segment.awaits.is_some())
}
