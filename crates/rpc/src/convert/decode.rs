//! Converts messages to calls: parse once, never validate twice.

use std::{sync::Arc, time::Duration};

use prost::Message;
use prost_types::Timestamp as WireTime;
use tonic::metadata::MetadataMap;
use xxhash_rust::xxh3::xxh3_128;

use crate::{RequestLimits, proto};
use utterd_domain::{
    ConversationId, Draft, More, Oversize, Policy, Ranges, Reason, RecipientId, Refusal, RequestId, Revision,
    Role, Sequence, Timestamp, ToolCall, UtteranceId,
    context::RecallLimits,
    draft::Field,
    limits::{MAX_ID_BYTES, MAX_MODEL_BYTES, MAX_STALENESS},
    policy::PolicyUpdate,
    quoted,
};
use utterd_engine::{Address, Attempt, Filter};
use utterd_formats::{extras::Parts, picture_tokens};
use utterd_telemetry as telemetry;

/// The largest accepted number of recalled matches.
const MAX_RECALLED: i32 = 50;
/// The maximum number of focus areas, and the maximum bytes of one.
const MAX_FOCUS_AREAS: (usize, usize) = (32, 256);

/// Reads the address of a conversation; an empty id counts as not given.
pub fn address(conversation_id: &str, recipient_id: &str) -> Result<Address, Refusal> {
    let conversation =
        (!conversation_id.is_empty()).then(|| self::conversation_id(conversation_id)).transpose()?;
    telemetry::about(conversation_id);
    let recipient = (!recipient_id.is_empty()).then(|| self::recipient_id(recipient_id)).transpose()?;
    Ok(Address { conversation, recipient, ..Address::default() })
}

/// Reads the address of a read that may be answered with an older state.
pub fn read_address(
    conversation_id: &str,
    recipient_id: &str,
    max_staleness: Option<prost_types::Duration>,
) -> Result<Address, Refusal> {
    let max_staleness = self::max_staleness(max_staleness.unwrap_or_default())?;
    Ok(Address { max_staleness, ..address(conversation_id, recipient_id)? })
}

fn max_staleness(given: prost_types::Duration) -> Result<Duration, Refusal> {
    let read = span(given).filter(|read| *read <= MAX_STALENESS);
    read.ok_or_else(|| {
        let (seconds, nanos) = (given.seconds, given.nanos);
        let text = format!("is {seconds} s and {nanos} ns; accepted: 0 s to {} s", MAX_STALENESS.as_secs());
        Refusal::invalid("max_staleness", text)
    })
}

/// Reads a conversation's id.
pub fn conversation_id(text: &str) -> Result<ConversationId, Refusal> {
    ConversationId::new(text).map_err(|error| Refusal::bad_id("conversation_id", &error))
}

/// Reads a recipient's id.
pub fn recipient_id(text: &str) -> Result<RecipientId, Refusal> {
    RecipientId::new(text).map_err(|error| Refusal::bad_id("recipient_id", &error))
}

/// Reads a caller's session; an empty one counts as not given.
pub fn session(text: &str) -> Result<Option<Box<str>>, Refusal> {
    match text.len() > MAX_ID_BYTES || text.chars().any(char::is_control) {
        true => {
            let text = format!("must be 1 to {MAX_ID_BYTES} bytes without control characters");
            Err(Refusal::id("session_id", text))
        }
        false => Ok((!text.is_empty()).then(|| text.into())),
    }
}

/// Returns how long a call can wait for an optional part of its answer: its timeout, less a margin for sending
/// the answer. `None` without a timeout.
pub fn patience(metadata: &MetadataMap) -> Result<Option<Duration>, Refusal> {
    let Some(timeout) = metadata.get("grpc-timeout") else { return Ok(None) };
    let parsed = timeout.to_str().ok().and_then(grpc_timeout);
    let timeout = parsed.ok_or_else(|| Refusal::invalid("grpc-timeout", "is not a gRPC timeout"))?;
    let margin = (timeout / 10).clamp(Duration::from_millis(20), Duration::from_secs(2));
    Ok(Some(timeout.saturating_sub(margin)))
}

