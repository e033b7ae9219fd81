//! Memorize: adds a batch of utterances to the conversation, all or none.

mod ids;
mod replace;

use std::{collections::HashMap, sync::Arc};

use crate::{
    Conversation, Draft, Encoding, Head, More, Need, Oversize, Ranges, Reason, Refusal, Result, Revision,
    Role, Sequence, Transition, Undecided, Utterance, UtteranceId,
    change::Context,
    exchange::{AbandonedCall, LateResult, OpenExchange},
    quoted,
    state::StateChange,
};

pub use replace::{Replace, Replaced, replace};

/// The largest turn number: it travels as an int32.
const MAX_TURN: u32 = i32::MAX as u32;

/// A batch to memorize. Its drafts have passed [`Draft::check`].
#[derive(Clone, Debug, Default)]
pub struct Memorize {
    /// What was said, in order.
    pub drafts: Vec<Draft>,
    /// The tokens of each draft.
    pub tokens: Vec<u32>,
    /// The encoding in which they were counted.
    pub encoding: Encoding,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
    /// Whether a result that answers no call is stored as an orphan instead of refused.
    pub lenient: bool,
    /// Whether a draft replaces the utterance that already has its id, instead of being refused.
    pub upsert: bool,
    /// What to change in the conversation's state at the same time.
    pub state: Option<StateChange>,
}

/// A batch that was memorized.
#[derive(Clone, Debug)]
pub struct Memorized {
    /// What changed.
    pub transition: Transition,
    /// What was tolerated.
    pub irregularities: Vec<Irregularity>,
}

/// Something that a lenient call tolerated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Irregularity {
    /// The place in the batch, from 0.
    pub index: usize,
    /// The sequence it got.
    pub sequence: Sequence,
    /// What is wrong.
    pub description: String,
}

/// Adds the batch to `before`, then evicts what no longer fits.
///
/// A result for which no call is open is late if a call with its id was abandoned, has no answer, and is
/// still stored and not forgotten.
///
/// Refuses, and changes nothing, if a turn number goes back, a tool result answers no call (unless lenient),
/// an id is taken, the policy rejects an oversize utterance or exchange, the revision is not the expected
/// one, the conversation has ended, or the state change is refused.
pub fn memorize(
    before: &Conversation,
    command: &Memorize,
    context: &Context<'_>,
) -> Result<Memorized, Undecided> {
    before.expect(command.expected)?;
    before.check_open()?;
    let known = ids::known(before, &command.drafts, command.upsert, &Ranges::new(), context)?;
    let transition = Transition::from(before, context.now);
    Ok(say(transition, command, &known, context)?.finish(before))
}

/// Adds the drafts to a transition in the making; those in `known` replace the utterance with their id.
fn say(
    transition: Transition,
    command: &Memorize,
    known: &HashMap<usize, Sequence>,
    context: &Context<'_>,
) -> Result<Memorized, Undecided> {
    let mut placing = Placing { transition, irregularities: Vec::new(), lenient: command.lenient };
    for (index, draft) in command.drafts.iter().enumerate() {
        let tokens = match command.encoding == placing.transition.after.head.identity.encoding {
            true => command.tokens[index],
            false => draft.tokens(context.counter),
        };
        match known.get(&index) {
            Some(known) => placing.replace(index, (draft, tokens), *known, command, context)?,
            None => placing.place(index, draft, tokens, context)?,
        }
    }
    let Placing { mut transition, irregularities, .. } = placing;
    if !command.drafts.is_empty() {
        transition.after.head.said_time = context.now;
    }
    if let Some(change) = &command.state {
        transition.change_state(change).map_err(|refusal| refusal.within("state."))?;
    }
    transition.evict(context)?;
    Ok(Memorized { transition, irregularities })
}

impl Memorized {
    /// Ends the transition.
    fn finish(self, before: &Conversation) -> Self {
        Self { transition: self.transition.finish(&before.summary), ..self }
    }
}

/// Adds drafts that were said before, with the tokens of each, to an unfinished transition, as a lenient
/// [`memorize`] does. Nothing is evicted yet.
///
/// None of their ids may be taken.
pub(super) fn join(
    transition: &mut Transition,
    drafts: &[Draft],
    tokens: &[u32],
    context: &Context<'_>,
) -> Result<(), Undecided> {
    let mut placing = Placing { transition: transition.clone(), irregularities: Vec::new(), lenient: true };
    for (index, (draft, tokens)) in drafts.iter().zip(tokens).enumerate() {
        placing.place(index, draft, *tokens, context)?;
    }
    *transition = placing.transition;
    Ok(())
}

struct Placing {
    transition: Transition,
    irregularities: Vec<Irregularity>,
    lenient: bool,
}

/// Where a draft belongs.
struct Place {
    unit: Sequence,
    open: Option<Arc<OpenExchange>>,
    aside: bool,
    late: Option<LateResult>,
}

