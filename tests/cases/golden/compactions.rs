//! CompactionService's operations, as commands.

use std::fmt::Write;

use tonic::Request;
use utterd::proto::{self, compaction_service_server::CompactionService};

use crate::golden::{
    command::Command,
    names,
    operations::{OTHER, answer},
    print,
    runner::{Here, Printed},
};

/// `compact`
pub async fn compact(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Compact { keep, focus, preview, request, expect } = command else {
        return Err(OTHER.into());
    };
    let request = proto::CompactConversationRequest {
        conversation_id: here.conversation_id.clone(),
        keep_recent: *keep,
        focus_areas: focus.clone().into_iter().collect(),
        preview: *preview,
        request_id: request.clone().unwrap_or_default(),
        expected_revision: *expect,
        ..Default::default()
    };
    let response = answer(here.server.services().compact_conversation(Request::new(request)).await)?;
    let verb = if *preview { "would make " } else { "" };
    let mut text = match &response.compaction {
        Some(made) => format!("{verb}{}", print::compaction(made)),
        None => "nothing to compact".to_owned(),
    };
    text += &revision(response.revision, response.replayed);
    if *preview {
        response.summary.lines().for_each(|line| _ = writeln!(text, "  {line}"));
    }
    text += &print::fullness(&response.capacity.unwrap_or_default());
    Ok(text)
}

/// `undo`
pub async fn undo(here: &Here<'_>, request: &Option<String>, expect: Option<i64>) -> Printed {
    let request = proto::UndoCompactionRequest {
        conversation_id: here.conversation_id.clone(),
        request_id: request.clone().unwrap_or_default(),
        expected_revision: expect,
        ..Default::default()
    };
    let response = answer(here.server.services().undo_compaction(Request::new(request)).await)?;
    let number = response.compaction.map_or(0, |compaction| compaction.compaction_number());
    let restored = print::sequences(&response.restored);
    let fullness = print::fullness(&response.capacity.unwrap_or_default());
    let revision = revision(response.revision, response.replayed);
    Ok(format!("undid compaction {number}: {restored} are back{revision}{fullness}"))
}

/// `compactions`
pub async fn compactions(here: &Here<'_>) -> Printed {
    let conversation_id = here.conversation_id.clone();
    let request = proto::ListCompactionsRequest { conversation_id, ..Default::default() };
    let response = answer(here.server.services().list_compactions(Request::new(request)).await)?;
    match response.compactions.is_empty() {
        true => Ok("none".to_owned()),
        false => Ok(response.compactions.iter().map(|made| print::compaction(made) + "\n").collect()),
    }
}

/// `answer`
pub async fn answer_prompt(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Answer { answer: given, keep, session } = command else { return Err(OTHER.into()) };
    let request = proto::AnswerCompactionPromptRequest {
        conversation_id: here.conversation_id.clone(),
        answer: names::number("COMPACTION_ANSWER", Some(given), proto::CompactionAnswer::from_str_name)?,
        session_id: session.clone().unwrap_or_default(),
        keep_recent: *keep,
        ..Default::default()
    };
    let response = answer(here.server.services().answer_compaction_prompt(Request::new(request)).await)?;
    let made = response.compaction.as_ref().map_or_else(|| "noted".to_owned(), print::compaction);
    let revision = revision(response.revision, response.replayed);
    Ok(format!("{made}{revision}{}", print::fullness(&response.capacity.unwrap_or_default())))
}

fn revision(revision: i64, replayed: bool) -> String {
    format!(" (revision {revision}){}\n", if replayed { ", replayed" } else { "" })
}