/// Parses a gRPC timeout: at most 8 digits and a unit.
pub fn grpc_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = digits.parse().ok().filter(|_| digits.len() <= 8)?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3_600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

/// Returns the attempt with this request id; `body` is the request without the id.
pub fn attempt<M: Message>(
    rpc: &'static str,
    request_id: &str,
    body: impl FnOnce() -> M,
) -> Result<Option<Attempt>, Refusal> {
    if request_id.is_empty() {
        return Ok(None);
    }
    let id = RequestId::new(request_id).map_err(|error| Refusal::bad_id("request_id", &error))?;
    Ok(Some(Attempt { rpc, id, body: xxh3_128(&body().encode_to_vec()) }))
}

/// Returns the attempt of a request that has a `request_id`.
macro_rules! attempt_of {
    ($rpc:literal, $request:expr) => {
        $crate::convert::decode::attempt($rpc, &$request.request_id, || {
            let mut body = $request.clone();
            body.request_id.clear();
            body
        })
    };
}
pub(crate) use attempt_of;

/// Reads the conversation that a request reads, and how recent its state must be.
macro_rules! read_address_of {
    ($request:expr) => {
        $crate::convert::decode::read_address(
            &$request.conversation_id,
            &$request.recipient_id,
            $request.max_staleness,
        )
    };
}
pub(crate) use read_address_of;

/// Reads the revision that a caller expects.
pub fn revision(expected: Option<i64>) -> Result<Option<Revision>, Refusal> {
    let refuse = |number| Refusal::invalid("expected_revision", format!("is {number}; accepted: 0 or more"));
    expected.map(|number| u64::try_from(number).map(Revision).map_err(|_| refuse(number))).transpose()
}

/// Reads the utterances of a request. Each has passed [`Draft::check`].
pub fn drafts(
    utterances: Vec<proto::NewUtterance>,
    limits: RequestLimits,
    lenient: bool,
) -> Result<Vec<Draft>, Refusal> {
    if utterances.is_empty() {
        let text = format!("is empty; accepted: 1 to {} utterances", limits.max_batch);
        return Err(Refusal::field(Reason::EmptyBatch, "utterances", text));
    }
    batch("utterances", utterances.len(), limits)?;
    let checked = |(index, utterance)| {
        let field = Field { list: "utterances", index };
        let draft = draft(field, utterance)?;
        draft.check(field, limits.max_content_bytes, lenient)?;
        Ok(draft)
    };
    utterances.into_iter().enumerate().map(checked).collect()
}

/// Refuses a batch over its limit.
pub fn batch(field: &str, count: usize, limits: RequestLimits) -> Result<(), Refusal> {
    let text = || format!("has {count} entries; accepted: at most {}", limits.max_batch);
    match count > limits.max_batch {
        true => Err(Refusal::field(Reason::BatchTooLarge, field, text())),
        false => Ok(()),
    }
}

/// Reads one utterance, without [`Draft::check`].
pub fn draft(field: Field<'_>, mut utterance: proto::NewUtterance) -> Result<Draft, Refusal> {
    let id = match utterance.utterance_id.as_str() {
        "" => None,
        text => match UtteranceId::given(text) {
            Ok(_) => Some(text.into()),
            Err(error) => return Err(Refusal::bad_id(field.at("utterance_id"), &error)),
        },
    };
    let turn = given(|| field.at("turn_number"), utterance.turn_number, positive)?;
    let create_time = given(|| field.at("create_time"), utterance.create_time, time)?;
    let content = std::mem::take(&mut utterance.content).into();
    let mut draft = Draft {
        id,
        role: role(|| field.at("role"), utterance.role)?,
        turn,
        create_time,
        pinned: utterance.pinned,
        content,
        more: more(field, utterance)?,
    };
    let undeclared =
        draft.more.as_ref().is_some_and(|more| more.extras_tokens == 0 && more.extras_json.is_some());
    let pictures = if undeclared { picture_tokens(&Parts::from(&draft)) } else { 0 };
    draft.more.iter_mut().filter(|_| undeclared).for_each(|more| more.extras_tokens = pictures);
    Ok(draft)
}