impl Place {
    /// A place for a draft that is neither an orphaned nor a late result.
    fn of(unit: Sequence, open: Option<Arc<OpenExchange>>) -> Self {
        Self { unit, open, aside: false, late: None }
    }
}

impl Placing {
    fn place(
        &mut self,
        index: usize,
        draft: &Draft,
        tokens: u32,
        context: &Context<'_>,
    ) -> Result<(), Undecided> {
        let turn = self.turn(index, draft)?;
        let place = self.pair(index, draft, context)?;
        let pinned = self.pin_unit(&place, draft);
        let head = &mut self.transition.after.head;
        let sequence = head.next;
        let instruction = head.only_instructions && draft.role == Role::System;
        head.next = sequence.next();
        head.turn = turn;
        head.only_instructions = instruction;
        head.open = place.open;
        head.awaits_answer = draft.more.as_ref().is_some_and(|more| more.awaits_answer);
        let lineage = head.branch;
        self.note_empty(index, draft, sequence);
        self.transition.append(Arc::new(Utterance {
            sequence,
            unit: place.unit,
            create_time: draft.create_time.unwrap_or(context.now),
            turn,
            tokens,
            id: draft.id.clone().map_or(UtteranceId::Assigned(lineage), UtteranceId::Given),
            role: draft.role,
            forgotten: false,
            pinned,
            instruction,
            aside: place.aside,
            content: draft.content.clone(),
            more: match place.late {
                Some(late) => {
                    let more = draft.more.as_deref().cloned().unwrap_or_default();
                    Some(Box::new(More { late: Some(late), ..more }))
                }
                None => draft.more.clone(),
            },
        }));
        Ok(self.check_size(index, self.transition.after.window.unit(place.unit))?)
    }

    fn note_empty(&mut self, index: usize, draft: &Draft, sequence: Sequence) {
        if draft.is_empty() {
            let description = "has neither content nor tool calls".to_owned();
            self.irregularities.push(Irregularity { index, sequence, description });
        }
    }

    fn turn(&self, index: usize, draft: &Draft) -> Result<u32> {
        let last = self.transition.after.head.turn;
        match draft.turn {
            Some(turn) if turn < last => Err(Refusal::field(
                Reason::TurnGoesBack,
                format!("utterances[{index}].turn_number"),
                format!("is {turn}; accepted: {last}, the conversation's last one, or more"),
            )),
            Some(turn) => Ok(turn),
            None if draft.role == Role::User => Ok(last.saturating_add(1).min(MAX_TURN)),
            None => Ok(last),
        }
    }

    fn pair(&mut self, index: usize, draft: &Draft, context: &Context<'_>) -> Result<Place, Undecided> {
        let Conversation { head, window, .. } = &self.transition.after;
        let (sequence, open) = (head.next, head.open.clone());
        let before =
            window.last().filter(|last| last.sequence.next() == sequence && last.is_live() && last.leads());
        let led = before.filter(|_| draft.role == Role::Assistant).map(|last| last.unit);
        let unit = open.as_ref().map(|open| open.unit).or(led).unwrap_or(sequence);
        let calls = draft.more.as_ref().map_or(&[][..], |more| &more.tool_calls);
        match draft.role {
            Role::User => {
                self.abandon(open.as_deref());
                Ok(Place::of(sequence, None))
            }
            Role::Assistant if !calls.is_empty() => {
                let open = OpenExchange::with_calls(open.as_deref(), unit, calls);
                Ok(Place::of(unit, Some(Arc::new(open))))
            }
            Role::Assistant | Role::System => Ok(Place::of(unit, open)),
            Role::Tool => self.pair_result(index, draft.tool_call_id(), Place::of(unit, open), context),
        }
    }

    /// Pairs a result, placed at `place`, with the call with the id `call`.
    fn pair_result(
        &mut self,
        index: usize,
        call: Option<&str>,
        place: Place,
        context: &Context<'_>,
    ) -> Result<Place, Undecided> {
        if let Some(rest) = call.and_then(|call| place.open.as_ref()?.answered(call).ok()) {
            return Ok(Place { open: rest.map(Arc::new), ..place });
        }
        match call.map_or(Ok(None), |call| self.answer_late(call, context))? {
            Some(late) => Ok(Place { late: Some(late), ..place }),
            None => Ok(self.set_aside(index, call, place)?),
        }
    }

    /// Abandons the calls waiting at the end.
    fn abandon(&mut self, open: Option<&OpenExchange>) {
        let Some(open) = open else { return };
        let unit: Vec<_> = self.transition.after.window.unit(open.unit).cloned().collect();
        self.transition.after.head.abandon(&unit);
    }

