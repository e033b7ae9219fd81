//! The steps, in order.

use crate::history::{Incoming, Prepared, Request, Warning, WarningKind, fit::Fit, normal, units::Units};
use utterd_domain::{
    Draft, Refusal, Result, TokenCounter,
    history::{
        DropReason, Dropped, Entry, Unit,
        alternation::{Alternation, clashes},
        cut::{Cost, Limit, Limits},
    },
};

/// Turns a history and a prompt into messages that a model accepts.
///
/// - Every outgoing call has its result directly behind it, and every result its call.
/// - The prompt goes out last, whatever is dropped for it. What exceeds a limit by itself, the prompt or else the
///   newest message with its results, is cut to its head and tail, unless messages are to stay whole.
/// - Only role, text, name, calls and results of a message go out.
///
/// Refuses a prompt that exceeds a limit even so, and, with [`Alternation::Reject`], consecutive messages
/// of one role.
pub fn prepare(
    incoming: Incoming,
    prompt: Option<Draft>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Prepared> {
    let Incoming { field, entries, mut dropped, mut warnings, count, bytes } = incoming;
    let bytes = bytes + prompt.as_ref().map_or(0, |prompt| prompt.content.len());
    let entries = entries.into_iter().chain(prompt.map(|draft| Entry { index: None, draft }));
    let (entries, unusable) = normal::all(entries, request, field);
    let mut paired = Units::of(&entries, field, request, counter);
    dropped.extend(unusable.into_iter().chain(paired.dropped));
    dropped.extend(request.alternate(&mut paired.units, field)?);
    warnings.extend(request.shorten_newest(&mut paired.units, counter));
    let Fit { mut prepared, left_out } = Fit::of(&paired.units, request, counter)?;
    for (place, limit) in left_out {
        dropped.extend(request.left_out(&paired.units[place], limit, field));
    }
    dropped.sort_by_key(|dropped| dropped.index);
    warnings.extend(paired.warnings.into_iter().chain(prepared.warnings));
    warnings.extend(request.size_warnings(count, bytes, prepared.token_count));
    (prepared.dropped, prepared.warnings) = (dropped, warnings);
    Ok(prepared)
}

impl Request {
    /// Drops or refuses runs of one role; [`Alternation::Merge`] merges what the limits have left.
    fn alternate(&self, units: &mut Vec<Unit>, field: &str) -> Result<Vec<Dropped>> {
        let clashes = clashes(units, self.system_apart());
        match (self.alternation, clashes.first()) {
            (Alternation::Merge, _) | (_, None) => Ok(Vec::new()),
            (Alternation::Reject, Some((first, second))) => {
                Err(rejected(&units[*first], &units[*second], field))
            }
            (Alternation::Drop, _) => {
                let older: Vec<usize> = clashes.into_iter().map(|(first, _)| first).collect();
                let dropped = older.iter().filter_map(|place| superseded(&units[*place], field)).collect();
                let mut places = 0..;
                units.retain(|_| places.next().is_some_and(|place| older.binary_search(&place).is_err()));
                Ok(dropped)
            }
        }
    }

    /// The messages of a unit that a limit leaves out.
    fn left_out(&self, unit: &Unit, limit: Limit, field: &str) -> Vec<Dropped> {
        let (name, most) = (limit.field(), Cost::from(self.limits).of(limit));
        let dropped = |index| {
            let text = format!(
                "{field}[{index}] does not fit: {name} is {most}, and newer messages take precedence"
            );
            Dropped { index, reason: DropReason::from(limit), text }
        };
        unit.entries().filter_map(|entry| entry.index).map(dropped).collect()
    }

    /// Warns from three quarters of a limit.
    fn size_warnings(&self, count: usize, bytes: usize, tokens: u32) -> impl Iterator<Item = Warning> {
        let Limits { messages, bytes: most, tokens: budget } = self.limits;
        let near = |used: u64, limit: u64| used > 0 && used * 4 >= limit * 3;
        let many = near(count as u64, messages as u64).then(|| Warning {
            kind: WarningKind::ManyMessages,
            text: format!("the history has {count} messages; at most the newest {messages} go to the model"),
        });
        let large = near(bytes as u64, most as u64).then(|| Warning {
            kind: WarningKind::LargeRequest,
            text: format!("the history and the prompt have {bytes} bytes; at most {most} go to the model"),
        });
        let budget = budget.filter(|budget| near(u64::from(tokens), u64::from(*budget)));
        let tight = budget.map(|budget| Warning {
            kind: WarningKind::NearTokenBudget,
            text: format!("what goes to the model has {tokens} tokens of a budget of {budget}"),
        });
        [many, large, tight].into_iter().flatten()
    }
}

/// A message that is followed by another one of its role.
fn superseded(unit: &Unit, field: &str) -> Option<Dropped> {
    let (index, role) = (unit.message.index?, unit.role());
    let text = format!(
        "{field}[{index}] is followed by another {role} message; only the newest in a row is kept. Accepted are user and assistant in turn"
    );
    Some(Dropped { index, reason: DropReason::Alternation, text })
}

fn rejected(first: &Unit, second: &Unit, field: &str) -> Refusal {
    let place = |unit: &Unit| unit.message.index.map_or("prompt".into(), |index| format!("{field}[{index}]"));
    let (role, first) = (first.role(), place(first));
    let text = format!(
        "has the role {role}, the same as {first} directly before it; with the alternation REJECT, user and assistant must take turns"
    );
    Refusal::invalid(place(second), text)
}
