//! Converts states and changes to messages.

use std::{ops::Range, sync::Arc};

use prost_types::Timestamp as WireTime;

use crate::proto;
use utterd_domain::{
    Conversation, ConversationId, ForkedFrom, Head, Marks, Oversize, Policy, Ranges, Role, Sequence,
    Timestamp, Utterance,
    capacity::{Capacity, OverLimit},
    compaction::Advice,
    conversation::Status,
    forget::erasure::InForks,
    limits::DEFAULT_KEEP_RECENT,
    memorize::Irregularity,
    segment::Segment,
};
use utterd_engine::{Applied, Outcome, Reference};

/// Converts a variant to the variant with the same name in a generated enum, given the names of all variants.
macro_rules! same_name {
    ($value:expr, $from:ident to $to:ident: $($name:ident)*) => {
        match $value {
            $($from::$name => $crate::proto::$to::$name,)*
        }
    };
}
pub(crate) use same_name;

/// Converts a count; one beyond int32 becomes the largest int32.
pub fn int(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// Returns the id of a conversation; empty for the empty state of a recipient that has none.
pub fn id(state: &Conversation) -> String {
    if state.exists() { listed(&state.key().id) } else { String::new() }
}

/// Converts an id; empty for a recipient's own state, which is not a conversation.
pub fn listed(id: &ConversationId) -> String {
    if id.is_of_state() { String::new() } else { id.as_str().to_owned() }
}

/// Converts a sequence or a revision.
pub fn long(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a time.
pub fn time(time: Timestamp) -> WireTime {
    let nanos = time.0.rem_euclid(1_000_000) * 1_000;
    WireTime { seconds: time.0.div_euclid(1_000_000), nanos: int(nanos) }
}

/// Converts a role.
pub fn role(role: Role) -> proto::Role {
    same_name!(role, Role to Role: System User Assistant Tool)
}

/// Converts the status of a conversation.
pub fn status(status: Status) -> proto::ConversationStatus {
    same_name!(status, Status to ConversationStatus: Active AwaitingAnswer Idle Closed)
}

/// Converts an utterance as it is in `state`.
pub fn utterance(utterance: &Utterance, state: &Conversation) -> proto::Utterance {
    let place = state.window.place(utterance.sequence).ok();
    let mut message = proto::Utterance {
        utterance_id: utterance.id_text(),
        sequence: long(utterance.sequence.get()),
        position: place.map(|place| int(place as u32 + 1)),
        role: role(utterance.role).into(),
        content: (*utterance.content).to_owned(),
        turn_number: Some(int(utterance.turn)),
        create_time: Some(time(utterance.create_time)),
        token_count: Some(int(utterance.tokens)),
        state: self::state(utterance, place.is_some()).into(),
        pinned: utterance.pinned,
        aside: utterance.aside,
        ..Default::default()
    };
    if let Some(more) = &utterance.more {
        let text = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
        message.name = text(&more.name);
        message.tool_call_id = text(&more.tool_call_id);
        message.extras_json = text(&more.extras_json);
        message.tools_used = more.tools_used.iter().map(ToString::to_string).collect();
        message.metadata.clone_from(&more.metadata);
        message.awaits_answer = more.awaits_answer;
        message.tool_calls = more.tool_calls.iter().map(tool_call).collect();
        if let Some(late) = &more.late {
            message.late = true;
            message.late_tool = late.tool.to_string();
        }
        if let Some(original) = &more.original {
            message.original_content = Some(original.content.to_string());
            message.edit_time = Some(time(original.edit_time));
        }
    }
    message
}

/// Returns whether an utterance is live, evicted or forgotten.
pub fn state(utterance: &Utterance, is_in_window: bool) -> proto::UtteranceState {
    match (utterance.forgotten, is_in_window) {
        (true, _) => proto::UtteranceState::Forgotten,
        (false, true) => proto::UtteranceState::Live,
        (false, false) => proto::UtteranceState::Evicted,
    }
}

fn tool_call(call: &utterd_domain::ToolCall) -> proto::ToolCall {
    proto::ToolCall {
        id: (*call.id).to_owned(),
        name: (*call.name).to_owned(),
        arguments_json: (*call.arguments_json).to_owned(),
    }
}

/// Converts a set of sequences in an outcome to references. The last ones of a long set have no reference in
/// the outcome, and only their sequence is returned.
pub fn refs(sequences: &Ranges, outcome: &Outcome) -> Vec<proto::UtteranceRef> {
    let point = |sequence: Sequence| match outcome.reference(sequence) {
        Some(found) => reference(found),
        None => proto::UtteranceRef { sequence: long(sequence.get()), ..Default::default() },
    };
    sequences.sequences().map(point).collect()
}

/// Converts an irregularity that a lenient call accepted.
pub fn irregularity(irregularity: Irregularity) -> proto::Irregularity {
    proto::Irregularity {
        index: Some(int(irregularity.index)),
        sequence: long(irregularity.sequence.get()),
        description: irregularity.description,
    }
}

/// Converts the counts of an erasure's effect on other conversations.
pub fn in_forks(in_forks: InForks) -> proto::InForks {
    proto::InForks {
        conversation_count: Some(int(in_forks.conversations)),
        utterance_count: Some(int(in_forks.utterances)),
    }
}

fn reference(reference: &Reference) -> proto::UtteranceRef {
    proto::UtteranceRef {
        utterance_id: reference.id.text(reference.sequence),
        sequence: long(reference.sequence.get()),
        position: reference.position.map(int),
        role: role(reference.role).into(),
        turn_number: Some(int(reference.turn)),
        token_count: Some(int(reference.tokens)),
        late: reference.late,
    }
}

/// Converts ranges of sequences.
pub fn ranges(ranges: &Ranges) -> Vec<proto::SequenceRange> {
    let range = |range: std::ops::RangeInclusive<Sequence>| proto::SequenceRange {
        first: long(range.start().get()),
        last: long(range.end().get()),
    };
    ranges.iter().map(range).collect()
}

/// Converts a segment of a summary.
pub fn segment(segment: &Segment) -> proto::Segment {
    proto::Segment {
        segment_number: int(segment.number),
        level: Some(int(segment.level)),
        covers: ranges(&segment.covers),
        text: segment.text(),
        token_count: Some(int(segment.tokens)),
        method: match &segment.llm_text {
            _ if segment.imported.is_some() => proto::SummaryMethod::Imported.into(),
            Some(_) => proto::SummaryMethod::Llm.into(),
            None => proto::SummaryMethod::Extractive.into(),
        },
        state: match segment.awaits {
            Some(_) => proto::SegmentState::Provisional.into(),
            None => proto::SegmentState::Final.into(),
        },
        model: segment.llm_text.as_ref().map(|text| text.model.to_string()).unwrap_or_default(),
        imported: segment.imported.map(|imported| proto::ImportedPeriod {
            start_time: Some(time(imported.start)),
            end_time: Some(time(imported.end)),
            conversation_count: (imported.conversations > 0).then(|| int(imported.conversations)),
        }),
    }
}

/// Returns a call's changes to the summary; `None` if there are none or the call is a replay.
pub fn summary_update<T>(applied: &Applied<T>) -> Option<proto::SummaryUpdate> {
    let (change, after) = (applied.change.as_ref()?, applied.state.as_ref()?);
    let changed = !change.segments_written.is_empty() || !change.segments_removed.is_empty();
    changed.then(|| proto::SummaryUpdate {
        written: change.segments_written.iter().map(|written| segment(written)).collect(),
        replaced_segment_numbers: change.segments_removed.iter().map(|number| int(*number)).collect(),
        token_count: Some(int(after.summary.tokens())),
    })
}

/// Returns the capacity of the window of `state`.
pub fn capacity(state: &Conversation, status: proto::ConversationStatus) -> proto::Capacity {
    let head = &state.head;
    proto::Capacity {
        conversation_id: id(state),
        recipient_id: head.identity.recipient.as_str().to_owned(),
        revision: long(head.revision.get()),
        status: status.into(),
        ..numbers(&Capacity::of(state))
    }
}

/// Converts the numbers of a window. The caller adds the id, the revision and the status.
pub fn numbers(capacity: &Capacity) -> proto::Capacity {
    let left = |max: Option<u32>, used: u64| max.map(|max| int(u64::from(max).saturating_sub(used)));
    proto::Capacity {
        utterance_count: Some(int(capacity.utterances)),
        soft_deleted_count: Some(int(capacity.forgotten)),
        live_utterance_count: Some(int(capacity.utterances.saturating_sub(capacity.forgotten))),
        turn_count: Some(int(capacity.turns)),
        token_count: Some(int(capacity.tokens)),
        max_utterances: capacity.max_utterances.map(int),
        max_tokens: capacity.max_tokens.map(int),
        max_turns: capacity.max_turns.map(int),
        keep_utterances: capacity.keep_utterances.map(int),
        keep_tokens: capacity.keep_tokens.map(int),
        keep_turns: capacity.keep_turns.map(int),
        available_utterances: left(capacity.max_utterances, capacity.utterances),
        available_tokens: left(capacity.max_tokens, capacity.tokens),
        over_limit: Some(!capacity.over_limit.is_empty()),
        over_limit_causes: capacity.over_limit.iter().map(|cause| over_limit(*cause).into()).collect(),
        archived_utterance_count: Some(int(capacity.archived)),
        summary: Some(proto::SummaryCapacity {
            token_count: Some(int(capacity.summary_tokens)),
            token_limit: capacity.summary_limit.map(int),
            segment_count: Some(int(capacity.segments)),
            covered_utterance_count: Some(int(capacity.covered)),
            provisional_segment_count: Some(int(capacity.provisional)),
        }),
        total_token_count: Some(int(capacity.tokens + capacity.summary_tokens)),
        compaction_advice: capacity.advice.map(advice),
        ..Default::default()
    }
}

fn advice(advice: Advice) -> proto::CompactionAdvice {
    proto::CompactionAdvice {
        threshold: Some(int(advice.threshold)),
        utterance_count: Some(int(advice.utterances)),
        keep_recent: Some(int(DEFAULT_KEEP_RECENT)),
    }
}

fn over_limit(cause: OverLimit) -> proto::OverLimitCause {
    same_name!(cause, OverLimit to OverLimitCause: NewestUnit OpenExchange Instructions Pinned)
}

/// Converts a conversation without its utterances and summary.
pub fn conversation(head: &Head, status: proto::ConversationStatus, active: bool) -> proto::Conversation {
    let (identity, ended) = (&head.identity, head.ended.as_deref());
    let text = |text: Option<&Arc<str>>| text.map(|text| (**text).to_owned()).unwrap_or_default();
    proto::Conversation {
        conversation_id: identity.key.id.as_str().to_owned(),
        recipient_id: identity.recipient.as_str().to_owned(),
        title: text(head.shown_title()),
        start_time: Some(time(identity.start_time)),
        update_time: Some(time(head.update_time)),
        status: status.into(),
        encoding: identity.encoding.name().to_owned(),
        policy: Some(policy(&head.policy)),
        labels: (*head.labels).clone(),
        revision: long(head.revision.get()),
        utterance_count: Some(int(head.stored)),
        window_token_count: Some(int(head.window_tokens)),
        active,
        summary: String::new(),
        end_time: ended.map(|ended| time(ended.time)),
        ended_reason: ended.map(|ended| ended.reason.to_string()).unwrap_or_default(),
        closing_summary: text(ended.and_then(|ended| ended.summary.as_ref())),
        forked_from: head.forked_from.as_deref().map(forked_from),
        forks: Vec::new(),
        closing_model: text(ended.and_then(|ended| Some(&ended.teller.as_ref()?.model))),
        is_compacted: !head.left.is_empty(),
    }
}

fn forked_from(from: &ForkedFrom) -> proto::ForkedFrom {
    proto::ForkedFrom {
        conversation_id: from.conversation.to_string(),
        sequence: Some(long(from.sequence.get())),
        approximate: from.approximate,
    }
}

fn policy(policy: &Policy) -> proto::Policy {
    let max = |marks: Option<Marks>| marks.map(|marks| int(marks.max()));
    let keep = |marks: Option<Marks>| marks.map(|marks| int(marks.keep()));
    proto::Policy {
        preset: proto::PolicyPreset::Unspecified.into(),
        max_utterances: max(policy.utterances),
        keep_utterances: keep(policy.utterances),
        max_tokens: max(policy.tokens),
        keep_tokens: keep(policy.tokens),
        max_turns: max(policy.turns),
        keep_turns: keep(policy.turns),
        summarization_enabled: Some(policy.summarization_enabled),
        summary_token_limit: policy.summary_token_limit.map(int),
        oversize: same_name!(policy.oversize, Oversize to Oversize: Keep Reject).into(),
        archive_limit: Some(int(policy.archive_limit)),
        expire_after: policy.expire_after.and_then(|after| after.try_into().ok()),
        llm_summaries: policy.llm_summaries,
        summary_model: policy.summary_model.as_ref().map(ToString::to_string),
    }
}

/// Returns a warning that concerns no place in the request.
pub(crate) fn warning(kind: proto::WarningKind, text: String) -> proto::Warning {
    proto::Warning { kind: kind.into(), text, place: String::new() }
}

/// Converts byte ranges to character ranges.
pub fn text_ranges(content: &str, ranges: &[Range<usize>]) -> Vec<proto::MatchedRange> {
    let (mut at, mut characters) = (0, 0);
    let mut upto = |byte: usize| {
        characters += content[at..byte].chars().count() as i32;
        at = byte;
        characters
    };
    ranges
        .iter()
        .map(|range| proto::MatchedRange { start: Some(upto(range.start)), end: Some(upto(range.end)) })
        .collect()
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use utterd_domain::{
        ConversationId, ConversationKey, Encoding, LineageId, More, Namespace, Original, RecipientId,
        ToolCall, UtteranceId, conversation::Identity, exchange::LateResult,
    };

    fn state() -> Conversation {
        let id = ConversationId::new("c").unwrap();
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id },
            recipient: RecipientId::default(),
            lineage: LineageId([1; 16]),
            start_time: Timestamp(0),
            encoding: Encoding::default(),
        };
        Conversation::new(identity, Policy::ROLLING)
    }

    /// An utterance with every part that it can have, each `length` bytes long.
    fn loaded(length: usize, entries: usize) -> Utterance {
        let text = || "x".repeat(length).into_boxed_str();
        let call = ToolCall { id: text(), name: text(), arguments_json: text() };
        let more = More {
            name: Some(text()),
            tool_calls: vec![call; entries],
            tool_call_id: Some(text()),
            tools_used: vec![text(); entries],
            metadata: (0..entries).map(|key| (format!("{key:0>9}"), text().into())).collect(),
            awaits_answer: true,
            extras_json: Some(text()),
            extras_tokens: u32::MAX,
            original: Some(Original { content: text(), edit_time: Timestamp(i64::MIN) }),
            late: Some(LateResult { caller: Sequence(1), tool: text() }),
            continues: true,
        };
        Utterance {
            sequence: Sequence(u64::MAX),
            unit: Sequence(1),
            create_time: Timestamp(i64::MIN),
            turn: u32::MAX,
            tokens: u32::MAX,
            id: UtteranceId::Given(text()),
            role: Role::Tool,
            forgotten: true,
            pinned: true,
            instruction: true,
            aside: true,
            content: text(),
            more: Some(Box::new(more)),
        }
    }

    #[test]
    fn no_utterance_takes_more_bytes_in_an_answer_than_pages_are_measured_by() {
        let state = state();
        for (length, entries) in [(0, 0), (0, 256), (1, 64), (127, 3), (128, 256), (20_000, 5), (1 << 20, 1)]
        {
            let given = loaded(length, entries);
            let assigned = Utterance { id: UtteranceId::Assigned(LineageId([255; 16])), ..given.clone() };
            for stored in [assigned, given] {
                let page = proto::ListUtterancesResponse {
                    utterances: vec![utterance(&stored, &state)],
                    ..Default::default()
                };
                let (taken, measured) = (page.encoded_len(), stored.answer_bytes());
                assert!(taken <= measured, "{taken} bytes, measured as {measured}: {length}, {entries}");
                assert!(measured <= taken + 256 + 64 * entries + length, "{taken} against {measured}");
            }
        }
    }
}