fn more(field: Field<'_>, utterance: proto::NewUtterance) -> Result<Option<Box<More>>, Refusal> {
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    let extras_tokens = u32::try_from(utterance.extras_token_count)
        .map_err(|_| Refusal::invalid(field.at("extras_token_count"), "is negative; accepted: 0 or more"))?;
    if !utterance.extras_json.is_empty() {
        let json: Result<serde_json::Map<_, _>, _> = serde_json::from_str(&utterance.extras_json);
        json.map_err(|error| {
            Refusal::invalid(field.at("extras_json"), format!("is not a JSON object ({error})"))
        })?;
    }
    let call = |call: &proto::ToolCall| ToolCall {
        id: call.id.as_str().into(),
        name: call.name.as_str().into(),
        arguments_json: call.arguments_json.as_str().into(),
    };
    let more = More {
        name: text(&utterance.name),
        tool_calls: utterance.tool_calls.iter().map(call).collect(),
        tool_call_id: text(&utterance.tool_call_id),
        tools_used: utterance.tools_used.iter().map(|tool| tool.as_str().into()).collect(),
        metadata: utterance.metadata,
        awaits_answer: utterance.awaits_answer,
        extras_json: text(&utterance.extras_json),
        extras_tokens,
        original: None,
        late: None,
        continues: false,
    };
    Ok((more != More::default()).then(|| Box::new(more)))
}

/// Reads a role.
pub fn role(field: impl FnOnce() -> String, role: i32) -> Result<Role, Refusal> {
    match proto::Role::try_from(role) {
        Ok(proto::Role::System) => Ok(Role::System),
        Ok(proto::Role::User) => Ok(Role::User),
        Ok(proto::Role::Assistant) => Ok(Role::Assistant),
        Ok(proto::Role::Tool) => Ok(Role::Tool),
        Ok(proto::Role::Unspecified) | Err(_) => Err(Refusal::field(
            Reason::UnknownRole,
            field(),
            format!(
                "is {role}; accepted: ROLE_SYSTEM (1), ROLE_USER (2), ROLE_ASSISTANT (3) and ROLE_TOOL (4)"
            ),
        )),
    }
}

/// Reads a number that is 1 or more.
pub fn positive(field: &str, number: i32) -> Result<u32, Refusal> {
    match u32::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Refusal::invalid(field, format!("is {number}; accepted: 1 or more"))),
    }
}

/// Reads a field that can be missing: then nobody asks for its name.
pub fn given<F: AsRef<str>, T, U>(
    field: impl FnOnce() -> F,
    value: Option<T>,
    read: impl FnOnce(&str, T) -> Result<U, Refusal>,
) -> Result<Option<U>, Refusal> {
    value.map(|value| read(field().as_ref(), value)).transpose()
}

/// Reads the bounds of a list of sequences: it starts after the first, and ends before the second.
pub fn between(after: Option<i64>, before: Option<i64>) -> Result<(Sequence, Option<Sequence>), Refusal> {
    let sequence = |field: &str, number: i64, least: i64| match u64::try_from(number) {
        Ok(sequence) if number >= least => Ok(Sequence(sequence)),
        _ => Err(Refusal::invalid(field, format!("is {number}; accepted: {least} or more"))),
    };
    let after = after.map(|after| sequence("after_sequence", after, 0)).transpose()?;
    let before = before.map(|before| sequence("before_sequence", before, 1)).transpose()?;
    Ok((after.unwrap_or(Sequence(0)), before))
}

