//! Replacing utterances: everything after a point, or one utterance.

use std::sync::Arc;

use crate::{
    Conversation, Draft, More, Need, Ranges, Refusal, Result, Role, Sequence, Transition, Undecided,
    Utterance,
    change::Context,
    locate,
    memorize::{Irregularity, Memorize, Memorized, Placing, ids, say},
};

/// New utterances in place of everything after a point.
#[derive(Clone, Debug)]
pub struct Replace {
    /// The last sequence that stays; 0 for none.
    pub after: Sequence,
    /// The utterances to add instead; may be empty.
    pub memorize: Memorize,
}

/// The result of a replacement.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// What changed.
    pub transition: Transition,
    /// What was tolerated.
    pub irregularities: Vec<Irregularity>,
    /// The removed utterances as they were, ascending.
    pub removed: Vec<Arc<Utterance>>,
    /// The sequences that are neither stored nor in the summary any more.
    pub gone: Ranges,
}

/// Erases everything after a point, and adds the batch: see [`memorize`](super::memorize). An exchange that
/// the point splits continues from there.
///
/// Refuses, and changes nothing, in the cases in which [`memorize`](super::memorize) does.
pub fn replace(
    before: &Conversation,
    command: &Replace,
    context: &Context<'_>,
) -> Result<Replaced, Undecided> {
    before.expect(command.memorize.expected)?;
    before.check_open()?;
    let newest = before.head.newest();
    let behind = match command.after < newest {
        true => Ranges::of(command.after.next(), newest),
        false => Ranges::new(),
    };
    let removed = locate::stored(before, &behind, context.loaded)?;
    let stored: Ranges = removed.iter().map(|utterance| utterance.sequence).collect();
    let mut remnants = before.summary.covers().intersection(&behind);
    remnants.subtract(&stored);
    let Memorize { drafts, upsert, .. } = &command.memorize;
    let known = ids::known(before, drafts, *upsert, &stored, context)?;
    let mut transition = Transition::from(before, context.now);
    if !stored.is_empty() {
        transition.erase_exactly(&stored, context)?;
    }
    transition.erase_remnants(&remnants, context);
    let Memorized { transition, irregularities } =
        say(transition, &command.memorize, &known, context)?.finish(before);
    let mut gone = stored;
    gone.union(&remnants);
    Ok(Replaced { transition, irregularities, removed, gone })
}

impl Placing {
    /// Replaces the utterance that has the draft's id by the draft, with its tokens. Only the utterance's
    /// sequence, turn and time stay.
    pub(super) fn replace(
        &mut self,
        index: usize,
        (draft, tokens): (&Draft, u32),
        known: Sequence,
        command: &Memorize,
        context: &Context<'_>,
    ) -> Result<(), Undecided> {
        let field = || format!("utterances[{index}].utterance_id");
        let unknown = || Refusal::invalid(field(), "names an utterance that is no longer stored");
        let Some(before) = self.transition.stored(known, context.loaded)? else {
            return Err(unknown().into());
        };
        if before.forgotten {
            let text = "names an utterance that is forgotten: Restore it first";
            return Err(Refusal::invalid(field(), text).into());
        }
        let goes_on = command.drafts.get(index + 1).is_some_and(|next| next.continues());
        if goes_on || draft.continues() || before.continues() || self.is_continued(known, context)? {
            let text = "names a message of several utterances, or is one; use replace_after for these";
            return Err(Refusal::invalid(field(), text).into());
        }
        let unit = self.transition.unit_of(&before, context.loaded)?;
        let pinned = before.pinned || draft.pinned;
        let now = |member: &Arc<Utterance>| {
            let changed = match member.sequence == known {
                true => replaced(member, draft, tokens),
                false => (**member).clone(),
            };
            Arc::new(Utterance { pinned, ..changed })
        };
        let both = unit.iter().cloned().zip(unit.iter().map(now));
        let (were, changed): (Vec<_>, Vec<_>) = both.clone().filter(|(was, now)| was != now).unzip();
        if changed.is_empty() {
            return Ok(());
        }
        self.note_updated(&changed);
        if changed.iter().any(|member| member.sequence == known && member.late().is_none()) {
            self.transition.after.head.unanswer(&Ranges::of(known, known));
        }
        self.transition.rewrite_texts(&were, changed);
        if before.instruction && draft.role != Role::System {
            self.transition.end_instructions(known);
        }
        let unit = self.transition.pair_anew(&both.map(|(_, now)| now).collect::<Vec<_>>());
        self.transition.begin_instructions();
        self.transition.retell(&unit, context);
        self.transition.settle_end();
        Ok(self.check_replaced(index, draft, known, &unit)?)
    }

    /// Checks a replacement in `unit`, which already contains it: a result must answer a call of its
    /// exchange, and the exchange must not be too large.
    fn check_replaced(
        &mut self,
        index: usize,
        draft: &Draft,
        known: Sequence,
        unit: &[Arc<Utterance>],
    ) -> Result<()> {
        let Some(placed) = unit.iter().find(|member| member.sequence == known) else { return Ok(()) };
        self.note_empty(index, draft, known);
        if placed.aside {
            let text = "answers no call of its exchange; a result that replaces an utterance must answer a call before it";
            self.let_pass(index, known, text.to_owned())?;
        }
        self.check_size(index, unit.iter().filter(|member| member.unit == placed.unit))
    }

    /// Whether the next utterance is part of the same message.
    fn is_continued(&self, sequence: Sequence, context: &Context<'_>) -> Result<bool, Need> {
        let next = self.transition.stored(sequence.next(), context.loaded)?;
        Ok(next.is_some_and(|next| next.continues()))
    }
}

impl Transition {
    /// Marks the system utterances at the head as instructions: some of them may have replaced others.
    pub(crate) fn begin_instructions(&mut self) {
        let Conversation { head, window, .. } = &mut self.after;
        let marked = window.instructions() as usize;
        let next = window.slice(marked..window.len()).zip(marked as u64 + 1..);
        let next = next.take_while(|(one, place)| one.role == Role::System && one.sequence.get() == *place);
        let mark = |one: &Arc<Utterance>| Arc::new(Utterance { instruction: true, ..(**one).clone() });
        let now: Vec<_> = next.map(|(one, _)| mark(one)).collect();
        head.only_instructions |= (marked + now.len()) as u64 == head.newest().get();
        if !now.is_empty() {
            self.rewrite(now);
        }
    }

    /// Unmarks the instructions after `before`: instructions must be at the head.
    fn end_instructions(&mut self, before: Sequence) {
        let behind = self.after.window.iter().filter(|one| one.instruction && one.sequence > before);
        let were: Vec<_> = behind.cloned().collect();
        let plain = |one: &Arc<Utterance>| Arc::new(Utterance { instruction: false, ..(**one).clone() });
        let now = were.iter().map(plain).collect();
        self.rewrite_texts(&were, now);
    }
}

/// `before` with the draft's content and fields.
fn replaced(before: &Utterance, draft: &Draft, tokens: u32) -> Utterance {
    let late = before.late().filter(|_| before.tool_call_id() == draft.tool_call_id()).cloned();
    let more = More { late, ..draft.more.as_deref().cloned().unwrap_or_default() };
    Utterance {
        tokens,
        role: draft.role,
        instruction: before.instruction && draft.role == Role::System,
        content: draft.content.clone(),
        more: (more != More::default()).then(|| Box::new(more)),
        ..before.clone()
    }
}
