//! ConversationService's operations, as commands.

use std::{error::Error, fmt::Write};

use prost_types::FieldMask;
use tonic::Request;
use utterd::proto::{self, conversation_service_server::ConversationService};

use crate::golden::{
    command::Command,
    names,
    operations::{OTHER, answer, evicted, fullness},
    print,
    runner::{Here, Printed},
};

/// The maximum number of utterances on a page.
const WHOLE_PAGE: i32 = 1_000;

/// `window`
pub async fn window(here: &Here<'_>) -> Printed {
    let request =
        proto::ListUtterancesRequest { include_forgotten: true, page_size: WHOLE_PAGE, ..here.listing() };
    let response = answer(here.server.services().list_utterances(Request::new(request)).await)?;
    Ok(print::utterances(&response.utterances) + &fullness(here).await?)
}

/// `list`
pub async fn list(here: &Here<'_>, command: &Command) -> Printed {
    let Command::List { last, order, archive, forgotten } = command else { return Err(OTHER.into()) };
    let request = proto::ListUtterancesRequest {
        last: *last,
        order: names::number("LIST_ORDER", order.as_deref(), proto::ListOrder::from_str_name)?,
        include_archive: *archive,
        include_forgotten: *forgotten,
        page_size: WHOLE_PAGE,
        ..here.listing()
    };
    let response = answer(here.server.services().list_utterances(Request::new(request)).await)?;
    Ok(print::utterances(&response.utterances))
}

impl Here<'_> {
    fn listing(&self) -> proto::ListUtterancesRequest {
        proto::ListUtterancesRequest { conversation_id: self.conversation_id.clone(), ..Default::default() }
    }
}

/// `pin` and `unpin`
pub async fn pin(here: &Here<'_>, name: &str, pinned: bool) -> Printed {
    let request = proto::UpdateUtteranceRequest { pinned, ..update(here, name, "pinned").await };
    updated(here, request).await
}

/// `note`
pub async fn note(here: &Here<'_>, name: &str, notes: &[(String, String)]) -> Printed {
    let metadata = notes.iter().cloned().collect();
    let request = proto::UpdateUtteranceRequest { metadata, ..update(here, name, "metadata").await };
    updated(here, request).await
}

pub async fn update(here: &Here<'_>, name: &str, path: &str) -> proto::UpdateUtteranceRequest {
    proto::UpdateUtteranceRequest {
        conversation_id: here.conversation_id.clone(),
        utterance_id: names::utterance_id(here, name).await,
        update_mask: Some(FieldMask { paths: vec![path.to_owned()] }),
        ..Default::default()
    }
}

pub async fn updated(here: &Here<'_>, request: proto::UpdateUtteranceRequest) -> Printed {
    let response = answer(here.server.services().update_utterance(Request::new(request)).await)?;
    let sequence = response.utterance.map(|utterance| utterance.sequence).unwrap_or_default();
    let fork = match response.forked_conversation_id.as_str() {
        "" => String::new(),
        fork => format!(" in {fork}"),
    };
    let replayed = if response.replayed { ", replayed" } else { "" };
    let evicted = evicted(&response.evicted);
    Ok(format!("updated {sequence}{fork} (revision {}){replayed}\n{evicted}", response.revision))
}

/// `summary`
pub async fn summary(here: &Here<'_>, with_text: bool) -> Printed {
    let conversation_id = here.conversation_id.clone();
    let request = proto::GetSummaryRequest { conversation_id, ..Default::default() };
    let response = answer(here.server.services().get_summary(Request::new(request)).await)?;
    let joined: String = response.segments.iter().map(|segment| segment.text.as_str()).collect();
    if joined != response.text {
        return Err("the summary's text is not its segments' texts".into());
    }
    let mut text = String::new();
    for segment in &response.segments {
        let _ = writeln!(text, "{}", print::heading(segment));
        if with_text {
            segment.text.lines().for_each(|line| _ = writeln!(text, "  {line}"));
        }
    }
    let _ = write!(text, "{} tokens", response.token_count());
    Ok(text)
}

/// `policy`
pub async fn policy(here: &Here<'_>, limits: &[(String, String)]) -> Printed {
    let mut policy = proto::Policy::default();
    for (key, value) in limits {
        limit(&mut policy, key, value)?;
    }
    let request = proto::UpdateConversationRequest {
        conversation_id: here.conversation_id.clone(),
        policy: Some(policy),
        update_mask: Some(FieldMask { paths: vec!["policy".to_owned()] }),
        ..Default::default()
    };
    let response = answer(here.server.services().update_conversation(Request::new(request)).await)?;
    let after = response.conversation.unwrap_or_default();
    let summary = response.summary.as_ref().map(print::summary_update).unwrap_or_default();
    let limits = shown(&after.policy.unwrap_or_default());
    Ok(format!("{limits} (revision {})\n{}{summary}", after.revision, evicted(&response.evicted)))
}

/// Sets one limit.
fn limit(policy: &mut proto::Policy, key: &str, value: &str) -> Result<(), Box<dyn Error>> {
    let preset = |name| names::number("POLICY_PRESET", Some(name), proto::PolicyPreset::from_str_name);
    let oversize = |name| names::number("OVERSIZE", Some(name), proto::Oversize::from_str_name);
    match key {
        "preset" => policy.preset = preset(value)?,
        "oversize" => policy.oversize = oversize(value)?,
        "max_utterances" => policy.max_utterances = Some(value.parse()?),
        "keep_utterances" => policy.keep_utterances = Some(value.parse()?),
        "max_tokens" => policy.max_tokens = Some(value.parse()?),
        "keep_tokens" => policy.keep_tokens = Some(value.parse()?),
        "max_turns" => policy.max_turns = Some(value.parse()?),
        "keep_turns" => policy.keep_turns = Some(value.parse()?),
        "summarization_enabled" => policy.summarization_enabled = Some(value.parse()?),
        "summary_token_limit" => policy.summary_token_limit = Some(value.parse()?),
        "archive_limit" => policy.archive_limit = Some(value.parse()?),
        "expire_after" => policy.expire_after = Some(humantime::parse_duration(value)?.try_into()?),
        _ => return Err(format!("a policy has no {key}").into()),
    }
    Ok(())
}