/// Reads the limits of a recall.
pub fn recall_limits(limit: Option<i32>, max_percent: Option<i32>) -> Result<RecallLimits, Refusal> {
    let within = |field: &str, number: Option<i32>, most: i32| match number {
        Some(number) if !(1..=most).contains(&number) => {
            Err(Refusal::invalid(field, format!("is {number}; accepted: 1 to {most}")))
        }
        number => Ok(number.map(i32::unsigned_abs)),
    };
    let matches = within("recall.limit", limit, MAX_RECALLED)?.map(|limit| limit as usize);
    Ok(RecallLimits { matches, percent: within("recall.max_percent", max_percent, 100)? })
}

/// Reads the least relevance of a match.
pub fn min_relevance(field: &str, given: Option<f64>) -> Result<Option<f64>, Refusal> {
    match given {
        Some(least) if !(0.0..=1.0).contains(&least) => {
            Err(Refusal::invalid(field, format!("is {least}; accepted: 0 to 1")))
        }
        given => Ok(given),
    }
}

/// Reads a number that is 0 or more.
pub fn natural(field: &str, number: i32) -> Result<u32, Refusal> {
    u32::try_from(number).map_err(|_| Refusal::invalid(field, format!("is {number}; accepted: 0 or more")))
}

/// Reads a sequence, which is 1 or more.
pub fn sequence(field: &str, number: i64) -> Result<Sequence, Refusal> {
    match u64::try_from(number) {
        Ok(number) if number > 0 => Ok(Sequence(number)),
        _ => Err(Refusal::invalid(field, format!("is {number}; accepted: 1 or more"))),
    }
}

/// Utterances or messages per page, by default and at most.
pub const PAGE: (usize, usize) = (100, 1_000);

/// Reads ranges of sequences, and limits their number.
pub fn sequences(field: &str, ranges: &[proto::SequenceRange]) -> Result<Ranges, Refusal> {
    const MOST: usize = 1_000;
    at_most(field, ranges.len(), MOST)?;
    let mut sequences = Ranges::new();
    for (index, &proto::SequenceRange { first, last }) in ranges.iter().enumerate() {
        match (u64::try_from(first), u64::try_from(last)) {
            (Ok(from @ 1..), Ok(to)) if from <= to => sequences.insert(Sequence(from), Sequence(to)),
            _ => {
                let text =
                    format!("is {first} to {last}; accepted: 1 or more, the last not before the first");
                return Err(Refusal::invalid(format!("{field}[{index}]"), text));
            }
        }
    }
    Ok(sequences)
}

/// Reads a time between the years 1 and 9999.
pub fn time(field: &str, time: WireTime) -> Result<Timestamp, Refusal> {
    const YEAR_1: i64 = -62_135_596_800;
    const YEAR_9999: i64 = 253_402_300_799;
    let valid = (YEAR_1..=YEAR_9999).contains(&time.seconds) && (0..1_000_000_000).contains(&time.nanos);
    match valid {
        true => Ok(Timestamp(time.seconds * 1_000_000 + i64::from(time.nanos) / 1_000)),
        false => Err(Refusal::invalid(field, "is not a time between the years 1 and 9999")),
    }
}

/// Reads the changes to a policy; `field` is their field in the request.
pub fn policy(field: &str, policy: &proto::Policy) -> Result<PolicyUpdate, Refusal> {
    let at = |name: &str| format!("{field}.{name}");
    let natural = |name: &str, number: Option<i32>| given(|| at(name), number, self::natural);
    let positive = |name: &str, number: Option<i32>| given(|| at(name), number, self::positive);
    Ok(PolicyUpdate {
        preset: preset(field, policy.preset)?,
        max_utterances: natural("max_utterances", policy.max_utterances)?,
        keep_utterances: positive("keep_utterances", policy.keep_utterances)?,
        max_tokens: natural("max_tokens", policy.max_tokens)?,
        keep_tokens: positive("keep_tokens", policy.keep_tokens)?,
        max_turns: natural("max_turns", policy.max_turns)?,
        keep_turns: positive("keep_turns", policy.keep_turns)?,
        summarization_enabled: policy.summarization_enabled,
        summary_token_limit: natural("summary_token_limit", policy.summary_token_limit)?,
        oversize: same_name!(&at("oversize"), policy.oversize, Oversize to Oversize: Keep Reject)?,
        archive_limit: natural("archive_limit", policy.archive_limit)?,
        expire_after: given(|| at("expire_after"), policy.expire_after, duration)?,
        llm_summaries: policy.llm_summaries,
        summary_model: policy.summary_model.as_ref().map(|model| summary_model(field, model)).transpose()?,
    })
}

