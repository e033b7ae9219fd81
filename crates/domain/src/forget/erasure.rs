//! What a hard forget in one conversation removes from another.

use std::sync::Arc;

use crate::{
    Conversation, Loaded, More, Need, Ranges, TokenCounter, Transition, Utterance, change::Context,
    draft::message_tokens, forget::abandon, forgetting::Instruction, fork::origin::Had, locate,
};

/// What a hard forget removes from other conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InForks {
    /// The conversations that lose something.
    pub conversations: u64,
    /// The utterances that they lose, including those that keep only their new content.
    pub utterances: u64,
}

impl InForks {
    /// Adds what one of them loses.
    pub fn add(&mut self, transition: &Transition) {
        let change = &transition.change;
        self.conversations += 1;
        self.utterances += change.erased.count() + change.updated.count();
    }
}

/// What a conversation loses by a hard forget in another conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Its utterances that have a forgotten origin.
    pub had: Had,
    /// The instruction that selects from the imported segments that both have.
    pub imported: Option<Instruction>,
    /// Whether the rest of an exchange stays when a part of it is removed.
    pub exact: bool,
}

/// Removes what `lost` names; returns `None` if the conversation has none of it.
///
/// - Shared utterances are removed, even if this conversation changed them since. If an exchange was open at
///   the fork, the part of it that was said only here stays, and is paired again.
/// - Copies are removed, and so is the rest of their exchange, unless the forget is exact.
/// - A copy with new content that stands alone keeps that content, which the caller gave to replace the
///   forgotten one. Everything else that was copied is removed: its name, metadata and extras, and the
///   tools used. In an exchange it is removed like any other copy.
pub fn erase_lost(
    before: &Conversation,
    lost: &Lost,
    context: &Context<'_>,
) -> Result<Option<Transition>, Need> {
    let Copies { alone, rest } = Copies::of(before, lost, context.loaded)?;
    let mut gone = lost.had.all();
    gone.union(&rest);
    alone.iter().for_each(|alone| gone.remove(alone.sequence, alone.sequence));
    let stored: Ranges = gone.sequences().filter(|sequence| before.stores(*sequence)).collect();
    let bared = alone.iter().map(|alone| (alone.clone(), bare(alone, context.counter)));
    let (alone, bared): (Vec<_>, Vec<_>) = bared.filter(|(alone, bare)| alone != bare).unzip();
    let imported = lost.imported.as_ref().filter(|it| it.selects_imported(&before.summary));
    let covered = before.summary.covers().meets(&gone);
    if stored.is_empty() && bared.is_empty() && imported.is_none() && !covered {
        return Ok(None);
    }
    let mut transition = Transition::from(before, context.now);
    match lost.exact || parts(before, &stored, context.loaded)? {
        // nothing of it ends elsewhere than before
        _ if stored.is_empty() => {}
        true => transition.erase_exactly(&stored, context)?,
        false => {
            abandon(&mut transition, before, &stored);
            transition.erase(&stored, context)?;
        }
    }
    gone.subtract(&stored);
    transition.erase_remnants(&gone, context);
    if let Some(instruction) = imported {
        transition.erase_imported(|text| instruction.tells_imported(text), context);
    }
    if !bared.is_empty() {
        bared.iter().for_each(|bare| transition.change.updated.add(bare.sequence));
        transition.rewrite_texts(&alone, bared.clone());
        bared.iter().for_each(|bare| transition.retell(std::slice::from_ref(bare), context));
    }
    transition.renew_closing(context);
    Ok(Some(transition.finish(&before.summary)))
}

/// The stored copies among the lost utterances.
struct Copies {
    /// Copies with new content that stand alone.
    alone: Vec<Arc<Utterance>>,
    /// The exchanges of the other copies, unless the forget is exact.
    rest: Ranges,
}

