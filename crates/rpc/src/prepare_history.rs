//! PrepareHistory: prepares a history that the caller stores.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    RequestLimits, Services,
    build_context::placement,
    conversation::encoding,
    convert::{decode, encode},
    proto,
};
use utterd_domain::{
    Draft, Reason, Refusal, Size,
    draft::Field,
    history::{
        DropReason, Dropped, Limits,
        alternation::Alternation,
        recall::{RECALL_PERCENT, Recall},
    },
    limits::MAX_PROMPT_BYTES,
};
use utterd_engine::{Caller, LONG_TEXT_BYTES, offload};
use utterd_formats::history::{
    Compaction, DEFAULT_MAX_BYTES, DEFAULT_MAX_MESSAGES, Format, Incoming, Prepared, Request, Warning,
    WarningKind, prepare, prompt, read::read,
};

/// A limit that no history reaches: a request is smaller.
const UNLIMITED: usize = i32::MAX as usize;

impl Services {
    pub(super) async fn prepared_history(
        &self,
        caller: &Caller,
        request: proto::PrepareHistoryRequest,
    ) -> Result<proto::PrepareHistoryResponse, Status> {
        let encoding = match request.model.as_str() {
            "" => self.engine.defaults().encoding,
            name => encoding("model", name).or_status()?,
        };
        let counter = self.engine.counter(encoding);
        let limits = self.limits;
        let what = asked(&request, limits).or_status()?;
        let bytes =
            request.messages_json.len() + request.prompt.len() + decode::said_bytes(&request.utterances);
        let prepare = move || {
            let (incoming, prompt) = brought(request, limits)?;
            prepare(incoming, prompt, &what, counter)
        };
        let prepared = offload(bytes > LONG_TEXT_BYTES, prepare).await.or_status()?;
        self.engine.prepared(caller, prepared.message_count);
        Ok(response(prepared))
    }
}

/// Reads the request, without the history.
fn asked(request: &proto::PrepareHistoryRequest, limits: RequestLimits) -> Result<Request, Refusal> {
    let messages = decode::given(|| "max_messages", request.max_messages, decode::natural)?;
    let bytes = decode::given(|| "max_bytes", request.max_bytes, decode::positive)?;
    let tokens = decode::given(|| "token_budget", request.token_budget, decode::positive)?;
    let summary = compaction(request)?;
    let or = |default: usize| if summary.is_some() { UNLIMITED } else { default };
    Ok(Request {
        limits: Limits {
            messages: messages.map_or(or(DEFAULT_MAX_MESSAGES), |messages| messages as usize),
            bytes: bytes.map_or(or(DEFAULT_MAX_BYTES), |bytes| bytes as usize),
            tokens,
        },
        alternation: decode::same_name!(
            "alternation", request.alternation, Alternation to Alternation: Merge Drop Reject
        )?
        .unwrap_or_default(),
        format: format(request.format)?,
        max_content_bytes: limits.max_content_bytes,
        recall: request.recall.as_ref().map(|asked| recall(asked, &request.prompt)).transpose()?,
        whole_messages: request.whole_messages,
        summary,
    })
}

/// Reads how to summarise; `None` if nothing is to be summarised.
fn compaction(request: &proto::PrepareHistoryRequest) -> Result<Option<Compaction>, Refusal> {
    let placement = placement(request.summary_placement)?;
    let focus = decode::focus(request.focus_areas.clone())?;
    let keep_recent = decode::given(|| "keep_recent", request.keep_recent, decode::natural)?;
    let limit = request.summary_token_limit.unwrap_or_default();
    let token_limit = decode::natural("summary_token_limit", limit)?;
    Ok((token_limit > 0).then_some(Compaction { token_limit, placement, keep_recent, focus }))
}

/// Reads the prompt and limits of the recall; the default prompt is the request's own.
fn recall(asked: &proto::HistoryRecall, prompt: &str) -> Result<Recall, Refusal> {
    let (what, field) =
        if asked.prompt.is_empty() { (prompt, "prompt") } else { (&*asked.prompt, "recall.prompt") };
    if what.is_empty() {
        let text = "is empty; without a prompt it is required";
        return Err(Refusal::invalid("recall.prompt", text));
    }
    if what.len() > MAX_PROMPT_BYTES {
        let text = format!(
            "has {} bytes; accepted: at most {MAX_PROMPT_BYTES} for what is to be recalled",
            what.len()
        );
        return Err(Refusal::too_large_since(
            field,
            Size { bytes: what.len(), limit: MAX_PROMPT_BYTES },
            text,
        ));
    }
    let limits = decode::recall_limits(asked.limit, asked.max_percent)?;
    Ok(Recall {
        prompt: what.to_owned(),
        matches: limits.matches,
        percent: limits.percent.unwrap_or(RECALL_PERCENT),
        min_relevance: decode::min_relevance("recall.min_relevance", asked.min_relevance)?,
    })
}

