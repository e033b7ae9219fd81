//! BuildContext.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode},
    proto,
};
use utterd_domain::{
    Ranges, Refusal, Utterance,
    context::{
        Context, Format, Found, How, Message, Omission, Request, SummaryPlacement, Unanswered, Warning,
    },
    limits::MAX_PROMPT_BYTES,
};
use utterd_engine::{
    Address, BuildContextCall, BuildContextReply, Caller, LONG_TEXT_BYTES, LONG_TOKENS, Recall, Scope,
    offload,
};
use utterd_formats::{Rendered, content, render};

impl Services {
    pub(super) async fn built_context(
        &self,
        caller: &Caller,
        request: proto::BuildContextRequest,
    ) -> Result<proto::BuildContextResponse, Status> {
        let call = call(request, self.limits.max_content_bytes).or_status()?;
        let BuildContextReply { state, context } =
            self.engine.build_context(caller, &call).await.or_status()?;
        let counter = self.engine.counter(state.head.identity.encoding);
        let mut response = proto::BuildContextResponse {
            conversation_id: encode::id(&state),
            revision: encode::long(state.head.revision.get()),
            token_budget: context.budget.map(encode::int),
            earlier_conversation_ids: context.earlier.iter().map(ToString::to_string).collect(),
            omitted: context.omitted.iter().map(omitted).collect(),
            uncovered_utterance_count: Some(encode::int(context.uncovered.utterances)),
            uncovered_turn_count: Some(encode::int(context.uncovered.turns)),
            warnings: context.warnings.iter().map(warning).collect(),
            ..Default::default()
        };
        let parts: usize = context.messages.iter().filter_map(Message::content_parts).map(str::len).sum();
        let is_long = u64::from(context.tokens) > LONG_TOKENS || parts > LONG_TEXT_BYTES;
        let (context, rendered) = offload(is_long, move || {
            let rendered = render(&context, counter);
            (context, rendered)
        })
        .await;
        let Rendered { messages_json, system_json, text, tokens, stable_messages, places, .. } = rendered;
        response.utterances = utterances(&context, &places);
        (response.messages_json, response.system_json, response.text) = (messages_json, system_json, text);
        response.token_count = Some(encode::int(tokens));
        response.stable_prefix_messages = Some(encode::int(stable_messages));
        Ok(response)
    }
}

fn call(request: proto::BuildContextRequest, max_bytes: usize) -> Result<BuildContextCall, Refusal> {
    let positive = |field: &str, number: Option<i32>| decode::given(|| field, number, decode::positive);
    let natural = |field: &str, number: Option<i32>| decode::given(|| field, number, decode::natural);
    let context = Request {
        format: format(request.format)?,
        budget: positive("token_budget", request.token_budget)?,
        max_turns: natural("max_turns", request.max_turns)?,
        stable_steps: request.stable_steps,
        summary: placement(request.summary_placement)?,
        recall: None,
        instructions: instructions(request.instructions, max_bytes)?,
        mask_after_turns: positive("mask_tool_results_after_turns", request.mask_tool_results_after_turns)?,
        mask_images_after_turns: natural("mask_images_after_turns", request.mask_images_after_turns)?,
        unanswered: decode::same_name!(
            "unanswered_calls", request.unanswered_calls, UnansweredCalls to Unanswered: Omit Placeholder
        )?
        .unwrap_or_default(),
        include_archive: request.include_archive,
        whole_messages: request.whole_messages,
        as_stored: request.count_as_stored,
    };
    let address = decode::read_address_of!(request)?;
    Ok(BuildContextCall {
        request: context,
        recall: request.recall.map(|wanted| recall(wanted, &address)).transpose()?,
        earlier: earlier(request.earlier, &address)?,
        address,
        content,
    })
}

fn recall(recall: proto::ContextRecall, address: &Address) -> Result<Recall, Refusal> {
    let bytes = recall.prompt.len();
    if bytes == 0 {
        return Err(Refusal::invalid(
            "recall.prompt",
            format!("has 0 bytes; accepted: 1 to {MAX_PROMPT_BYTES}"),
        ));
    }
    if bytes > MAX_PROMPT_BYTES {
        return Err(Refusal::too_large("recall.prompt", bytes, MAX_PROMPT_BYTES));
    }
    let limits = decode::recall_limits(recall.limit, recall.max_percent)?;
    let min_relevance = decode::min_relevance("recall.min_relevance", recall.min_relevance)?;
    Ok(Recall { scope: scope(recall.scope, address)?, prompt: recall.prompt, limits, min_relevance })
}

fn scope(number: i32, address: &Address) -> Result<Scope, Refusal> {
    use proto::RememberScope as Wire;
    match Wire::try_from(number) {
        Ok(Wire::Unspecified) => Ok(address.scope()),
        Ok(Wire::Conversation) => Ok(Scope::Conversation),
        Ok(Wire::Recipient) => Ok(Scope::Recipient),
        Ok(Wire::Window) | Err(_) => {
            let text = format!("is {number}; accepted: CONVERSATION (2) and RECIPIENT (3)");
            Err(Refusal::invalid("recall.scope", text))
        }
    }
}

