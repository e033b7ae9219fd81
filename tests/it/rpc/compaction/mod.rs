//! Compactions as a client makes, lists and undoes them.

mod advice;
mod bad_input;
mod exact;
mod lists;
mod making;
mod request_ids;
mod undoing;

use utterd::proto::{
    CompactConversationRequest, CompactConversationResponse, Compaction, ListCompactionsRequest,
    NewUtterance, Policy, PolicyPreset, UndoCompactionRequest, UndoCompactionResponse,
};

use crate::support::session::{Reply, Session, user};

/// A policy without limits.
fn unlimited() -> Policy {
    Policy { preset: PolicyPreset::Session.into(), ..Default::default() }
}

/// User notes with two sentences each.
fn notes(numbers: std::ops::RangeInclusive<usize>) -> Vec<NewUtterance> {
    let note = |number| {
        format!(
            "Note {number}: the pump of tank T-{number} failed in the night and was replaced on Monday. \
             Nobody saw why it stopped, and so the next one may stop as well."
        )
    };
    numbers.map(|number| user(&note(number))).collect()
}

/// The default recipient's conversation, with this many notes in its window.
async fn long(count: usize) -> Session {
    let session = Session::new().await;
    session.create_with(unlimited()).await;
    session.say(notes(1..=count)).await;
    session
}

fn keep(recent: i32) -> CompactConversationRequest {
    CompactConversationRequest { keep_recent: Some(recent), ..Default::default() }
}

async fn compact(session: &Session, request: CompactConversationRequest) -> CompactConversationResponse {
    session.compactions().compact_conversation(request).await.reply()
}

async fn undo(session: &Session) -> UndoCompactionResponse {
    session.compactions().undo_compaction(UndoCompactionRequest::default()).await.reply()
}

async fn listed(session: &Session) -> Vec<Compaction> {
    let request = ListCompactionsRequest { page_size: 100, ..Default::default() };
    session.compactions().list_compactions(request).await.reply().compactions
}
