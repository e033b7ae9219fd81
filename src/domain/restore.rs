//! Restore: soft-forgotten utterances take part again.

use std::sync::Arc;

use crate::domain::{
    Conversation, Need, Refusal, Revision, Transition, Utterance, Verdict, change::Context, locate,
};

/// Utterances to restore.
#[derive(Clone, Debug)]
pub struct Restore {
    /// Their ids.
    pub ids: Vec<Box<str>>,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
}

/// Restores the units of the utterances named; `None` when nothing of them was forgotten.
///
/// Refuses an id that names no stored utterance. What comes back into the window may take it
/// over a limit, which evicts; a segment that covers what comes back is rebuilt with it.
pub fn restore(
    before: &Conversation,
    command: &Restore,
    context: &Context<'_>,
) -> Result<Verdict<Option<Transition>>, Refusal> {
    before.expect(command.expected)?;
    let found = match locate::by_ids(before, &command.ids, context.loaded) {
        Ok(found) => found.map_err(locate::unknown)?,
        Err(need) => return Ok(Verdict::Need(need)),
    };
    match transition(before, &found, context) {
        Ok(transition) => Ok(Verdict::Decided(transition)),
        Err(need) => Ok(Verdict::Need(need)),
    }
}

fn transition(
    before: &Conversation,
    found: &[Arc<Utterance>],
    context: &Context<'_>,
) -> Result<Option<Transition>, Need> {
    let mut transition = Transition::from(before, context.now);
    let (mut rewritten, mut covered) = (Vec::new(), Vec::new());
    for utterance in found {
        for member in locate::unit_of(before, utterance, context.loaded)? {
            if !member.forgotten || transition.change.restored.contains(member.sequence) {
                continue;
            }
            let restored = Arc::new(Utterance { forgotten: false, ..(*member).clone() });
            transition.change.restored.add(member.sequence);
            rewritten.push(restored.clone());
            covered.extend(before.head.left.contains(member.sequence).then_some(restored));
        }
    }
    if rewritten.is_empty() {
        return Ok(None);
    }
    rewritten.sort_by_key(|utterance| utterance.sequence);
    transition.rewrite(rewritten);
    transition.after.head.silenced_at = transition.after.head.revision;
    if !covered.is_empty() {
        covered.sort_by_key(|utterance| utterance.sequence);
        let with = context.summary_context(&before.head.policy);
        transition.change_summary(|summary, with| summary.restore(&covered, with), &with);
    }
    transition.evict(context)?;
    transition.renew_closing(context.counter);
    Ok(Some(transition.finish(&before.summary)))
}
