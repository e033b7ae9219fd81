//! A response as a script shows it.

use std::fmt::{Display, Write};

use crate::support::prelude::*;

/// The maximum length of a content.
const SHOWN: usize = 72;

/// One line for each utterance, under a heading.
pub fn utterances(utterances: &[Utterance]) -> String {
    let mut text = "pos  seq  turn  tokens  what was said\n".to_owned();
    utterances.iter().for_each(|utterance| _ = writeln!(text, "{}", row(utterance)));
    text
}

fn row(utterance: &Utterance) -> String {
    let position = utterance.position.map_or_else(|| "-".to_owned(), |position| position.to_string());
    let (turn, tokens) = (utterance.turn_number.unwrap_or(-1), utterance.token_count());
    let said = said(utterance);
    format!("{position:>3}  {:>3}  {turn:>4}  {tokens:>6}  {said}{}", utterance.sequence, marks(utterance))
}

/// `user Ada: Hello`
fn said(utterance: &Utterance) -> String {
    let mut text = role(utterance.role);
    if !utterance.name.is_empty() {
        let _ = write!(text, " {}", utterance.name);
    }
    if !utterance.tool_call_id.is_empty() {
        let _ = write!(text, " of {}", utterance.tool_call_id);
    }
    let _ = write!(text, ": {}", shown(&utterance.content));
    for call in &utterance.tool_calls {
        let _ = write!(text, " <{} {} {}>", call.id, call.name, call.arguments_json);
    }
    text.replace(":  <", ": <").trim_end().to_owned()
}

fn marks(utterance: &Utterance) -> String {
    let state = match utterance.state() {
        UtteranceState::Forgotten => Some("forgotten"),
        UtteranceState::Evicted => Some("evicted"),
        UtteranceState::Live | UtteranceState::Unspecified => None,
    };
    let flag = |set: bool, name: &'static str| set.then_some(name);
    let flags = [
        state,
        flag(utterance.pinned, "pinned"),
        flag(utterance.aside, "aside"),
        flag(utterance.late, "late"),
        flag(utterance.awaits_answer, "awaits an answer"),
        flag(utterance.original_content.is_some(), "edited"),
    ];
    let mut marks: Vec<String> = flags.into_iter().flatten().map(str::to_owned).collect();
    marks.extend(utterance.metadata.iter().map(|(key, value)| format!("{key}={value}")));
    match marks.is_empty() {
        true => String::new(),
        false => format!("  [{}]", marks.join(", ")),
    }
}

/// The content on one line, truncated if it is long.
fn shown(content: &str) -> String {
    let line = content.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    match line.chars().count() > SHOWN {
        true => format!("{}… ({} bytes)", line.chars().take(SHOWN).collect::<String>(), content.len()),
        false => line,
    }
}

/// A role in lower case.
pub fn role(role: i32) -> String {
    Role::try_from(role).map_or("?", |role| role.as_str_name()).trim_start_matches("ROLE_").to_lowercase()
}

/// The last line of a window: how full it is.
pub fn fullness(capacity: &Capacity) -> String {
    let summary = capacity.summary.unwrap_or_default();
    let mut text = format!(
        "{} utterances, {} tokens, {} turns",
        of(capacity.utterance_count, capacity.max_utterances),
        of(capacity.token_count, capacity.max_tokens),
        of(capacity.turn_count, capacity.max_turns),
    );
    let forgotten = capacity.soft_deleted_count.unwrap_or_default();
    if forgotten > 0 {
        let _ = write!(text, "; {forgotten} forgotten");
    }
    if capacity.over_limit() {
        let _ = write!(text, "; over the limit: {}", causes(capacity));
    }
    let archived = capacity.archived_utterance_count.unwrap_or_default();
    if archived > 0 || summary.covered_utterance_count() > 0 {
        let _ = write!(
            text,
            "\n{archived} archived; summary {} tokens in {}, covers {}",
            of(summary.token_count, summary.token_limit),
            plural(summary.segment_count(), "segment"),
            summary.covered_utterance_count(),
        );
    }
    text
}

fn causes(capacity: &Capacity) -> String {
    let name =
        |cause: OverLimitCause| cause.as_str_name().trim_start_matches("OVER_LIMIT_CAUSE_").to_lowercase();
    capacity.over_limit_causes().map(name).collect::<Vec<_>>().join(", ")
}

/// Every number of a capacity, with its field name.
pub fn capacity(capacity: &Capacity) -> String {
    let summary = capacity.summary.unwrap_or_default();
    let number = |name: &str, value: Option<i32>| {
        value.map_or_else(|| format!("{name} unlimited\n"), |value| format!("{name} {value}\n"))
    };
    [
        format!("revision {}, {}\n", capacity.revision, capacity.status().as_str_name()),
        number("utterance_count", capacity.utterance_count),
        number("soft_deleted_count", capacity.soft_deleted_count),
        number("live_utterance_count", capacity.live_utterance_count),
        number("turn_count", capacity.turn_count),
        number("token_count", capacity.token_count),
        number("max_utterances", capacity.max_utterances),
        number("max_tokens", capacity.max_tokens),
        number("max_turns", capacity.max_turns),
        number("keep_utterances", capacity.keep_utterances),
        number("keep_tokens", capacity.keep_tokens),
        number("keep_turns", capacity.keep_turns),
        number("available_utterances", capacity.available_utterances),
        number("available_tokens", capacity.available_tokens),
        format!("over_limit {} {}\n", capacity.over_limit(), causes(capacity)).replace(" \n", "\n"),
        number("archived_utterance_count", capacity.archived_utterance_count),
        number("summary.token_count", summary.token_count),
        number("summary.token_limit", summary.token_limit),
        number("summary.segment_count", summary.segment_count),
        number("summary.covered_utterance_count", summary.covered_utterance_count),
        number("total_token_count", capacity.total_token_count),
        advice(capacity),
    ]
    .concat()
}