fn summary_model(field: &str, model: &str) -> Result<Arc<str>, Refusal> {
    line(&format!("{field}.summary_model"), model, MAX_MODEL_BYTES)?;
    Ok(model.into())
}

/// Refuses a text of more than `most` bytes, or with control characters.
pub fn line(field: &str, text: &str, most: usize) -> Result<(), Refusal> {
    let refused = || format!("must be at most {most} bytes without control characters");
    match text.len() > most || text.chars().any(char::is_control) {
        true => Err(Refusal::invalid(field, refused())),
        false => Ok(()),
    }
}

/// Refuses a list of more than `most` entries.
pub fn at_most(field: &str, count: usize, most: usize) -> Result<(), Refusal> {
    match count > most {
        true => Err(Refusal::invalid(field, format!("has {count} entries; accepted: at most {most}"))),
        false => Ok(()),
    }
}

/// Reads a choice; `accepted` lists the choices for the refusal of another number.
pub fn choice<E: TryFrom<i32>>(field: &str, number: i32, accepted: &str) -> Result<E, Refusal> {
    let refused = |_| Refusal::invalid(field, format!("is {number}; accepted: {accepted}"));
    E::try_from(number).map_err(refused)
}

/// Reads a choice between the variants of a generated enum as the variant with the same name, given the names of all
/// variants; `None` if it is UNSPECIFIED.
macro_rules! same_name {
    ($field:expr, $number:expr, $from:ident to $to:ident: $($name:ident)*) => {{
        type Wire = $crate::proto::$from;
        match Wire::try_from($number) {
            Ok(Wire::Unspecified) => Ok(None),
            $(Ok(Wire::$name) => Ok(Some($to::$name)),)*
            Err(_) => {
                let names = [$((Wire::$name.as_str_name(), Wire::$name as i32)),*];
                let prefix = Wire::Unspecified.as_str_name().trim_end_matches("UNSPECIFIED");
                Err($crate::convert::decode::no_choice($field, $number, prefix, &names))
            }
        }
    }};
}
pub(crate) use same_name;

/// Returns the refusal of a number that is none of the choices, which are named behind a `prefix`.
pub fn no_choice(field: &str, number: i32, prefix: &str, choices: &[(&str, i32)]) -> Refusal {
    let choice = |(name, number): &(&str, i32)| format!("{} ({number})", name.trim_start_matches(prefix));
    let mut choices: Vec<_> = choices.iter().map(choice).collect();
    let last = choices.pop().unwrap_or_default();
    Refusal::invalid(field, format!("is {number}; accepted: {} and {last}", choices.join(", ")))
}

fn preset(field: &str, preset: i32) -> Result<Option<Policy>, Refusal> {
    let accepted = "ROLLING (1), TURNS (2) and SESSION (3)";
    Ok(match choice(&format!("{field}.preset"), preset, accepted)? {
        proto::PolicyPreset::Unspecified => None,
        proto::PolicyPreset::Rolling => Some(Policy::ROLLING),
        proto::PolicyPreset::Turns => Some(Policy::TURNS),
        proto::PolicyPreset::Session => Some(Policy::SESSION),
    })
}

/// Reads a duration that is not negative.
pub fn duration(field: &str, duration: prost_types::Duration) -> Result<Duration, Refusal> {
    let accepted = "is negative, or no duration; accepted: 0 s or more, with 0 to 999,999,999 nanos";
    span(duration).ok_or_else(|| Refusal::invalid(field, accepted))
}

