//! GetConversation.

use tonic::Status;

use crate::{
    domain::{Refusal, Sequence},
    engine::{Caller, Part},
    proto::{self, ConversationView},
    rpc::{
        Services,
        convert::{
            decode, encode,
            page_token::{self, QueryHash},
        },
        share,
    },
};

/// Utterances per page, by default and at most.
const ENTRIES: (usize, usize) = (1_000, 1_000);

impl Services {
    pub(super) async fn viewed(
        &self,
        caller: &Caller,
        request: proto::GetConversationRequest,
    ) -> Result<proto::GetConversationResponse, Status> {
        let query = QueryHash::of(
            "GetConversation",
            &proto::GetConversationRequest { page_size: 0, page_token: String::new(), ..request.clone() },
        );
        let address =
            decode::read_address(&request.conversation_id, &request.recipient_id, request.max_staleness)?;
        let part = part(&request, query)?;
        let reply = self.engine.get_conversation(caller, &address, part).await?;
        let (state, now) = (&reply.state, self.engine.now());
        let mut conversation = encode::conversation(&state.head, self.status_of(state), reply.active);
        conversation.forks = self.forks(state).await?;
        let mut next_page_token = String::new();
        if let Some(page) = &reply.utterances {
            let write = |(first, last): (Sequence, Sequence)| page_token::write(query, &[&first, &last]);
            next_page_token = page.rest.map(write).unwrap_or_default();
            conversation.utterances =
                page.iter().map(|utterance| encode::utterance(utterance, state)).collect();
            conversation.summary = state.summary.text();
        }
        let shares = state.head.shares.iter().filter(|share| share.is_good(now)).map(share::message);
        Ok(proto::GetConversationResponse {
            conversation: Some(conversation),
            shares: shares.collect(),
            next_page_token,
        })
    }
}

/// Returns the requested part of the utterances; none in the BASIC view.
fn part(request: &proto::GetConversationRequest, query: QueryHash) -> Result<Option<Part>, Refusal> {
    let limit = decode::page_size(request.page_size, ENTRIES.0, ENTRIES.1)?;
    let rest = page_token::read(&request.page_token, query)?.map(|place| place.sequences()).transpose()?;
    match ConversationView::try_from(request.view) {
        Ok(ConversationView::Full) => Ok(Some(Part { rest, limit })),
        Ok(ConversationView::Unspecified | ConversationView::Basic) if request.page_size != 0 => {
            Err(Refusal::invalid("page_size", "is accepted only with the view FULL (2)"))
        }
        Ok(ConversationView::Unspecified | ConversationView::Basic) => Ok(None),
        Err(_) => {
            let text = format!("is {}; accepted: BASIC (1) and FULL (2)", request.view);
            Err(Refusal::invalid("view", text))
        }
    }
}