/// `utterances 20/16, tokens 8000/6400, turns unlimited, summary 1000, archive 10000`
fn shown(policy: &proto::Policy) -> String {
    let marks = |name: &str, max: Option<i32>, keep: Option<i32>| match max.zip(keep) {
        Some((max, keep)) => format!("{name} {max}/{keep}"),
        None => format!("{name} unlimited"),
    };
    let mut parts = vec![
        marks("utterances", policy.max_utterances, policy.keep_utterances),
        marks("tokens", policy.max_tokens, policy.keep_tokens),
        marks("turns", policy.max_turns, policy.keep_turns),
    ];
    parts.push(match (policy.summarization_enabled(), policy.summary_token_limit) {
        (false, _) => "no summary".to_owned(),
        (true, Some(limit)) => format!("summary {limit}"),
        (true, None) => "summary unlimited".to_owned(),
    });
    parts.push(format!("archive {}", policy.archive_limit()));
    parts.extend((policy.oversize() == proto::Oversize::Reject).then(|| "oversize rejected".to_owned()));
    parts.extend(policy.expire_after.map(|after| format!("expires after {} s", after.seconds)));
    parts.join(", ")
}

/// `create`
pub async fn create(here: &Here<'_>, pairs: &[(String, String)]) -> Printed {
    let conversation_id = here.conversation_id.clone();
    let mut request = proto::CreateConversationRequest { conversation_id, ..Default::default() };
    let mut policy = proto::Policy::default();
    for (key, value) in pairs {
        match key.as_str() {
            "recipient" => request.recipient_id.clone_from(value),
            "title" => request.title.clone_from(value),
            "encoding" => request.encoding.clone_from(value),
            "request" => request.request_id.clone_from(value),
            _ => limit(&mut policy, key, value)?,
        }
    }
    request.policy = Some(policy);
    let response = answer(here.server.services().create_conversation(Request::new(request)).await)?;
    let replayed = if response.replayed { ", replayed" } else { "" };
    let conversation = response.conversation.unwrap_or_default();
    Ok(format!("{}{replayed}\n{}", line(&conversation), shown(&conversation.policy.unwrap_or_default())))
}

/// `conversations`
pub async fn conversations(here: &Here<'_>, recipient: &str) -> Printed {
    let recipient_id = recipient.to_owned();
    let request = proto::ListConversationsRequest { recipient_id, ..Default::default() };
    let response = answer(here.server.services().list_conversations(Request::new(request)).await)?;
    match response.conversations.is_empty() {
        true => Ok("none".to_owned()),
        false => Ok(response.conversations.iter().map(|one| line(one) + "\n").collect()),
    }
}

/// `end`
pub async fn end(here: &Here<'_>, pairs: &[(String, String)]) -> Printed {
    let conversation_id = here.conversation_id.clone();
    let mut request = proto::EndConversationRequest { conversation_id, ..Default::default() };
    for (key, value) in pairs {
        match key.as_str() {
            "reason" => request.reason.clone_from(value),
            "recipient" => request.recipient_id.clone_from(value),
            "request" => request.request_id.clone_from(value),
            "expect" => request.expected_revision = Some(value.parse()?),
            _ => return Err(format!("{key} is nothing to end with").into()),
        }
    }
    let response = answer(here.server.services().end_conversation(Request::new(request)).await)?;
    let replayed = if response.replayed { ", replayed" } else { "" };
    let conversation = response.conversation.unwrap_or_default();
    let summary: String = conversation.closing_summary.lines().map(|line| format!("\n  {line}")).collect();
    Ok(format!("{}{replayed}{summary}", line(&conversation)))
}

/// `weather of ada "Rain": active, IDLE, 3 utterances, revision 3, o200k_base`
pub fn line(conversation: &proto::Conversation) -> String {
    let title = match conversation.title.as_str() {
        "" => String::new(),
        title => format!(" {title:?}"),
    };
    let active = if conversation.active { "the active one, " } else { "" };
    format!(
        "{} of {}{title}: {active}{}, {}, revision {}, {}",
        conversation.conversation_id,
        conversation.recipient_id,
        conversation.status().as_str_name().trim_start_matches("CONVERSATION_STATUS_"),
        print::plural(conversation.utterance_count(), "utterance"),
        conversation.revision,
        conversation.encoding,
    ) + &ended(conversation)
}

/// `delete`
pub async fn delete(here: &Here<'_>, id: &str) -> Printed {
    let request =
        proto::DeleteConversationRequest { conversation_id: id.to_owned(), expected_revision: None };
    let response = answer(here.server.services().delete_conversation(Request::new(request)).await)?;
    Ok(format!("deleted {}", print::plural(response.utterance_count(), "utterance")))
}

/// Why it ended, if it has.
fn ended(conversation: &proto::Conversation) -> String {
    match (&conversation.end_time, conversation.ended_reason.as_str()) {
        (None, _) => String::new(),
        (Some(_), "") => ", ended".to_owned(),
        (Some(_), reason) => format!(", ended: {reason}"),
    }
}
