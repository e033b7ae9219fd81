//! UpdateUtterance.

use tonic::Status;

use crate::{
    domain::{Refusal, draft::check_map, update::UpdateUtterance},
    engine::{Applied, Caller, Edit, References, UpdateUtteranceCall},
    proto::{self, EditMode, UpdateUtteranceResponse},
    rpc::{Services, decode, encode},
};

impl Services {
    pub(super) async fn edit(
        &self,
        caller: &Caller,
        request: proto::UpdateUtteranceRequest,
    ) -> Result<UpdateUtteranceResponse, Status> {
        let (call, forks) = call(request, self.limits.max_content_bytes)?;
        let reply = match forks {
            true => self.engine.edit_as_fork(caller, call).await?,
            false => self.engine.update_utterance(caller, call).await?,
        };
        Ok(match reply {
            Applied::Now { after, change, value, .. } => UpdateUtteranceResponse {
                utterance: Some(encode::utterance(&value, &after)),
                revision: encode::long(after.head.revision.get()),
                evicted: change.map_or_else(Vec::new, |change| encode::refs(&change.evicted, &after)),
                forked_conversation_id: if forks { after.key().id.to_string() } else { String::new() },
                replayed: false,
            },
            Applied::Earlier(earlier) => replay(&earlier, forks),
        })
    }
}

/// The call, and whether it goes to a fork.
fn call(
    request: proto::UpdateUtteranceRequest,
    max_content_bytes: usize,
) -> Result<(UpdateUtteranceCall, bool), Refusal> {
    let attempt = decode::attempt("UpdateUtterance", &request.request_id, || {
        proto::UpdateUtteranceRequest { request_id: String::new(), ..request.clone() }
    })?;
    let paths = decode::mask(request.update_mask.as_ref(), &["pinned", "metadata", "content"])?;
    let has = |path: &str| paths.iter().any(|given| given == path);
    check_map(|| "metadata".to_owned(), &request.metadata)?;
    if request.utterance_id.is_empty() {
        return Err(Refusal::id("utterance_id", "is empty; accepted is the id of a stored utterance"));
    }
    let forks = forks(request.edit_mode, has("content"))?;
    let call = UpdateUtteranceCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        update: UpdateUtterance {
            id: request.utterance_id.as_str().into(),
            pinned: has("pinned").then_some(request.pinned),
            metadata: has("metadata").then(|| request.metadata.clone()),
            content: None,
            expected: decode::revision(request.expected_revision)?,
        },
        edit: match has("content") {
            true => Some(Edit { content: request.content.as_str().into(), max_bytes: max_content_bytes }),
            false => None,
        },
        attempt,
    };
    Ok((call, forks))
}

/// Whether the new content goes to a fork.
fn forks(mode: i32, edits: bool) -> Result<bool, Refusal> {
    match EditMode::try_from(mode) {
        Ok(EditMode::Unspecified | EditMode::InPlace) => Ok(false),
        Ok(EditMode::Fork) if edits => Ok(true),
        Ok(EditMode::Fork) => {
            Err(Refusal::invalid("edit_mode", "is FORK, which goes only with `content` in update_mask"))
        }
        Err(_) => {
            let text = format!("is {mode}; accepted are IN_PLACE (1) and FORK (2)");
            Err(Refusal::invalid("edit_mode", text))
        }
    }
}

fn replay(earlier: &References, forks: bool) -> UpdateUtteranceResponse {
    let outcome = &earlier.outcome;
    let stored = earlier.utterances.iter().find(|utterance| Some(utterance.sequence) == outcome.target);
    UpdateUtteranceResponse {
        utterance: stored
            .zip(earlier.conversation.as_ref())
            .map(|(utterance, state)| encode::utterance(utterance, state)),
        revision: encode::long(outcome.revision.get()),
        evicted: encode::earlier_refs(&outcome.evicted, earlier),
        forked_conversation_id: if forks { outcome.conversation.to_string() } else { String::new() },
        replayed: true,
    }
}
