//! The steps, in order.

use crate::{
    domain::{
        Draft, Refusal, TokenCounter,
        history::{
            Dropped, Entry, Unit,
            alternation::{Alternation, Clash, first_clash, keep_newest},
            call_ids,
            cut::Limits,
            pairing::{Paired, pair},
        },
    },
    formats::history::{Incoming, Prepared, Request, Warning, WarningKind, fit::Fit, normal},
};

/// Turns a history and a prompt into messages that a model accepts.
///
/// - Every outgoing call has its result directly behind it, and every result its call.
/// - The prompt goes out last and whole, whatever is dropped for it.
/// - Only role, text, name, calls and results of a message go out.
///
/// Refuses a prompt that exceeds a limit on its own, and, with [`Alternation::Reject`], consecutive messages
/// of one role.
pub fn prepare(
    incoming: Incoming,
    prompt: Option<Draft>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Prepared, Refusal> {
    let Incoming { field, entries, mut dropped, mut warnings, count, bytes } = incoming;
    let prompt = prompt.map(|draft| Entry { index: None, draft });
    let bytes = bytes + prompt.as_ref().map_or(0, |prompt| prompt.draft.content.len());
    let entries = entries.into_iter().chain(prompt);
    let (entries, unusable) = normal::all(entries, request, field);
    dropped.extend(unusable);
    let Paired { mut units, dropped: unpaired, moved } = pair(entries);
    dropped.extend(unpaired.into_iter().map(|dropped| at_its_place(field, dropped)));
    let changed = call_ids::accept(&mut units, request.format.call_ids());
    let units = in_turn(units, request, field, &mut dropped)?;
    let fit = Fit::of(units, request, counter)?;
    dropped.extend(fit.dropped.into_iter().map(|dropped| at_its_place(field, dropped)));
    dropped.sort_by_key(|dropped| dropped.index);
    warnings.extend(moved_warning(field, &moved));
    warnings.extend(changed_warning(changed));
    warnings.extend(fit.warnings);
    warnings.extend(request.size_warnings(count, bytes, fit.token_count));
    Ok(Prepared {
        messages_json: fit.written.messages_json,
        system: fit.written.system,
        message_count: fit.written.message_count,
        token_count: fit.token_count,
        dropped,
        recalled: fit.recalled,
        warnings,
    })
}

/// Repairs or refuses runs of one role; [`Alternation::Merge`] merges what the limits have left.
fn in_turn(
    units: Vec<Unit>,
    request: &Request,
    field: &str,
    dropped: &mut Vec<Dropped>,
) -> Result<Vec<Unit>, Refusal> {
    let apart = request.format.system_apart();
    match request.alternation {
        Alternation::Merge => Ok(units),
        Alternation::Drop => {
            let (kept, superseded) = keep_newest(units, apart);
            dropped.extend(superseded.into_iter().map(|dropped| at_its_place(field, dropped)));
            Ok(kept)
        }
        Alternation::Reject => match first_clash(&units, apart) {
            Some(clash) => Err(rejected(clash, field)),
            None => Ok(units),
        },
    }
}

/// The rules do not know the field: its name and the index are put before their text.
fn at_its_place(field: &str, dropped: Dropped) -> Dropped {
    let text = format!("{field}[{}] {}", dropped.index, dropped.text);
    Dropped { text, ..dropped }
}

fn rejected(clash: Clash, field: &str) -> Refusal {
    let place = |index: Option<usize>| index.map_or("prompt".into(), |index| format!("{field}[{index}]"));
    let (role, first) = (clash.role, place(clash.first));
    let text = format!(
        "has the role {role}, the same as {first} directly before it; with the alternation REJECT, user and assistant must take turns"
    );
    Refusal::invalid(place(clash.second), text)
}

fn moved_warning(field: &str, moved: &[usize]) -> Option<Warning> {
    let first = moved.first()?;
    let text =
        format!("{} results were moved directly behind their calls, the first {field}[{first}]", moved.len());
    Some(Warning { kind: WarningKind::ResultsMoved, text })
}

fn changed_warning(changed: usize) -> Option<Warning> {
    let text =
        format!("{changed} call ids were changed, in calls and results, to ones that the format accepts");
    (changed > 0).then_some(Warning { kind: WarningKind::CallIdsChanged, text })
}

impl Request {
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
