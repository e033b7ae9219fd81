//! Replacing an utterance's content.

use std::sync::Arc;

use crate::{
    Encoding, More, Original, Oversize, Reason, Refusal, Result, Role, Size, TokenCounter, Transition,
    Utterance, change::Context,
};

/// New content for an utterance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewContent {
    /// The new text.
    pub content: Box<str>,
    /// Its tokens, without those of the message around it.
    pub tokens: u32,
    /// The encoding in which they were counted.
    pub encoding: Encoding,
    /// The maximum number of bytes of content, tool-call arguments and extras together.
    pub max_bytes: usize,
}

impl NewContent {
    /// Returns `utterance` with this content, its tokens recounted and its first content kept; unchanged if
    /// the content is the same.
    ///
    /// Refuses what [`Draft::check`](crate::Draft::check) refuses: content beyond the byte limit, and
    /// empty content, unless there are tool calls or the role is tool.
    pub fn applied(
        &self,
        utterance: &Utterance,
        encoding: Encoding,
        context: &Context<'_>,
    ) -> Result<Utterance> {
        self.check(utterance)?;
        if utterance.content == self.content {
            return Ok(utterance.clone());
        }
        let mut more = utterance.more.clone().unwrap_or_default();
        let first = more.original.take().map_or_else(|| utterance.content.clone(), |before| before.content);
        more.original = Some(Original { content: first, edit_time: context.now });
        let tokens = self.count(&more, encoding, context.counter);
        Ok(Utterance { content: self.content.clone(), tokens, more: Some(more), ..utterance.clone() })
    }

    fn check(&self, utterance: &Utterance) -> Result<()> {
        let beside = utterance.more.as_ref().map_or(0, |more| more.content_bytes());
        let (bytes, most) = (self.content.len() + beside, self.max_bytes);
        if bytes > most {
            let text = format!(
                "content, tool-call arguments and extras would have {bytes} bytes; accepted: at most {most}"
            );
            return Err(Refusal::too_large_since("content", Size { bytes, limit: most }, text));
        }
        let may_be_empty = utterance.role == Role::Tool || !utterance.tool_calls().is_empty();
        if self.content.is_empty() && !may_be_empty {
            let text = "is empty; accepted: some content; to remove the utterance, call Forget";
            return Err(Refusal::field(Reason::EmptyUtterance, "content", text));
        }
        Ok(())
    }

    fn count(&self, more: &More, encoding: Encoding, counter: &dyn TokenCounter) -> u32 {
        let content = match encoding == self.encoding {
            true => self.tokens,
            false => counter.count(&self.content),
        };
        crate::draft::message_tokens(content, Some(more), counter)
    }
}

impl Transition {
    /// Records that the content of a member of `unit` was replaced; `unit` has the new content. If a segment
    /// covers the unit, the segment's sentences are chosen again.
    ///
    /// Refuses if the policy rejects a unit of that size.
    pub(super) fn say_anew(&mut self, unit: &[Arc<Utterance>], context: &Context<'_>) -> Result<()> {
        let policy = &self.after.head.policy;
        check_size(unit, policy.oversize, policy.tokens.map(crate::Marks::max))?;
        self.retell(unit, context);
        Ok(())
    }

    /// Chooses again what the summary says about `unit`, which has the new content.
    pub(super) fn retell(&mut self, unit: &[Arc<Utterance>], context: &Context<'_>) {
        let head = &mut self.after.head;
        head.erased_at = head.revision;
        let with = context.summary_context(&head.policy);
        self.change_summary(|summary, with| summary.restore(unit, with), &with);
    }
}

fn check_size(unit: &[Arc<Utterance>], oversize: Oversize, most: Option<u32>) -> Result<()> {
    let (Oversize::Reject, Some(most)) = (oversize, most) else { return Ok(()) };
    let tokens: u64 = unit.iter().map(|utterance| u64::from(utterance.counted_tokens())).sum();
    match tokens > u64::from(most) {
        true => Err(Refusal::field(
            Reason::Oversize,
            "content",
            format!(
                "the utterance, with the exchange it belongs to, would have {tokens} tokens; the policy rejects more than {most}"
            ),
        )),
        false => Ok(()),
    }
}
