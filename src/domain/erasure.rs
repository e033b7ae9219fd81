//! What a hard forget in one conversation removes from another.

use std::sync::Arc;

use crate::domain::{
    Conversation, Loaded, More, Need, Ranges, TokenCounter, Transition, Utterance, change::Context,
    draft::message_tokens, forget::abandon, forgetting::Instruction, locate,
};

/// What a conversation loses by a hard forget in another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The sequences that both share.
    pub shared: Ranges,
    /// The sequences that repeat them, as an edit made as a fork does: see
    /// [`ForkedFrom::repeats_through`](crate::domain::ForkedFrom::repeats_through).
    pub repeated: Ranges,
    /// The instruction that selects from the imported segments that both have.
    pub imported: Option<Instruction>,
    /// Whether `shared` may be a part of an exchange whose rest stays.
    pub exact: bool,
}

/// Removes what is lost; returns `None` if the conversation has none of it.
///
/// - What is shared is removed, whatever the conversation has made of it since. If an exchange was open at
///   the fork, the part of it that was said only here stays, and is paired again.
/// - A repeated utterance outside an exchange keeps its content, which the caller gave in place of the
///   forgotten one. Everything else that it took over is removed: its name, metadata and extras, and the
///   tools used.
/// - A repeated exchange is removed whole: its calls and results are the forgotten ones.
pub fn erase_lost(
    before: &Conversation,
    lost: &Lost,
    context: &Context<'_>,
) -> Result<Option<Transition>, Need> {
    let unit = repeated_unit(before, &lost.repeated, context.loaded)?;
    let alone = match unit.as_slice() {
        [alone] if alone.tool_calls().is_empty() => Some(alone),
        _ => None,
    };
    let mut gone = lost.shared.clone();
    gone.union(&lost.repeated);
    unit.iter().for_each(|member| gone.add(member.sequence));
    alone.iter().for_each(|alone| gone.remove(alone.sequence, alone.sequence));
    let stored: Ranges = gone.sequences().filter(|sequence| before.stores(*sequence)).collect();
    let bare = alone.map(|alone| bare(alone, context.counter)).filter(|bare| Some(bare) != alone);
    let imported = lost.imported.as_ref().filter(|it| it.selects_imported(&before.summary));
    let covered = before.summary.covers().meets(&gone);
    if stored.is_empty() && bare.is_none() && imported.is_none() && !covered {
        return Ok(None);
    }
    let parts = lost.exact || parts(before, &stored, context.loaded)?;
    let mut transition = Transition::from(before, context.now);
    match parts {
        true => transition.erase_exactly(&stored, context)?,
        false => {
            abandon(&mut transition, before, &stored);
            transition.erase(&stored, context)?;
        }
    }
    gone.subtract(&stored);
    transition.erase_remnants(&gone, context);
    if let Some(instruction) = imported {
        transition.erase_imported(|text| instruction.tells_imported(text));
    }
    if let (Some(alone), Some(bare)) = (alone, bare) {
        transition.change.updated.add(bare.sequence);
        transition.rewrite_texts(std::slice::from_ref(alone), vec![bare.clone()]);
        transition.retell(&[bare], context);
    }
    transition.renew_closing(context);
    Ok(Some(transition.finish(&before.summary)))
}

/// Whether `gone` has the start of a unit, but not all of it.
fn parts(of: &Conversation, gone: &Ranges, loaded: &Loaded) -> Result<bool, Need> {
    let mut wanted = Ranges::new();
    for range in gone.iter() {
        match locate::following(of, *range.end(), loaded) {
            Ok(Some(next)) if gone.contains(next.unit) && !gone.contains(next.sequence) => return Ok(true),
            Ok(_) => {}
            Err(Need::Archive(more)) => wanted.union(&more),
            Err(need) => return Err(need),
        }
    }
    if wanted.is_empty() { Ok(false) } else { Err(Need::Archive(wanted)) }
}

/// The unit that `repeated` belongs to, as far as it is stored.
fn repeated_unit(
    before: &Conversation,
    repeated: &Ranges,
    loaded: &Loaded,
) -> Result<Vec<Arc<Utterance>>, Need> {
    let archived = loaded.archive(&repeated.intersection(&before.head.archived))?;
    let in_window = repeated.sequences().find_map(|sequence| before.window.get(sequence));
    match in_window.or(archived.first()) {
        Some(member) => locate::unit_of(before, member, loaded),
        None => Ok(Vec::new()),
    }
}

/// The utterance without what it took over.
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
    use crate::domain::{
        Draft, Marks, Policy, Role, Sequence, Verdict,
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

    /// Applies what is lost; returns whether there was any of it.
    fn lose(life: &mut Life, shared: Ranges, repeated: Ranges) -> bool {
        let lost = Lost { shared, repeated, ..Lost::default() };
        let decide = |before: &Conversation, context: &Context<'_>| {
            Ok(erase_lost(before, &lost, context).map_or_else(Verdict::Need, Verdict::Decided))
        };
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
            assert!(lose(&mut life, range(1, 1), range(2, 2)), "{more}");
            let kept = &life.stored[&Sequence(2)];
            assert_eq!((&*kept.content, &kept.more), ("see /anew.txt", &None), "{more}");
            assert!(kept.tokens < before && !life.stored.contains_key(&Sequence(1)));
            let told = life.state.summary.text();
            assert!(!told.contains("Roswitha") && !told.contains("shared"), "{told}");
            assert!(!lose(&mut life, Ranges::new(), range(2, 2)), "there is nothing left to remove");
        }
    }

    /// In the window and in the archive.
    #[test]
    fn what_was_said_here_alone_of_an_exchange_that_is_shared_stays() {
        for more in [0, 8] {
            let mut life = Life::new(Policy { utterances: Some(Marks::of(6)), ..Policy::ROLLING });
            life.say(vec![said(Role::User, "go"), calls(&["a", "b"]), result("a"), result("b")]);
            (0..more).for_each(|_| life.say(vec![said(Role::User, "well")]));
            assert!(lose(&mut life, range(2, 3), Ranges::new()), "{more}");
            let kept = &life.stored[&Sequence(4)];
            assert_eq!((kept.unit, kept.aside), (Sequence(4), true), "{more}: its call is gone");
        }
    }

    /// What is removed whole does not change the conversation's turn, even if some of it was already gone.
    #[test]
    fn what_is_shared_and_no_part_of_more_goes_as_it_is() {
        let mut life = Life::new(Policy::SESSION);
        (0..3).for_each(|_| life.say(vec![said(Role::User, "well")]));
        life.forget(2, true);
        assert!(lose(&mut life, range(1, 3), Ranges::new()));
        assert_eq!((life.stored.len(), life.state.head.turn), (0, 3));
    }

    #[test]
    fn an_exchange_that_is_repeated_goes_whole() {
        let mut life = Life::new(Policy::SESSION);
        life.say(vec![said(Role::User, "go"), calls(&["a"]), result("a"), said(Role::User, "thanks")]);
        assert!(lose(&mut life, Ranges::new(), range(2, 3)));
        assert_eq!(life.stored.keys().map(|sequence| sequence.get()).collect::<Vec<_>>(), [1, 4]);
    }
}
