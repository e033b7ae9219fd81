//! Forks and edits, as commands.

use std::fmt::Write;

use tonic::Request;
use utterd::proto::{self, conversation_service_server::ConversationService};

use crate::golden::{
    command::Command,
    conversations::{line, update, updated},
    names,
    operations::{OTHER, answer},
    print,
    runner::{Here, Printed},
};

/// `edit`
pub async fn edit(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Edit { name, content, mode, request } = command else { return Err(OTHER.into()) };
    let edit = proto::UpdateUtteranceRequest {
        content: content.clone(),
        edit_mode: names::number("EDIT_MODE", mode.as_deref(), proto::EditMode::from_str_name)?,
        request_id: request.clone().unwrap_or_default(),
        ..update(here, name, "content").await
    };
    updated(here, edit).await
}

/// `fork`
pub async fn fork(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Fork { into, at, to, title, activate, request } = command else {
        return Err(OTHER.into());
    };
    let request = proto::ForkConversationRequest {
        conversation_id: here.conversation_id.clone(),
        at_sequence: *at,
        new_conversation_id: into.clone(),
        to_recipient_id: to.clone(),
        title: title.clone(),
        activate: *activate,
        request_id: request.clone().unwrap_or_default(),
        ..Default::default()
    };
    let response = answer(here.server.services().fork_conversation(Request::new(request)).await)?;
    let conversation = response.conversation.unwrap_or_default();
    let replayed = if response.replayed { ", replayed" } else { "" };
    let from = conversation.forked_from.as_ref().map(origin).unwrap_or_default();
    let fullness = print::fullness(&response.capacity.unwrap_or_default());
    Ok(format!("{}{replayed}\n{from}{fullness}", line(&conversation)))
}

/// `forks`
pub async fn forks(here: &Here<'_>) -> Printed {
    let conversation_id = here.conversation_id.clone();
    let request = proto::GetConversationRequest { conversation_id, ..Default::default() };
    let response = answer(here.server.services().get_conversation(Request::new(request)).await)?;
    let conversation = response.conversation.unwrap_or_default();
    let mut text = conversation.forked_from.as_ref().map(origin).unwrap_or_default();
    for fork in &conversation.forks {
        let _ = writeln!(text, "{} from {}", fork.conversation_id, fork.sequence());
    }
    Ok(text)
}

fn origin(from: &proto::ForkedFrom) -> String {
    let approximate = if from.approximate { ", its summary approximate" } else { "" };
    format!("forked from {} at {}{approximate}\n", from.conversation_id, from.sequence())
}