fn format(number: i32) -> Result<Format, Refusal> {
    match proto::ContextFormat::try_from(number) {
        Ok(proto::ContextFormat::Unspecified | proto::ContextFormat::OpenaiChat) => Ok(Format::OpenAiChat),
        Ok(proto::ContextFormat::AnthropicMessages) => Ok(Format::AnthropicMessages),
        Ok(proto::ContextFormat::Text) | Err(_) => {
            let text = format!("is {number}; accepted: OPENAI_CHAT (1) and ANTHROPIC_MESSAGES (2)");
            Err(Refusal::invalid("format", text))
        }
    }
}

/// Reads the history and the prompt.
fn brought(
    request: proto::PrepareHistoryRequest,
    limits: RequestLimits,
) -> Result<(Incoming, Option<Draft>), Refusal> {
    let incoming = match (request.messages_json.is_empty(), request.utterances.is_empty()) {
        (false, false) => {
            return Err(Refusal::invalid(
                "utterances",
                "is given with messages_json; accepted: one of the two",
            ));
        }
        (false, true) => read(&request.messages_json)?,
        (true, _) => utterances(request.utterances, limits)?,
    };
    let prompt = (!request.prompt.is_empty()).then(|| checked_prompt(&request.prompt, limits)).transpose()?;
    if prompt.is_none() && incoming.count == 0 {
        return Err(Refusal::field(
            Reason::EmptyUtterance,
            "prompt",
            "is empty; without a history it is required",
        ));
    }
    Ok((incoming, prompt))
}

/// Reads the utterances; malformed ones are dropped, not refused.
fn utterances(utterances: Vec<proto::NewUtterance>, limits: RequestLimits) -> Result<Incoming, Refusal> {
    const FIELD: &str = "utterances";
    decode::batch(FIELD, utterances.len(), limits)?;
    let mut incoming = Incoming::of(FIELD, utterances.len(), decode::said_bytes(&utterances));
    for (index, utterance) in utterances.into_iter().enumerate() {
        incoming.add(index, decode::draft(Field { list: FIELD, index }, utterance));
    }
    Ok(incoming)
}

fn checked_prompt(text: &str, limits: RequestLimits) -> Result<Draft, Refusal> {
    if text.trim().is_empty() {
        let text = "holds only white space; accepted: text";
        return Err(Refusal::field(Reason::EmptyUtterance, "prompt", text));
    }
    let most = limits.max_content_bytes;
    if text.len() > most {
        return Err(Refusal::too_large("prompt", text.len(), most));
    }
    Ok(prompt(text))
}

fn response(prepared: Prepared) -> proto::PrepareHistoryResponse {
    proto::PrepareHistoryResponse {
        messages_json: prepared.messages_json,
        system: prepared.system,
        message_count: Some(encode::int(prepared.message_count)),
        token_count: Some(encode::int(prepared.token_count)),
        dropped: prepared.dropped.into_iter().map(dropped).collect(),
        recalled: prepared.recalled.into_iter().map(encode::int).collect(),
        summary: prepared.summary,
        history_token_count: Some(encode::int(prepared.history_token_count)),
        warnings: prepared.warnings.into_iter().map(warning).collect(),
    }
}

fn dropped(dropped: Dropped) -> proto::DroppedMessage {
    let reason = encode::same_name!(
        dropped.reason, DropReason to DropReason:
        NotAMessage UnknownRole InvalidContent Empty InvalidToolCall InvalidField TooLarge OrphanedResult
        UnansweredCall Alternation MaxMessages MaxBytes TokenBudget Summarised
    );
    let index = Some(encode::int(dropped.index));
    proto::DroppedMessage { index, reason: reason.into(), text: dropped.text }
}

fn warning(warning: Warning) -> proto::Warning {
    let kind = encode::same_name!(
        warning.kind, WarningKind to WarningKind:
        ManyMessages LargeRequest NearTokenBudget PartsLeftOut ResultsMoved MessagesMerged CallIdsChanged
        PlaceholderAdded MessagesTrimmed
    );
    encode::warning(kind, warning.text)
}
