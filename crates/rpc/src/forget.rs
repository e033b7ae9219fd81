//! Forget.

use tonic::Request;

use crate::{
    Services,
    convert::{
        decode, encode,
        messages::{ids, message_format, newest},
    },
    proto,
};
use utterd_domain::{
    Ranges, Reason, Refusal, Revision, Sequence,
    forget::{Forget, ForgetSelected, How, Selector, Warning},
    forgetting::{self, Asked},
};
use utterd_engine::{Caller, ForgetCall, ForgetReply, LONG_TEXT_BYTES, Selected, ToForget, offload};
use utterd_formats::Format;

/// The parts of a request that its response needs.
pub(super) struct Told {
    /// The parsed instruction; `None` if a selector was given.
    instruction: Option<Asked>,
    mode: proto::ForgetMode,
    /// Whether the forgotten messages are returned, and in which format.
    messages: Option<Option<Format>>,
}

impl Services {
    /// Decodes the request into the caller, the call, and the parts that the response needs.
    pub(super) fn forget_request(
        &self,
        request: Request<proto::ForgetRequest>,
    ) -> Result<(Caller, ForgetCall, Told), Refusal> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let messages = request.return_messages.then(|| message_format(request.format)).transpose()?;
        if request.format != 0 && messages.is_none() {
            return Err(Refusal::invalid("format", "is accepted only with return_messages"));
        }
        let call = forget_call(request)?;
        let mode = if call.forget.is_hard() { proto::ForgetMode::Hard } else { proto::ForgetMode::Soft };
        let instruction = match &call.forget {
            ToForget::Instructed(forget) => Some(forget.instruction.clone()),
            ToForget::Named(_) => None,
        };
        Ok((caller, call, Told { instruction, mode, messages }))
    }

    /// Builds the response. Times relative to now count from the time at which the call took effect.
    pub(super) async fn forgotten(&self, told: &Told, reply: &ForgetReply) -> proto::ForgetResponse {
        let outcome = &reply.outcome;
        let understood_as = match &told.instruction {
            Some(instruction) => instruction.at(outcome.time).to_string(),
            None => named(&outcome.forgotten),
        };
        let what = told.instruction.as_ref().map_or("the selector", |_| &understood_as).to_owned();
        let nothing = outcome.forgotten.is_empty() && outcome.rebuilt_segments == 0;
        let nothing = nothing.then_some(Warning::NothingForgotten(what));
        let excess = reply.value.as_ref().and_then(|selected| selected.excess.clone());
        let warnings = nothing.into_iter().chain(excess.map(Warning::WouldBeRefused));
        proto::ForgetResponse {
            conversation_id: outcome.conversation.to_string(),
            revision: encode::long(outcome.revision.get()),
            forgotten: encode::refs(&outcome.forgotten, outcome),
            rebuilt_segments: Some(encode::int(outcome.rebuilt_segments)),
            capacity: Some(self.capacity(reply, None)),
            understood_as,
            replayed: reply.replayed(),
            mode: told.mode.into(),
            warnings: warnings.map(|warning| encoded(&warning)).collect(),
            still_summarised: encode::ranges(&outcome.still_told),
            messages: match (told.messages, &reply.value) {
                (Some(format), Some(selected)) => messages(selected, format).await,
                _ => Vec::new(),
            },
            evicted: encode::refs(&outcome.evicted, outcome),
            in_forks: outcome.in_forks.map(encode::in_forks),
        }
    }
}

/// Returns the forgotten messages.
async fn messages(selected: &Selected, format: Option<Format>) -> Vec<proto::Message> {
    let (before, utterances) = (selected.before.clone(), selected.utterances.clone());
    let bytes: usize = utterances.iter().map(|utterance| utterance.text_bytes()).sum();
    offload(bytes > LONG_TEXT_BYTES, move || newest(&before, &utterances, format)).await
}

/// Returns the short instruction that selects the forgotten utterances.
fn named(forgotten: &Ranges) -> String {
    let range = |range: std::ops::RangeInclusive<Sequence>| match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{}-{}", range.start(), range.end()),
    };
    match forgotten.is_empty() {
        true => String::new(),
        false => format!("sequence:{}", forgotten.iter().map(range).collect::<Vec<_>>().join(",")),
    }
}

fn forget_call(mut request: proto::ForgetRequest) -> Result<ForgetCall, Refusal> {
    let attempt = decode::attempt_of!("Forget", request)?;
    let how = how(&request)?;
    let expected = decode::revision(request.expected_revision)?;
    let forget = match request.selector.take() {
        Some(_) if !request.instructions.is_empty() => {
            let text = "is given with instructions; accepted: one of the two";
            return Err(Refusal::invalid("selector", text));
        }
        Some(selected) => ToForget::Named(ForgetSelected { selector: selector(selected)?, how, expected }),
        None => ToForget::Instructed(told(&request.instructions, how, expected)?),
    };
    Ok(ForgetCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        forget,
        dry_run: request.dry_run,
        attempt,
    })
}

fn told(instructions: &str, how: How, expected: Option<Revision>) -> Result<Forget, Refusal> {
    let instruction = forgetting::parse(instructions).map_err(|error| {
        Refusal::field(Reason::InstructionNotUnderstood, "instructions", error.to_string())
    })?;
    Ok(Forget { instruction, hard: how == How::Hard, expected })
}

fn how(request: &proto::ForgetRequest) -> Result<How, Refusal> {
    match (decode::choice("mode", request.mode, "SOFT (1) and HARD (2)")?, request.exact) {
        (proto::ForgetMode::Hard, true) if request.selector.is_some() => Ok(How::Exact),
        (_, true) => {
            let text = "is accepted only with a selector and the mode HARD (2): a part of an exchange cannot be restored";
            Err(Refusal::invalid("exact", text))
        }
        (proto::ForgetMode::Hard, false) => Ok(How::Hard),
        (proto::ForgetMode::Unspecified | proto::ForgetMode::Soft, false) => Ok(How::Soft),
    }
}

fn selector(selector: proto::ForgetSelector) -> Result<Selector, Refusal> {
    let newest = selector.newest_messages.map(|most| decode::positive("selector.newest_messages", most));
    let selected = Selector {
        ids: ids("selector.utterance_ids", selector.utterance_ids)?,
        sequences: decode::sequences("selector.sequences", &selector.sequences)?,
        newest_messages: newest.transpose()?.unwrap_or(0) as usize,
    };
    match selected == Selector::default() {
        true => {
            let text = "is empty; accepted: utterance_ids, sequences and newest_messages";
            Err(Refusal::invalid("selector", text))
        }
        false => Ok(selected),
    }
}

fn encoded(warning: &Warning) -> proto::Warning {
    let kind = match warning {
        Warning::WouldBeRefused(_) => proto::WarningKind::WouldBeRefused,
        Warning::NothingForgotten(_) => proto::WarningKind::NothingForgotten,
    };
    encode::warning(kind, warning.to_string())
}