/// A duration of 0 s or more, in its normal form: normalising the others can overflow.
fn span(given: prost_types::Duration) -> Option<Duration> {
    let nanos = u32::try_from(given.nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(given.seconds).ok()?, nanos))
}

/// Reads a filter.
pub fn filter(filter: proto::RememberFilter) -> Result<Filter, Refusal> {
    let at = |name: &str| format!("filter.{name}");
    let natural = |name: &str, number: Option<i32>| given(|| at(name), number, self::natural);
    let sequence = |name: &str, number: Option<i64>| given(|| at(name), number, self::sequence);
    let time = |name: &str, time: Option<WireTime>| given(|| at(name), time, self::time);
    let role = |(index, role): (usize, &i32)| self::role(|| format!("filter.roles[{index}]"), *role);
    let decoded = Filter {
        roles: filter.roles.iter().enumerate().map(role).collect::<Result<_, _>>()?,
        min_turn: natural("min_turn", filter.min_turn)?,
        max_turn: natural("max_turn", filter.max_turn)?,
        min_sequence: sequence("min_sequence", filter.min_sequence)?,
        max_sequence: sequence("max_sequence", filter.max_sequence)?,
        start_time: time("start_time", filter.start_time)?,
        end_time: time("end_time", filter.end_time)?,
        names: filter.names,
        pinned: filter.pinned,
        metadata: filter.metadata,
    };
    ordered(&at("max_turn"), decoded.min_turn, decoded.max_turn)?;
    ordered(&at("max_sequence"), decoded.min_sequence, decoded.max_sequence)?;
    let end = decoded.end_time.map(|end| Timestamp(end.0.saturating_sub(1)));
    ordered(&at("end_time"), decoded.start_time, end)?;
    Ok(decoded)
}

fn ordered<T: PartialOrd>(field: &str, low: Option<T>, high: Option<T>) -> Result<(), Refusal> {
    match low.zip(high).is_some_and(|(low, high)| high < low) {
        true => Err(Refusal::invalid(field, "is before the start of the range")),
        false => Ok(()),
    }
}

/// Returns the paths of a mask; refuses one without paths, or with a path that is not `accepted`.
pub fn mask<'a>(
    mask: Option<&'a prost_types::FieldMask>,
    accepted: &[&str],
) -> Result<&'a [String], Refusal> {
    let list = accepted.join(", ");
    match mask {
        Some(mask) if !mask.paths.is_empty() => {
            match mask.paths.iter().find(|path| !accepted.contains(&path.as_str())) {
                Some(path) => {
                    let text = format!("has {}; accepted: {list}", quoted(path));
                    Err(Refusal::invalid("update_mask", text))
                }
                None => Ok(&mask.paths),
            }
        }
        _ => Err(Refusal::invalid("update_mask", format!("is empty; accepted: {list}"))),
    }
}

/// Checks focus areas: words that give a sentence more weight.
pub fn focus(areas: Vec<String>) -> Result<Vec<String>, Refusal> {
    let (most, bytes) = MAX_FOCUS_AREAS;
    at_most("focus_areas", areas.len(), most)?;
    match areas.iter().position(|area| area.is_empty() || area.len() > bytes) {
        Some(index) => {
            let text = format!("has {} bytes; accepted: 1 to {bytes}", areas[index].len());
            Err(Refusal::invalid(format!("focus_areas[{index}]"), text))
        }
        None => Ok(areas),
    }
}

/// Returns the bytes of all contents and arguments.
pub fn said_bytes(utterances: &[proto::NewUtterance]) -> usize {
    let called = |utterance: &proto::NewUtterance| -> usize {
        utterance.tool_calls.iter().map(|call| call.arguments_json.len()).sum()
    };
    utterances.iter().map(|utterance| utterance.content.len() + called(utterance)).sum()
}
