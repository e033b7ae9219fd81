//! The bytes of a fork's utterances.

use crate::{Conversation, Need, Ranges, Sequence, change::Context};

/// The bytes of what `before` stores up to `at`, computed from the archived utterances that the fork keeps or
/// from those that it lacks, whichever are fewer.
pub(super) fn through(before: &Conversation, at: Sequence, context: &Context<'_>) -> Result<u64, Need> {
    let window = |first, last| -> u64 {
        before.window.between(first, last).map(|utterance| utterance.stored_bytes()).sum()
    };
    let kept = before.head.archived.intersection(&Ranges::before(at.next()));
    let mut gone = (*before.head.archived).clone();
    gone.subtract(&kept);
    if at == Sequence(0) || kept.count() < gone.count() {
        return Ok(window(Sequence::FIRST, at) + context.loaded.archived_bytes(&kept)?);
    }
    let gone = window(at.next(), before.head.newest()) + context.loaded.archived_bytes(&gone)?;
    Ok(before.head.stored_bytes.saturating_sub(gone))
}