impl Copies {
    fn of(before: &Conversation, lost: &Lost, loaded: &Loaded) -> Result<Self, Need> {
        let Had { copied, edited, .. } = &lost.had;
        let mut wanted = edited.clone();
        if !lost.exact {
            wanted.union(copied);
        }
        let (mut alone, mut rest) = (Vec::new(), Ranges::new());
        for unit in locate::units_of(before, &wanted, loaded)?.chunk_by(|one, next| one.unit == next.unit) {
            match unit {
                [one] if edited.contains(one.sequence) && one.tool_calls().is_empty() => {
                    alone.push(one.clone());
                }
                _ if lost.exact => {}
                _ => unit.iter().for_each(|member| rest.add(member.sequence)),
            }
        }
        Ok(Self { alone, rest })
    }
}

/// Whether `gone`, which is stored, contains a part of a unit, but not all of it.
fn parts(of: &Conversation, gone: &Ranges, loaded: &Loaded) -> Result<bool, Need> {
    let mut wanted = Ranges::new();
    for range in gone.iter() {
        let first = locate::stored(of, &Ranges::of(*range.start(), *range.start()), loaded);
        let next = locate::following(of, *range.end(), loaded);
        match (first, next) {
            (Ok(first), Ok(next)) => {
                let is_rest = |one: &&Arc<Utterance>| one.unit < one.sequence && !gone.contains(one.unit);
                let goes_on =
                    |next: &Arc<Utterance>| next.unit <= *range.end() && !gone.contains(next.sequence);
                let begins_before = first.iter().find(is_rest);
                if begins_before.is_some_and(|one| of.stores(one.unit)) || next.as_ref().is_some_and(goes_on)
                {
                    return Ok(true);
                }
            }
            (first, next) => {
                let needs = first.err().into_iter().chain(next.err());
                for need in needs {
                    match need {
                        Need::Archive(more) => wanted.union(&more),
                        need => return Err(need),
                    }
                }
            }
        }
    }
    if wanted.is_empty() { Ok(false) } else { Err(Need::Archive(wanted)) }
}

