//! Forget: takes utterances out of use (soft), or removes them (hard).

pub mod erasure;
pub mod restore;
pub(super) mod selection;
mod selector;

pub use selector::{ForgetSelected, Selector, forget_selected};

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Conversation, Need, Ranges, Refusal, Revision, Sequence, Transition, Undecided, Utterance,
    change::Context,
    forget::selection::Selected,
    forgetting::{Asked, Excess, ExcessKind, Instruction},
    recall::holds_all,
};

/// A forget command.
#[derive(Clone, Debug)]
pub struct Forget {
    /// The instruction; it selects at the time of the change.
    pub instruction: Asked,
    /// Whether it is removed everywhere, and not only hidden.
    pub hard: bool,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// The result of forgetting.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    /// What changed; `None` if nothing was selected.
    pub transition: Option<Transition>,
    /// The utterances as they were before, ascending: whole units.
    pub utterances: Vec<Arc<Utterance>>,
    /// The sequences that are neither stored nor in the summary any more.
    pub gone: Ranges,
    /// The selected sequences that are no longer stored, but still in the summary.
    pub still_told: Ranges,
    /// Why [`forget`] refuses; set only by [`would_forget`].
    pub excess: Option<Excess>,
}

/// What a caller should know besides what was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The instruction, in its short form, selects nothing that can be forgotten.
    #[error("nothing is forgotten: {0} selects no stored utterance, or only forgotten ones")]
    NothingForgotten(String),
    /// The same call without `dry_run` would be refused.
    #[error("without dry_run this would be refused: it {0}")]
    WouldBeRefused(Excess),
}

/// Forgets the selected utterances, completed to whole units.
///
/// The summary may still have sentences of utterances that are no longer stored. A soft forget leaves these,
/// because they could never be restored, and reports them; a hard forget removes them. Both find them only by
/// `all`, `sequence` and `about`. A hard `all` or `about` also removes imported summaries.
///
/// A forgotten open exchange is abandoned: its calls accept no results while it is forgotten. A summary
/// segment that covers forgotten utterances is rebuilt without them.
///
/// Refuses an instruction in plain English that selects too much: see [`Excess`]. The same instruction in
/// short form is obeyed. "Everything but" is not refused if some of the window is kept.
pub fn forget(
    before: &Conversation,
    command: &Forget,
    context: &Context<'_>,
) -> Result<Forgotten, Undecided> {
    match would_forget(before, command, context)? {
        Forgotten { excess: Some(excess), .. } => Err(Refusal::TooBroad(excess).into()),
        forgotten => Ok(forgotten),
    }
}

/// Returns what [`forget`] would do, and whether it would refuse because too much is selected. Refuses for
/// any other reason.
pub fn would_forget(
    before: &Conversation,
    command: &Forget,
    context: &Context<'_>,
) -> Result<Forgotten, Undecided> {
    before.expect(command.expected)?;
    let instruction = command.instruction.at(context.now);
    let archive = match instruction.reaches_archive() {
        true => context.loaded.archive(&before.head.archived)?,
        false => Vec::new(),
    };
    let (utterances, excess) = select(before, &archive, &instruction, command);
    if let Some(excess) = excess.clone().filter(|excess| excess.kind != ExcessKind::Half) {
        return Err(Refusal::TooBroad(excess).into());
    }
    let told = instruction.select_remnants(&before.summary, &before.head.archived);
    let how = if command.hard { How::Hard } else { How::Soft };
    let selected = ToForget { utterances, told, instruction: Some(&instruction) };
    Ok(Forgotten { excess, ..selected.forget(before, how, context)? })
}

/// How something is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It stays stored, but is no longer used.
    Soft,
    /// It is removed.
    Hard,
    /// It is removed, even if it is only a part of an exchange.
    Exact,
}

/// What to forget.
struct ToForget<'a> {
    /// The stored utterances, ascending.
    utterances: Vec<Arc<Utterance>>,
    /// The sequences that only the summary may still have.
    told: Ranges,
    /// The instruction that selected them, unless they were named one by one.
    instruction: Option<&'a Instruction>,
}

impl ToForget<'_> {
    fn forget(self, before: &Conversation, how: How, context: &Context<'_>) -> Result<Forgotten, Need> {
        let Self { utterances, told, instruction } = self;
        let hard = how != How::Soft;
        let (remnants, left) = if hard { (told, Ranges::new()) } else { (Ranges::new(), told) };
        let instruction = instruction.filter(|_| hard);
        let imported = instruction.is_some_and(|it| it.selects_imported(&before.summary));
        if utterances.is_empty() && remnants.is_empty() && !imported {
            let still_told = left.intersection(&before.summary.told());
            return Ok(Forgotten { utterances, still_told, ..Forgotten::default() });
        }
        let mut transition = Transition::from(before, context.now);
        let sequences: Ranges = utterances.iter().map(|utterance| utterance.sequence).collect();
        let mut gone = remnants.clone();
        if hard {
            gone.union(&sequences);
        }
        if how != How::Exact {
            abandon(&mut transition, before, &sequences);
        }
        match how {
            How::Soft => silence(&mut transition, &utterances, sequences, context),
            How::Hard => transition.erase(&sequences, context)?,
            How::Exact => transition.erase_exactly(&sequences, context)?,
        }
        transition.erase_remnants(&remnants, context);
        if let Some(instruction) = instruction {
            transition.erase_imported(|text| instruction.tells_imported(text), context);
            doubt(&mut transition, instruction, context);
        }
        transition.renew_closing(context);
        let transition = transition.finish(&before.summary);
        let still_told = left.intersection(&transition.after.summary.told());
        Ok(Forgotten { transition: Some(transition), utterances, gone, still_told, excess: None })
    }
}

