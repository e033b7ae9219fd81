//! The invariants of each context.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        replay::{recount, said::counter},
        validator::{Fault, Rule, anthropic, openai},
    },
    Tally,
};
use crate::support::prelude::*;

/// The required budget that a refusal names.
pub fn needed(request: &BuildContextRequest, refusal: &Status) -> Result<i32, String> {
    let number = refusal.message().split_once("accepted: ").and_then(|(_, rest)| rest.split(' ').next());
    match (request.token_budget, number.and_then(|number| number.parse().ok())) {
        (Some(budget), Some(needed)) if needed > budget => Ok(needed),
        _ => Err(format!("refused: {refusal:?}")),
    }
}

/// Whether `context` is a valid one for `request`, in a conversation that stores `stored`.
pub fn context(
    request: &BuildContextRequest,
    context: &BuildContextResponse,
    stored: &[Utterance],
    covered: &BTreeSet<i64>,
    tally: &mut Tally,
) -> Result<(), String> {
    let faults = faults(context, request.format());
    let results = [
        ("the provider refuses it", faults.is_empty(), format!("{faults:?}")),
        ("it is over its budget", is_within(context), format!("{:?}", context.token_count)),
        ("its tokens are counted otherwise", is_counted(context, request.format()), String::new()),
        ("it recalls more than its share", recalls_its_share(request, context), String::new()),
        ("it has other turns than asked for", has_its_turns(request, context, stored), String::new()),
        ("other utterances are uncovered", tells_uncovered(context, stored, covered), String::new()),
        ("not all is accounted for", is_accounted_for(context, stored), String::new()),
        ("a late result is told otherwise", tells_late_results(context, stored, tally), String::new()),
    ];
    tally.cut += u32::from(context.omitted.iter().any(|left| left.reason() == OmissionReason::Budget));
    tally.recalled += u32::from(rendered(context, RenderedAs::Recalled).next().is_some());
    tally.continued += u32::from(own(context).count() < context.utterances.len());
    tally.led += u32::from(is_led(context, stored));
    match results.iter().find(|(_, holds, _)| !holds) {
        Some((what, _, found)) => Err(format!("{what}: {found}\n{request:?}\n{context:#?}")),
        None => Ok(()),
    }
}

fn faults(context: &BuildContextResponse, format: ContextFormat) -> Vec<Fault> {
    let mut faults = match format {
        ContextFormat::Text => Vec::new(),
        ContextFormat::AnthropicMessages => anthropic::faults(&context.messages_json),
        _ => openai::faults(&context.messages_json),
    };
    if !context.system_json.is_empty() {
        let system = serde_json::from_str(&context.system_json).expect("the system is JSON");
        faults.extend(anthropic::system_faults(&system));
    }
    // a conversation with nothing to render is not a fault
    if context.messages_json == "[]" {
        faults.retain(|fault| fault.rule != Rule::Messages);
    }
    faults
}

fn is_within(context: &BuildContextResponse) -> bool {
    context.token_budget.is_none_or(|budget| context.token_count() <= budget)
}

fn is_counted(context: &BuildContextResponse, format: ContextFormat) -> bool {
    let counted = match format {
        ContextFormat::Text => return context.token_count() as u32 == counter().count(&context.text),
        ContextFormat::AnthropicMessages => recount::anthropic(&context.system_json, &context.messages_json),
        _ => recount::openai(&context.messages_json),
    };
    let tokens = counted.tokens();
    (tokens..=tokens + counted.unsure).contains(&(context.token_count() as u32))
}

/// The sequences that are rendered in this way.
fn rendered(context: &BuildContextResponse, how: RenderedAs) -> impl Iterator<Item = i64> {
    let those = own(context).filter(move |one| one.rendered_as() == how);
    those.map(|one| one.sequence)
}

/// What is rendered of the conversation itself.
fn own(context: &BuildContextResponse) -> impl Iterator<Item = &RenderedUtterance> {
    context.utterances.iter().filter(|one| one.conversation_id.is_empty())
}