/// The utterance without the fields that were copied.
fn bare(utterance: &Utterance, counter: &dyn TokenCounter) -> Arc<Utterance> {
    let own = |more: &More| More {
        tool_call_id: more.tool_call_id.clone(),
        awaits_answer: more.awaits_answer,
        original: more.original.clone(),
        late: more.late.clone(),
        ..More::default()
    };
    let more = utterance.more.as_deref().map(own).filter(|more| *more != More::default());
    let tokens = message_tokens(counter.count(&utterance.content), more.as_ref(), counter);
    Arc::new(Utterance { tokens, more: more.map(Box::new), ..utterance.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Draft, Marks, Policy, Role, Sequence,
        end::{End, end},
        test_life::{Life, calls, result, said},
    };

    fn named(content: &str) -> Draft {
        let more = More {
            name: Some("Roswitha".into()),
            metadata: [("where".to_owned(), "ward 7".to_owned())].into(),
            extras_json: Some("{\"a\":1}".into()),
            ..More::default()
        };
        Draft { more: Some(Box::new(more)), ..said(Role::User, content) }
    }

    fn range(first: u64, last: u64) -> Ranges {
        Ranges::of(Sequence(first), Sequence(last))
    }

    fn shared(shared: Ranges) -> Had {
        Had { shared, ..Had::default() }
    }

    /// Applies what is lost; returns whether there was any of it.
    fn lose(life: &mut Life, had: Had) -> bool {
        let lost = Lost { had, ..Lost::default() };
        let decide = |before: &Conversation, context: &Context<'_>| Ok(erase_lost(before, &lost, context)?);
        let lost = life.decide(decide).unwrap();
        let any = lost.is_some();
        lost.into_iter().for_each(|transition| life.apply(transition));
        life.is_sound();
        any
    }

    /// In the window and in the archive.
    #[test]
    fn an_utterance_that_is_repeated_keeps_what_it_says() {
        for more in [0, 8] {
            let mut life = Life::new(Policy { utterances: Some(Marks::of(6)), ..Policy::ROLLING });
            life.say(vec![said(Role::User, "see /shared.txt"), named("see /anew.txt")]);
            (0..more).for_each(|_| life.say(vec![said(Role::Assistant, "well")]));
            let before = life.stored[&Sequence(2)].tokens;
            let had = Had { shared: range(1, 1), edited: range(2, 2), ..Had::default() };
            assert!(lose(&mut life, had), "{more}");
            let kept = &life.stored[&Sequence(2)];
            assert_eq!((&*kept.content, &kept.more), ("see /anew.txt", &None), "{more}");
            assert!(kept.tokens < before && !life.stored.contains_key(&Sequence(1)));
            let told = life.state.summary.text();
            assert!(!told.contains("Roswitha") && !told.contains("shared"), "{told}");
            let had = Had { edited: range(2, 2), ..Had::default() };
            assert!(!lose(&mut life, had), "there is nothing left to remove");
        }
    }

    /// In the window and in the archive.
    #[test]
    fn what_was_said_here_alone_of_an_exchange_that_is_shared_stays() {
        for more in [0, 8] {
            let mut life = Life::new(Policy { utterances: Some(Marks::of(6)), ..Policy::ROLLING });
            life.say(vec![said(Role::User, "go"), calls(&["a", "b"]), result("a"), result("b")]);
            (0..more).for_each(|_| life.say(vec![said(Role::User, "well")]));
            assert!(lose(&mut life, shared(range(2, 3))), "{more}");
            let kept = &life.stored[&Sequence(4)];
            assert_eq!((kept.unit, kept.aside), (Sequence(4), true), "{more}: its call is gone");
        }
    }

    /// Removing whole units does not change the conversation's turn, even if some utterances were already
    /// gone.
    #[test]
    fn what_is_shared_and_no_part_of_more_goes_as_it_is() {
        let mut life = Life::new(Policy::SESSION);
        (0..3).for_each(|_| life.say(vec![said(Role::User, "well")]));
        life.forget(2, true);
        assert!(lose(&mut life, shared(range(1, 3))));
        assert_eq!((life.stored.len(), life.state.head.turn), (0, 3));
    }

    /// Only the summary tells of what is lost: what waits at the end still does not.
    #[test]
    fn a_conversation_that_loses_nothing_stored_ends_as_before() {
        let mut life =
            Life::new(Policy { utterances: Some(Marks::of(2)), archive_limit: 1, ..Policy::ROLLING });
        let asks = More { awaits_answer: true, ..More::default() };
        let asks = Draft { more: Some(Box::new(asks)), ..said(Role::Assistant, "Which folder?") };
        life.say((0..6).map(|_| said(Role::User, "see /shared.txt")).chain([asks]).collect());
        let over = End { reason: "over".into(), expected: None };
        life.apply(life.decide(|before, context| Ok(end(before, &over, context)?)).unwrap());
        assert!(!life.stored.contains_key(&Sequence(1)) && life.state.summary.covers().contains(Sequence(1)));
        let lost = Lost { had: shared(range(1, 1)), exact: true, ..Lost::default() };
        let lost = life.decide(|before, context| Ok(erase_lost(before, &lost, context)?)).unwrap();
        life.apply(lost.unwrap());
        assert!(!life.state.summary.covers().contains(Sequence(1)));
        assert!(!life.state.head.awaits_answer, "it has ended");
        life.is_sound();
    }

    #[test]
    fn an_exchange_that_is_copied_goes_whole_or_exactly() {
        let mut life = Life::new(Policy::SESSION);
        let results = vec![result("a"), result("b"), said(Role::User, "thanks")];
        life.say(vec![said(Role::User, "go"), calls(&["a", "b"])].into_iter().chain(results).collect());
        let left = |life: &Life| life.stored.keys().map(|sequence| sequence.get()).collect::<Vec<_>>();
        let had = Had { copied: range(3, 3), edited: range(4, 4), ..Had::default() };
        let lost = Lost { had: had.clone(), exact: true, ..Lost::default() };
        let exactly = life.decide(|before, context| Ok(erase_lost(before, &lost, context)?));
        let mut exact = life.clone();
        exact.apply(exactly.unwrap().unwrap());
        exact.is_sound();
        assert_eq!(left(&exact), [1, 2, 5], "a result with new content is part of its exchange");
        assert!(lose(&mut life, had));
        assert_eq!(left(&life), [1, 5]);
    }
}