    /// Makes the next utterance a late result for `id`, if a call awaits one.
    fn answer_late(&mut self, id: &str, context: &Context<'_>) -> Result<Option<LateResult>, Need> {
        let waiting = self.transition.after.head.abandoned_with(id).filter(|call| call.answer.is_none());
        let waiting: Vec<AbandonedCall> = waiting.cloned().collect();
        let away: Ranges = waiting.iter().map(|call| call.caller).collect();
        for call in &waiting {
            let caller = match self.transition.after.window.get(call.caller) {
                Some(caller) => Some(caller.clone()),
                None => {
                    let away = self.transition.archived(&away, context.loaded)?;
                    away.into_iter().find(|utterance| utterance.sequence == call.caller)
                }
            };
            let Some(caller) = caller.filter(|caller| !caller.forgotten) else { continue };
            let same = waiting.iter().filter(|other| other.caller == call.caller).count();
            // of calls with the same id, the last are those that still wait
            let made = caller.tool_calls().iter().rev().filter(|made| *made.id == *id).nth(same - 1);
            let tool = made.map_or_else(Box::default, |made| made.name.clone());
            let head = &mut self.transition.after.head;
            head.answer_late(call, head.next);
            return Ok(Some(LateResult { caller: call.caller, tool }));
        }
        Ok(None)
    }

    fn set_aside(&mut self, index: usize, call: Option<&str>, place: Place) -> Result<Place> {
        let description = describe_orphan(call, place.open.as_deref(), &self.transition.after.head);
        self.let_pass(index, self.transition.after.head.next, description)?;
        Ok(Place { aside: true, ..place })
    }

    /// Tolerates a result that answers no call, as described by `description`, or refuses it.
    fn let_pass(&mut self, index: usize, sequence: Sequence, description: String) -> Result<()> {
        if !self.lenient {
            let field = format!("utterances[{index}].tool_call_id");
            return Err(Refusal::field(Reason::NoOpenCall, field, description));
        }
        self.irregularities.push(Irregularity { index, sequence, description });
        Ok(())
    }

    /// A pin holds for the whole unit: an utterance that joins a pinned unit is pinned, and a pinned one pins
    /// its unit. Returns whether the draft is pinned.
    fn pin_unit(&mut self, place: &Place, draft: &Draft) -> bool {
        let window = &self.transition.after.window;
        let pinned = window.get(place.unit).is_some_and(|first| first.pinned);
        if draft.pinned && !pinned {
            let pin =
                |utterance: &Arc<Utterance>| Arc::new(Utterance { pinned: true, ..(**utterance).clone() });
            let unit: Vec<_> = window.unit(place.unit).map(pin).collect();
            self.note_updated(&unit);
            self.transition.rewrite(unit);
        }
        draft.pinned || pinned
    }

    /// Notes that these were changed, except those that the batch itself added.
    fn note_updated(&mut self, changed: &[Arc<Utterance>]) {
        let change = &mut self.transition.change;
        let new = change.appended.first().map(|first| first.sequence);
        let old = changed.iter().filter(|utterance| new.is_none_or(|new| utterance.sequence < new));
        old.for_each(|utterance| change.updated.add(utterance.sequence));
    }

    /// `unit` is the unit of the utterance, which it includes.
    fn check_size<'u>(&self, index: usize, unit: impl Iterator<Item = &'u Arc<Utterance>>) -> Result<()> {
        let policy = &self.transition.after.head.policy;
        let (Oversize::Reject, Some(marks)) = (policy.oversize, policy.tokens) else { return Ok(()) };
        let tokens: u64 = unit.map(|u| u64::from(u.counted_tokens())).sum();
        match tokens > u64::from(marks.max()) {
            true => Err(Refusal::field(
                Reason::Oversize,
                format!("utterances[{index}].content"),
                format!(
                    "the utterance, with the exchange it belongs to, has {tokens} tokens; the policy rejects more than {}",
                    marks.max()
                ),
            )),
            false => Ok(()),
        }
    }
}

fn describe_orphan(call: Option<&str>, open: Option<&OpenExchange>, head: &Head) -> String {
    let given = match call {
        Some(call) => describe_call(call, head),
        None => "answers no call".to_owned(),
    };
    match open {
        Some(open) => format!("{given}; open calls are {:?}", open.calls),
        None => format!("{given}; no call is open"),
    }
}

/// Why no result is accepted for `id`, which no open call has.
fn describe_call(id: &str, head: &Head) -> String {
    let abandoned = head.abandoned_with(id).next();
    let id = quoted(id);
    match abandoned {
        Some(AbandonedCall { answer: Some(answer), .. }) => {
            format!("{id} was answered late, by utterance {answer}; a call takes one result")
        }
        Some(AbandonedCall { caller, .. }) => {
            format!("{id} is a call of utterance {caller}, which is forgotten: Restore it first")
        }
        None => format!("{id} is not an open call"),
    }
}