/// Whether to say how earlier conversations ended. A recipient's are, a conversation stands alone.
fn earlier(number: i32, address: &Address) -> Result<bool, Refusal> {
    use proto::Earlier as Wire;
    let accepted = "NONE (1) and ENDED (2)";
    Ok(match decode::choice("earlier", number, accepted)? {
        Wire::Unspecified => address.conversation.is_none(),
        Wire::None => false,
        Wire::Ended => true,
    })
}

fn instructions(text: String, max_bytes: usize) -> Result<Option<Box<str>>, Refusal> {
    if text.len() > max_bytes {
        return Err(Refusal::too_large("instructions", text.len(), max_bytes));
    }
    Ok(Some(text).filter(|text| !text.is_empty()).map(Into::into))
}

fn format(number: i32) -> Result<Format, Refusal> {
    use proto::ContextFormat as Wire;
    let accepted = "OPENAI_CHAT (1), ANTHROPIC_MESSAGES (2) and TEXT (3)";
    Ok(match decode::choice("format", number, accepted)? {
        Wire::Unspecified | Wire::OpenaiChat => Format::OpenAiChat,
        Wire::AnthropicMessages => Format::AnthropicMessages,
        Wire::Text => Format::Text,
    })
}

pub(super) fn placement(number: i32) -> Result<SummaryPlacement, Refusal> {
    let given = decode::same_name!(
        "summary_placement", number, SummaryPlacement to SummaryPlacement: System UserMessage
    );
    given.map(Option::unwrap_or_default)
}

/// Lists the rendered utterances. `places` maps each message of the context to its index in the JSON.
fn utterances(context: &Context, places: &[Option<usize>]) -> Vec<proto::RenderedUtterance> {
    let mut rendered = Vec::with_capacity(context.messages.len() + context.recalled.len());
    for (number, message) in context.messages.iter().enumerate() {
        let before = rendered.len();
        if message.how == How::Recalled {
            rendered.extend(context.recalled.iter().map(recalled));
        } else if let Some(utterance) = &message.utterance {
            rendered.push(reference(utterance, rendered_as(message), Some(message.tokens)));
        }
        let place = places.get(number).copied().flatten();
        let index = place.map(|place| encode::int(u32::try_from(place).unwrap_or(u32::MAX)));
        rendered[before..].iter_mut().for_each(|utterance| utterance.message_index = index);
    }
    rendered
}

fn recalled(found: &Found) -> proto::RenderedUtterance {
    let conversation_id = found.source.as_ref().map(|source| source.id.as_str().to_owned());
    proto::RenderedUtterance {
        conversation_id: conversation_id.unwrap_or_default(),
        quoted_ranges: encode::text_ranges(&found.utterance.content, &found.quoted),
        ..reference(&found.utterance, proto::RenderedAs::Recalled, None)
    }
}

fn reference(utterance: &Utterance, how: proto::RenderedAs, tokens: Option<u32>) -> proto::RenderedUtterance {
    proto::RenderedUtterance {
        utterance_id: utterance.id_text(),
        sequence: encode::long(utterance.sequence.get()),
        role: encode::role(utterance.role).into(),
        rendered_as: how.into(),
        token_count: tokens.map(encode::int),
        conversation_id: String::new(),
        message_index: None,
        quoted_ranges: Vec::new(),
    }
}

fn rendered_as(message: &Message) -> proto::RenderedAs {
    match message.how {
        How::Whole => proto::RenderedAs::Whole,
        How::Instruction => proto::RenderedAs::Instruction,
        How::Pinned => proto::RenderedAs::Pinned,
        How::Masked => proto::RenderedAs::Masked,
        How::Trimmed => proto::RenderedAs::Trimmed,
        How::Recalled => proto::RenderedAs::Recalled,
        How::Given | How::Summary | How::Earlier | How::Placeholder => proto::RenderedAs::Unspecified,
    }
}

fn omitted((omission, ranges): &(Omission, Ranges)) -> proto::OmittedUtterances {
    let reason = encode::same_name!(
        omission, Omission to OmissionReason:
        Evicted Budget MaxTurns UnansweredCall Forgotten Aside Empty Format
    );
    proto::OmittedUtterances { reason: reason.into(), sequences: encode::ranges(ranges) }
}

fn warning(warning: &Warning) -> proto::Warning {
    let kind = match warning {
        Warning::Uncovered(_) => proto::WarningKind::UncoveredLeftOut,
        Warning::MessagesTrimmed(_) => proto::WarningKind::MessagesTrimmed,
        Warning::PartsLeftOut => proto::WarningKind::PartsLeftOut,
        Warning::NotSent(_) => proto::WarningKind::NotSent,
        Warning::SummaryCut => proto::WarningKind::SummaryCut,
    };
    encode::warning(kind, warning.to_string())
}
