//! UpdateUtterance.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode},
    proto::{self, EditMode, UpdateUtteranceResponse},
};
use utterd_domain::{Refusal, draft::check_map, update::UpdateUtterance};
use utterd_engine::{Call, Caller, Edit};

impl Services {
    pub(super) async fn edit(
        &self,
        caller: &Caller,
        request: proto::UpdateUtteranceRequest,
    ) -> Result<UpdateUtteranceResponse, Status> {
        let (call, edit, forks) = call(request, self.limits.max_content_bytes).or_status()?;
        let reply = match forks {
            true => self.engine.edit_as_fork(caller, call, edit).await.or_status()?,
            false => self.engine.update_utterance(caller, call, edit).await.or_status()?,
        };
        let (outcome, state) = (&reply.outcome, reply.state.as_ref());
        let target = reply.target().zip(state);
        Ok(UpdateUtteranceResponse {
            utterance: target.map(|(utterance, state)| encode::utterance(utterance, state)),
            revision: encode::long(outcome.revision.get()),
            evicted: encode::refs(&outcome.evicted, outcome),
            forked_conversation_id: if forks { outcome.conversation.to_string() } else { String::new() },
            replayed: reply.replayed(),
        })
    }
}

/// Returns the call, its new content, and whether it makes a fork.
fn call(
    request: proto::UpdateUtteranceRequest,
    max_content_bytes: usize,
) -> Result<(Call<UpdateUtterance>, Option<Edit>, bool), Refusal> {
    let attempt = decode::attempt_of!("UpdateUtterance", request)?;
    let paths = decode::mask(request.update_mask.as_ref(), &["pinned", "metadata", "content"])?;
    let has = |path: &str| paths.iter().any(|given| given == path);
    check_map(|| "metadata".to_owned(), &request.metadata)?;
    if request.utterance_id.is_empty() {
        return Err(Refusal::id("utterance_id", "is empty; accepted: the id of a stored utterance"));
    }
    let forks = forks(request.edit_mode, has("content"))?;
    let call = Call {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        command: UpdateUtterance {
            id: request.utterance_id.as_str().into(),
            pinned: has("pinned").then_some(request.pinned),
            metadata: has("metadata").then(|| request.metadata.clone()),
            content: None,
            expected: decode::revision(request.expected_revision)?,
        },
        attempt,
    };
    let edit = || Edit { content: request.content.as_str().into(), max_bytes: max_content_bytes };
    Ok((call, has("content").then(edit), forks))
}

/// Whether the new content goes to a fork.
fn forks(mode: i32, edits: bool) -> Result<bool, Refusal> {
    match decode::choice("edit_mode", mode, "IN_PLACE (1) and FORK (2)")? {
        EditMode::Unspecified | EditMode::InPlace => Ok(false),
        EditMode::Fork if edits => Ok(true),
        EditMode::Fork => Err(Refusal::invalid(
            "edit_mode",
            "is FORK, which is accepted only with `content` in update_mask",
        )),
    }
}
