//! Restore: brings soft-forgotten utterances back into use.

use std::sync::Arc;

use crate::{
    Conversation, Ranges, Revision, Role, Transition, Undecided, Utterance, change::Context,
    exchange::OpenExchange, locate,
};

/// Utterances to restore.
#[derive(Clone, Debug)]
pub struct Restore {
    /// Their ids.
    pub ids: Vec<Box<str>>,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// Restores the units of the named utterances; `None` if none of them was forgotten.
///
/// Refuses an id that names no stored utterance. If the restored utterances exceed a limit of the window,
/// older ones are evicted. A segment that covers them is rebuilt with them. Calls without an answer wait
/// again, unless a user utterance follows them.
pub fn restore(
    before: &Conversation,
    command: &Restore,
    context: &Context<'_>,
) -> Result<Option<Transition>, Undecided> {
    before.expect(command.expected)?;
    let found = locate::by_ids(before, &command.ids, context.loaded)?;
    let mut transition = Transition::from(before, context.now);
    let (mut rewritten, mut covered) = (Vec::new(), Vec::new());
    for utterance in &found {
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
    transition.reopen();
    transition.after.head.silenced_at = transition.after.head.revision;
    if !covered.is_empty() {
        covered.sort_by_key(|utterance| utterance.sequence);
        let with = context.summary_context(&before.head.policy);
        transition.change_summary(|summary, with| summary.restore(&covered, with), &with);
    }
    transition.evict(context)?;
    transition.renew_closing(context);
    Ok(Some(transition.finish(&before.summary)))
}

impl Transition {
    /// Treats the restored utterances as if they had never been forgotten: calls without an answer wait
    /// again, and the utterances that followed them join their unit.
    fn reopen(&mut self) {
        let Some((open, members)) = reopened(&self.after, &self.change.restored) else { return };
        let callers = Ranges::of(open.unit, self.after.head.newest());
        self.after.head.unabandon(&callers);
        self.after.head.open = Some(Arc::new(open));
        self.rewrite(members);
    }
}

/// The exchange that waits again after `restored`, and the changed utterances that join its unit.
///
/// There is none if the conversation has ended, if a call was answered late, or if an utterance follows that
/// cannot be in the unit: a user utterance; a forgotten or erased one; a result without a call; or one that
/// is pinned while the calls are not, or the other way round.
fn reopened(after: &Conversation, restored: &Ranges) -> Option<(OpenExchange, Vec<Arc<Utterance>>)> {
    let tail = since_the_user(after);
    let start = tail.iter().enumerate().find_map(|(start, first)| {
        let starts = restored.contains(first.sequence) && first.unit == first.sequence;
        let starts = starts && after.head.may_wait(first.sequence);
        let rest = &tail[start..];
        let own = rest.iter().take_while(|member| member.unit == first.unit).count();
        let joins = |other: &Arc<Utterance>| other.is_live() && other.pinned == first.pinned;
        let opens = starts && OpenExchange::after(&rest[..own]).is_some() && rest[own..].iter().all(joins);
        opens.then_some(start)
    })?;
    let open = OpenExchange::after(&tail[start..])?;
    let others = tail[start..].iter().filter(|member| member.unit != open.unit);
    let joined = |member: &Arc<Utterance>| Arc::new(Utterance { unit: open.unit, ..(**member).clone() });
    let joined = others.map(joined).collect();
    Some((open, joined))
}

/// The utterances after the last user utterance, if all of them are in the window.
fn since_the_user(after: &Conversation) -> Vec<Arc<Utterance>> {
    let mut next = after.head.next;
    let said = after.window.iter().rev().take_while(|utterance| {
        let is_before = utterance.sequence.next() == next;
        next = utterance.sequence;
        is_before && utterance.role != Role::User
    });
    let mut said: Vec<_> = said.cloned().collect();
    said.reverse();
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Policy,
        test_life::{Life, calls, result, said},
    };

    /// A call, sequence 2, and what follows it, said while the call is forgotten; the call is then restored.
    fn restored(following: Vec<crate::Draft>) -> Life {
        let mut life = Life::new(Policy::ROLLING);
        life.say(vec![said(Role::User, "go"), calls(&["a", "b"]), result("b")]);
        life.forget(3, false);
        assert_eq!(life.state.head.open, None);
        if !following.is_empty() {
            life.say(following);
        }
        life.restore(2);
        life.is_sound();
        life
    }

    fn units(life: &Life) -> Vec<u64> {
        life.said().iter().map(|said| said.unit.get()).collect()
    }

    #[test]
    fn a_call_without_an_answer_waits_again() {
        let mut life = restored(vec![]);
        life.memorize(vec![result("a")], false).unwrap();
        assert_eq!((units(&life), &life.state.head.open), (vec![1, 2, 2, 2], &None));
        life.is_sound();
    }

    #[test]
    fn a_user_utterance_or_what_cannot_be_of_its_unit_leaves_it_abandoned() {
        assert_eq!(restored(vec![said(Role::User, "never mind")]).state.head.open, None);
        let pinned = crate::Draft { pinned: true, ..said(Role::Assistant, "note this") };
        assert_eq!(units(&restored(vec![pinned])), [1, 2, 2, 4]);
        assert_eq!(restored(vec![result("a")]).state.head.open, None, "kept aside");
    }
}