fn has_its_turns(
    request: &BuildContextRequest,
    context: &BuildContextResponse,
    stored: &[Utterance],
) -> bool {
    let turn =
        |sequence| stored.iter().find(|said| said.sequence == sequence).and_then(|said| said.turn_number);
    let recent = [RenderedAs::Whole, RenderedAs::Masked, RenderedAs::Trimmed];
    let pinned = |sequence| stored.iter().any(|said| said.sequence == sequence && said.pinned);
    let recent = recent.into_iter().flat_map(|how| rendered(context, how)).filter(|one| !pinned(*one));
    let turns: BTreeSet<i32> = recent.filter_map(turn).filter(|turn| *turn > 0).collect();
    request.max_turns.is_none_or(|most| most == 0 || turns.len() <= most as usize)
}

/// Everything stored is rendered once, or left out for one reason.
fn is_accounted_for(context: &BuildContextResponse, stored: &[Utterance]) -> bool {
    let mut times: BTreeMap<i64, usize> = BTreeMap::new();
    let omitted =
        context.omitted.iter().flat_map(|left| &left.sequences).flat_map(|range| range.first..=range.last);
    let rendered = own(context).map(|one| one.sequence);
    rendered.chain(omitted).for_each(|sequence| *times.entry(sequence).or_default() += 1);
    times.values().all(|times| *times == 1) && stored.iter().all(|said| times.contains_key(&said.sequence))
}

/// The message with recalled quotes does not exceed its share of the budget.
fn recalls_its_share(request: &BuildContextRequest, context: &BuildContextResponse) -> bool {
    let Some((recall, budget)) = request.recall.as_ref().zip(context.token_budget) else { return true };
    let messages: Vec<serde_json::Value> = serde_json::from_str(&context.messages_json).unwrap_or_default();
    let texts = messages.iter().filter_map(|message| message["content"].as_str());
    let quoted = texts
        .filter(|text| text.starts_with("[Recalled from earlier "))
        .map(|text| 4 + counter().count(text));
    let percent = u64::from(recall.max_percent.unwrap_or(100).unsigned_abs());
    u64::from(quoted.sum::<u32>()) * 100 <= u64::from(budget.unsigned_abs()) * percent
}

/// Whether it counts, and warns of, what limits leave out and no summary covers.
fn tells_uncovered(context: &BuildContextResponse, stored: &[Utterance], covered: &BTreeSet<i64>) -> bool {
    let forgotten = |one: &i64| {
        stored.iter().any(|said| said.sequence == *one && said.state() == UtteranceState::Forgotten)
    };
    let by = |limits: &[OmissionReason]| {
        let omitted = context.omitted.iter().filter(|left| limits.contains(&left.reason()));
        omitted
            .flat_map(|left| &left.sequences)
            .flat_map(|range| range.first..=range.last)
            .collect::<Vec<i64>>()
    };
    let is_stored = |one: &i64| stored.iter().any(|said| said.sequence == *one);
    let here = by(&[OmissionReason::Budget, OmissionReason::MaxTurns]);
    let here = here.into_iter().filter(|one| is_stored(one) && !forgotten(one));
    let away = by(&[OmissionReason::Evicted]).into_iter().filter(|one| !covered.contains(one));
    let count = here.chain(away).count();
    let warned = context.warnings.iter().any(|warning| warning.kind() == WarningKind::UncoveredLeftOut);
    context.uncovered_utterance_count() as usize == count && warned == (count > 0)
}

/// Each late result that is rendered whole is a note with its tool and its call.
fn tells_late_results(context: &BuildContextResponse, stored: &[Utterance], tally: &mut Tally) -> bool {
    let whole = [RenderedAs::Whole, RenderedAs::Pinned].into_iter().flat_map(|how| rendered(context, how));
    let whole: BTreeSet<i64> = whole.collect();
    let mut late = stored.iter().filter(|said| said.late && whole.contains(&said.sequence));
    late.all(|said| {
        tally.late += 1;
        let note = format!("result of `{}`, call `{}`: {}", said.late_tool, said.tool_call_id, said.content);
        let json = serde_json::Value::from(note.trim_end()).to_string();
        context.messages_json.contains(&json) || context.text.contains(note.trim_end())
    })
}

/// Whether it begins with a user utterance that has left the window.
fn is_led(context: &BuildContextResponse, stored: &[Utterance]) -> bool {
    let away = |said: &&Utterance| said.position.is_none() && said.role() == Role::User && !said.pinned;
    let away: Vec<i64> = stored.iter().filter(away).map(|said| said.sequence).collect();
    rendered(context, RenderedAs::Whole).any(|sequence| away.contains(&sequence))
}