/// Returns the selected utterances, ascending and completed to whole units, without the units that contain a
/// kept utterance; and the reason to refuse the command, if there is one.
fn select(
    before: &Conversation,
    archive: &[Arc<Utterance>],
    instruction: &Instruction,
    command: &Forget,
) -> (Vec<Arc<Utterance>>, Option<Excess>) {
    let archived = archive.iter().map(|utterance| (None, utterance));
    let window = before.window.iter().zip(1..).map(|(utterance, position)| (Some(position), utterance));
    let mut stored: Vec<_> = archived.chain(window).collect();
    stored.sort_by_key(|(_, utterance)| utterance.sequence);
    let Selected { mut selected, kept } = instruction.select(&stored);
    let concerned = |utterance: &&Arc<Utterance>| command.hard || !utterance.forgotten;
    selected.retain(concerned);
    let kept: BTreeSet<Sequence> = kept.into_iter().filter(concerned).map(|one| one.unit).collect();
    let mut units: BTreeSet<Sequence> = selected.iter().map(|utterance| utterance.unit).collect();
    units.retain(|unit| !kept.contains(unit));
    let members = stored.iter().map(|(_, utterance)| *utterance);
    let members = members.filter(|utterance| units.contains(&utterance.unit));
    let members: Vec<_> = members.filter(concerned).cloned().collect();
    let excess = command.instruction.is_english().then(|| {
        let in_window = |utterance: &&Arc<Utterance>| before.window.get(utterance.sequence).is_some();
        let chosen = members.iter().filter(in_window).count();
        let window = before.window.iter().filter(concerned).count();
        let keeps = before.window.iter().any(|utterance| kept.contains(&utterance.unit));
        let kind = match () {
            () if command.instruction.means_one() && selected.len() > 1 => ExcessKind::NotOne,
            () if units.len() < 2 || chosen * 2 <= window => return None,
            () if !instruction.is_remainder() => ExcessKind::Half,
            () if !keeps => ExcessKind::KeepsNothing,
            () => return None,
        };
        Some(Excess { kind, selected: chosen, window, instruction: instruction.to_string() })
    });
    (members, excess.flatten())
}

/// Abandons an open exchange that is forgotten. Its calls that are erased are dropped in any case.
pub(crate) fn abandon(transition: &mut Transition, before: &Conversation, sequences: &Ranges) {
    let head = &mut transition.after.head;
    if let Some(open) = before.head.open.as_ref().filter(|open| sequences.contains(open.unit)) {
        let unit: Vec<_> = before.window.unit(open.unit).cloned().collect();
        head.abandon(&unit);
    }
    if before.window.last().is_some_and(|newest| sequences.contains(newest.sequence)) {
        head.awaits_answer = false;
    }
}

/// Drops the text written by models that mentions the forgotten topics.
fn doubt(transition: &mut Transition, instruction: &Instruction, context: &Context<'_>) {
    let topics = instruction.topics();
    if !topics.is_empty() {
        let with = context.summary_context(&transition.after.head.policy);
        let speaks = |text: &str| topics.iter().any(|topic| holds_all(text, topic));
        transition.change_summary(|summary, with| summary.doubt(speaks, with), &with);
    }
}

