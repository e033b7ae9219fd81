//! What happens to an exchange when a part of it is removed or replaced.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Conversation, Head, More, Need, Ranges, Role, Sequence, Transition, Utterance,
    change::Context,
    exchange::{AbandonedCall, OpenExchange, unanswered},
    limits::MAX_ABANDONED_CALLS,
};

impl Transition {
    /// Removes exactly `gone`, which is stored, from everything. What is left of the split units is paired
    /// again, the window is brought within its limits, and the conversation continues from its newest
    /// remaining utterance.
    pub fn erase_exactly(&mut self, gone: &Ranges, context: &Context<'_>) -> Result<(), Need> {
        let parted = parted(&self.after, gone, context)?;
        self.erase(gone, context)?;
        for rest in &parted {
            let rest = self.pair_anew(rest);
            // the summary mentions a call with its result, which may be gone
            self.retell(&rest, context);
        }
        if !parted.is_empty() {
            // utterances that an incomplete exchange held in the window can leave it now
            self.evict(context)?;
        }
        self.settle_end();
        Ok(())
    }

    /// Pairs `members`, what is left of one unit, with each other: a result whose call is not among them
    /// becomes an orphan, a late result that answers a call among them is no longer late, and a call without
    /// its result is abandoned. Returns the members with these changes.
    pub(crate) fn pair_anew(&mut self, members: &[Arc<Utterance>]) -> Vec<Arc<Utterance>> {
        let paired = paired(members);
        let both = members.iter().zip(&paired);
        let in_time = both.filter(|(was, now)| was.late().is_some() && now.late().is_none());
        self.after.head.unanswer(&in_time.map(|(_, now)| now.sequence).collect());
        self.after.head.abandon_among(&paired);
        let changed = members.iter().cloned().zip(paired.iter().cloned()).filter(|(was, now)| was != now);
        let (were, now): (Vec<_>, Vec<_>) = changed.unzip();
        self.rewrite_texts(&were, now);
        paired
    }

    /// Continues the conversation from its newest utterance, whatever followed it before: calls waiting there
    /// wait again, unless one of them was answered late.
    pub(crate) fn settle_end(&mut self) {
        let Conversation { head, window, .. } = &mut self.after;
        let newest = window.last().filter(|newest| head.archived.last() < Some(newest.sequence)).cloned();
        let unit: Vec<_> = newest.iter().flat_map(|newest| window.unit(newest.unit)).cloned().collect();
        let open = OpenExchange::after(&unit).filter(|open| head.may_wait(open.unit));
        if let Some(open) = &open {
            head.unabandon(&Ranges::of(open.unit, head.newest()));
        }
        head.open = open.map(Arc::new);
        head.turn = match &newest {
            Some(newest) => newest.turn,
            None if head.archived.is_empty() => 0,
            None => head.turn,
        };
        head.only_instructions = head.left.is_empty() && window.iter().all(|one| one.instruction);
        head.awaits_answer = newest.is_some_and(|newest| newest.awaits_answer());
    }
}

impl Head {
    /// Whether the calls from `first` on can wait for results: not in a conversation that has ended, and not
    /// if one of them was answered late.
    pub(crate) fn may_wait(&self, first: Sequence) -> bool {
        let late = self.abandoned.iter().filter(|call| call.answer.is_some());
        self.ended.is_none() && !late.map(|call| call.caller).any(|caller| caller >= first)
    }

    /// Marks exactly those calls of `members` as abandoned that have no answer among them.
    fn abandon_among(&mut self, members: &[Arc<Utterance>]) {
        let of_members = |call: &AbandonedCall| members.iter().any(|member| member.sequence == call.caller);
        let (mut known, mut all): (Vec<_>, Vec<_>) = self.abandoned.iter().cloned().partition(of_members);
        // of calls with the same id, those that were answered late do not wait any more
        known.sort_by_key(|call| call.answer.is_none());
        for (id, caller) in members.chunk_by(|one, next| one.unit == next.unit).flat_map(unanswered) {
            let same = known.iter().position(|call| call.caller == caller && *call.id == *id);
            let call = same.map(|same| known.remove(same));
            all.push(call.unwrap_or_else(|| AbandonedCall { id: id.into(), caller, answer: None }));
        }
        all.sort_by_key(|call| call.caller);
        self.abandoned = all[all.len().saturating_sub(MAX_ABANDONED_CALLS)..].into();
    }
}

/// The remaining members of each unit from which `gone` removes a part.
fn parted(of: &Conversation, gone: &Ranges, context: &Context<'_>) -> Result<Vec<Vec<Arc<Utterance>>>, Need> {
    let away = gone.intersection(&of.head.archived);
    // members of one unit are all in the window, or all in the archive
    let archived = match away.is_empty() {
        true => Vec::new(),
        false => context.loaded.archive(&of.head.archived)?,
    };
    let live = gone.sequences().filter_map(|sequence| of.window.get(sequence));
    let units: BTreeSet<_> = live.map(|one| one.unit).collect();
    let units = units.into_iter().map(|unit| of.window.unit(unit).cloned().collect::<Vec<_>>());
    let away = archived.chunk_by(|one, next| one.unit == next.unit).map(<[_]>::to_vec);
    let rest = |unit: Vec<Arc<Utterance>>| {
        let is_parted = unit.iter().any(|member| gone.contains(member.sequence));
        let rest: Vec<_> = unit.into_iter().filter(|member| !gone.contains(member.sequence)).collect();
        (is_parted && !rest.is_empty()).then_some(rest)
    };
    Ok(away.chain(units).filter_map(rest).collect())
}

/// `members` in the units they form by themselves.
fn paired(members: &[Arc<Utterance>]) -> Vec<Arc<Utterance>> {
    let mut open: Option<OpenExchange> = None;
    // the unit that the next member is in if it is the assistant's
    let mut leads: Option<Sequence> = None;
    let pair = |member: &Arc<Utterance>| {
        if member.role == Role::User {
            open = None;
        }
        let led = leads.take().filter(|_| member.role == Role::Assistant);
        let unit = open.as_ref().map(|open| open.unit).or(led).unwrap_or(member.sequence);
        leads = member.leads().then_some(unit);
        let answered = match member.role {
            Role::Tool => member.tool_call_id().and_then(|id| open.as_ref()?.answered(id).ok()),
            _ => None,
        };
        let answers = answered.is_some();
        if let Some(rest) = answered {
            open = rest;
        }
        if !member.tool_calls().is_empty() {
            open = Some(OpenExchange::with_calls(open.as_ref(), unit, member.tool_calls()));
        }
        placed(member, unit, answers)
    };
    members.iter().map(pair).collect()
}

/// `member` in `unit`, either as a result that answers a call waiting there or not.
fn placed(member: &Arc<Utterance>, unit: Sequence, answers: bool) -> Arc<Utterance> {
    let late = member.late().filter(|_| !answers).cloned();
    let aside = member.role == Role::Tool && !answers && late.is_none();
    if (member.unit, member.aside, member.late()) == (unit, aside, late.as_ref()) {
        return member.clone();
    }
    let more = member.more.as_deref().cloned().map(|more| Box::new(More { late, ..more }));
    Arc::new(Utterance { unit, aside, more, ..(**member).clone() })
}