/// A line if the window should be compacted.
pub fn advice(capacity: &Capacity) -> String {
    capacity.compaction_advice.map_or_else(String::new, |advice| {
        format!(
            "compaction is advised at {}: {} utterances, {} would stay\n",
            advice.threshold(),
            advice.utterance_count(),
            advice.keep_recent(),
        )
    })
}

/// `compaction 1, asked, extractive: 1-37 (37 utterances, 1200 tokens) left, 15 stay; 1700 tokens became 900,
/// 47 % less`
pub fn compaction(made: &Compaction) -> String {
    let number = made.compaction_number.map(|number| format!(" {number}")).unwrap_or_default();
    let lower = |name: &str, prefix| name.trim_start_matches(prefix).to_lowercase();
    let mut text = format!(
        "compaction{number}, {}, {}: {} ({}, {} tokens) left, {} stay; {} tokens became {}, {:.0} % less",
        lower(made.cause().as_str_name(), "COMPACTION_CAUSE_"),
        lower(made.method().as_str_name(), "SUMMARY_METHOD_"),
        ranges(&made.compacted),
        plural(made.compacted_utterance_count(), "utterance"),
        made.source_token_count(),
        made.kept_utterance_count(),
        made.token_count_before(),
        made.token_count_after(),
        100.0 * made.compression_ratio(),
    );
    let marks = [(made.undo_time.is_some(), ", undone"), (made.undoable, ", undoable")];
    marks.into_iter().filter(|(set, _)| *set).for_each(|(_, mark)| text += mark);
    text
}

/// `16 of 20`, or `16` for an unlimited measure.
fn of(value: Option<i32>, max: Option<i32>) -> String {
    let value = value.unwrap_or(-1);
    max.map_or_else(|| value.to_string(), |max| format!("{value} of {max}"))
}

/// `1 segment`, `2 segments`
pub fn plural(count: i32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The sequences of references: `1-5, 7`.
pub fn sequences(refs: &[UtteranceRef]) -> String {
    let mut found: Vec<SequenceRange> = Vec::new();
    for sequence in refs.iter().map(|reference| reference.sequence) {
        match found.last_mut() {
            Some(last) if last.last + 1 == sequence => last.last = sequence,
            _ => found.push(SequenceRange { first: sequence, last: sequence }),
        }
    }
    ranges(&found)
}

/// `1-5, 7`
pub fn ranges(ranges: &[SequenceRange]) -> String {
    let range = |range: &SequenceRange| match range.first == range.last {
        true => range.first.to_string(),
        false => format!("{}-{}", range.first, range.last),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// What a change did to the summary.
pub fn summary_update(update: &SummaryUpdate) -> String {
    let mut text = String::new();
    for segment in &update.written {
        let _ = writeln!(text, "wrote {}", heading(segment));
    }
    if !update.replaced_segment_numbers.is_empty() {
        let _ = writeln!(text, "in the place of {}", list(&update.replaced_segment_numbers));
    }
    text
}

/// `segment 3 of level 1 (20 tokens) covers 1-5`
pub fn heading(segment: &Segment) -> String {
    format!(
        "segment {} of level {} ({} tokens) covers {}",
        segment.segment_number,
        segment.level(),
        segment.token_count(),
        ranges(&segment.covers)
    )
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A match of Remember, and its neighbours.
pub fn matched(found: &Match) -> String {
    let utterance = found.utterance.clone().unwrap_or_default();
    let mut text = format!(
        "{:>5.2}  {:>3}  {}{}",
        found.score(),
        utterance.sequence,
        said(&utterance),
        marks(&utterance)
    );
    if !found.matched_terms.is_empty() {
        let _ = write!(text, "  ({})", list(&found.matched_terms));
    }
    for neighbor in &found.neighbors {
        let _ = write!(text, "\n       {:>3}  {}", neighbor.sequence, said(neighbor));
    }
    text
}

/// An event on one line: operation, address and facts.
pub fn event(event: &Event) -> String {
    let operation = Operation::try_from(event.operation).map_or("?", |operation| operation.as_str_name());
    let mut text = operation.trim_start_matches("OPERATION_").to_lowercase();
    if let Some(revision) = event.revision {
        let _ = write!(text, " at revision {revision}");
    }
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = write!(text, "; {name} {value}");
        }
    };
    fact("request", event.request_id.clone());
    fact("started", if event.started_conversation { event.conversation_id.clone() } else { String::new() });
    fact("memorized", ranges(&event.memorized));
    fact("evicted", ranges(&event.evicted));
    fact("dropped", ranges(&event.dropped));
    fact("forgotten", ranges(&event.forgotten));
    fact("erased", ranges(&event.erased));
    fact("restored", ranges(&event.restored));
    fact("returned", ranges(&event.returned));
    fact("compaction", event.compaction_number.map(|number| number.to_string()).unwrap_or_default());
    fact("updated", ranges(&event.updated));
    fact("segments written", list(&event.written_segment_numbers));
    fact("segments removed", list(&event.removed_segment_numbers));
    fact("results", event.result_count.map(|count| count.to_string()).unwrap_or_default());
    text
}