fn silence(
    transition: &mut Transition,
    utterances: &[Arc<Utterance>],
    sequences: Ranges,
    context: &Context<'_>,
) {
    let forgotten =
        |utterance: &Arc<Utterance>| Arc::new(Utterance { forgotten: true, ..(**utterance).clone() });
    transition.rewrite(utterances.iter().map(forgotten).collect());
    let with = context.summary_context(&transition.after.head.policy);
    transition.change_summary(|summary, with| summary.silence(&sequences, with), &with);
    transition.after.head.silenced_at = transition.after.head.revision;
    transition.change.forgotten = sequences;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Draft, Marks, Policy, Role, Timestamp, forgetting,
        test_life::{Life, calls, result, said},
    };

    /// Ten utterances; the first six are no longer in the archive either.
    fn life() -> Life {
        let utterances = Some(Marks::of(3));
        let mut life = Life::new(Policy { utterances, archive_limit: 2, ..Policy::ROLLING });
        for number in 1..=10 {
            life.say(vec![said(Role::User, &format!("see /a{number}.txt"))]);
        }
        assert_eq!(life.stored.keys().map(|sequence| sequence.get()).collect::<Vec<_>>(), [7, 8, 9, 10]);
        life
    }

    #[test]
    fn a_soft_forget_leaves_what_could_not_be_restored() {
        let mut life = life();
        let before = life.state.summary.text();
        let forgotten = life.forget_all("all", false);
        assert_eq!((forgotten.gone, forgotten.still_told.to_string()), (Ranges::new(), "1-6".to_owned()));
        assert_eq!(life.state.summary.covers().to_string(), "1-8");
        let told = life.state.summary.text();
        assert!(told.contains("/a1.txt") && told.contains("/a6.txt"), "{told}");
        assert!(!told.contains("/a7.txt") && !told.contains("/a8.txt"), "{told}");
        life.is_sound();
        (7..=10).for_each(|sequence| life.restore(sequence));
        assert_eq!(life.state.summary.text(), before);
        assert_eq!(life.forget_all("all", true).still_told, Ranges::new());
        assert_eq!(life.state.summary.text(), "");
    }

    #[test]
    fn what_only_the_summary_tells_is_named_and_nothing_changes() {
        let mut life = life();
        let (revision, before) = (life.state.head.revision, life.state.summary.clone());
        for (instruction, still_told) in
            [("sequence:2-3", "2-3"), ("about:a4.txt", "4"), ("speaker:tool", "none")]
        {
            let forgotten = life.forget_all(instruction, false);
            assert!(forgotten.transition.is_none(), "{instruction}");
            assert_eq!(forgotten.still_told.to_string(), still_told, "{instruction}");
        }
        assert_eq!((life.state.head.revision, &life.state.summary), (revision, &before));
    }

    /// A question that is answered says nothing of what only the answer does.
    #[test]
    fn what_an_answer_says_is_forgotten_without_its_question() {
        let utterances = Some(Marks::of(2));
        let mut life = Life::new(Policy { utterances, archive_limit: 1, ..Policy::ROLLING });
        life.say(vec![said(Role::Assistant, "We go to Oslo on Friday. Which file do you need?")]);
        life.say(vec![said(Role::User, "I need /a1.txt now.")]);
        (0..4).for_each(|_| life.say(vec![said(Role::User, "see /b.txt")]));
        let items = life.state.summary.segments().iter().flat_map(|segment| &segment.items);
        assert!(items.into_iter().any(|item| (item.sequence, item.also) == (2, Some(1))), "it answers");
        assert_eq!(life.forget_all("about:a1.txt", true).gone.to_string(), "2");
        let told = life.state.summary.text();
        assert!(told.contains("Which file") && !told.contains("a1.txt"), "{told}");
        life.is_sound();
    }

    /// Sentences that can mean a part or all of what was said.
    const SENTENCES: [&str; 8] = [
        "forget what I said",
        "forget everything",
        "forget your messages",
        "forget the last three messages",
        "forget everything after turn 2",
        "forget everything about reports and invoices",
        "forget the tool results",
        "forget everything from yesterday on",
    ];

    /// One unit of each kind.
    fn unit(kind: u8, number: usize) -> Vec<Draft> {
        let text = format!("report {number}");
        match kind {
            0 => vec![said(Role::User, &text)],
            1 => vec![said(Role::Assistant, &text)],
            _ => vec![calls(&["a"]), result("a")],
        }
    }

    proptest! {
        /// More than half of the window is forgotten only by the short form, which selects the same; one unit
        /// always is.
        #[test]
        fn plain_english_forgets_no_more_than_half(
            kinds in prop::collection::vec(0..3_u8, 1..12),
            silent in prop::collection::vec(1..12_u64, 0..3),
            sentence in prop::sample::select(&SENTENCES[..]),
            hard in any::<bool>(),
        ) {
            let mut life = Life::new(Policy::SESSION);
            kinds.iter().enumerate().for_each(|(number, kind)| life.say(unit(*kind, number)));
            silent.into_iter().for_each(|sequence| life.forget(sequence, false));
            let command = |instruction| Forget { instruction, hard, expected: None };
            let asked = forgetting::parse(sentence).unwrap();
            let short = forgetting::parse(&asked.at(Timestamp(7)).to_string()).unwrap();
            let obeyed = life.decide(|before, context| forget(before, &command(short.clone()), context)).unwrap();
            let told = life.decide(|before, context| would_forget(before, &command(asked.clone()), context)).unwrap();
            prop_assert_eq!(&obeyed.utterances, &told.utterances);
            let units: BTreeSet<_> = told.utterances.iter().map(|utterance| utterance.unit).collect();
            let window = life.state.window.iter().filter(|utterance| hard || !utterance.forgotten).count();
            let too_much = units.len() > 1 && told.utterances.len() * 2 > window;
            let decided = life.decide(|before, context| forget(before, &command(asked.clone()), context));
            match decided {
                Err(Refusal::TooBroad(excess)) => {
                    prop_assert!(too_much);
                    prop_assert_eq!((excess.kind, excess.selected, excess.window), (ExcessKind::Half, told.utterances.len(), window));
                }
                Ok(forgotten) => prop_assert!(!too_much && forgotten.utterances == told.utterances),
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}
