//! Lists of conversations.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    Services,
    convert::{
        decode, encode,
        page_token::{self, QueryHash},
    },
    proto,
};
use utterd_domain::{ConversationId, Refusal, Timestamp, conversation::Status as Doing};
use utterd_engine::{Caller, ListConversations, ListOrder, ListedAt};

/// Conversations per page, by default (seed 000) and at most.
const CONVERSATIONS: (usize, usize) = (10, 1_000);

impl Services {
    pub(super) async fn listed(
        &self,
        caller: &Caller,
        request: proto::ListConversationsRequest,
    ) -> Result<proto::ListConversationsResponse, Status> {
        let query = QueryHash::of(
            "ListConversations",
            &proto::ListConversationsRequest { page_size: 0, page_token: String::new(), ..request.clone() },
        );
        let page =
            self.engine.list_conversations(caller, list(&request, query).or_status()?).await.or_status()?;
        let (now, timeouts) = (self.engine.moment(), self.engine.defaults().timeouts);
        let conversations = page.heads.iter().map(|(head, active)| {
            encode::conversation(head, encode::status(head.status(now, timeouts)), *active)
        });
        let write = |(time, id): ListedAt| page_token::write(query, &[&time.0, &id]);
        Ok(proto::ListConversationsResponse {
            conversations: conversations.collect(),
            next_page_token: page.next.map(write).unwrap_or_default(),
        })
    }
}

fn list(request: &proto::ListConversationsRequest, query: QueryHash) -> Result<ListConversations, Refusal> {
    let after = match page_token::read(&request.page_token, query)? {
        Some(place) => {
            let (time, id) = place.pair()?;
            Some((Timestamp(time), decode::conversation_id(id).map_err(|_| page_token::no_token())?))
        }
        None => None,
    };
    let recipient = decode::address("", &request.recipient_id)?;
    if request.all_recipients && !request.recipient_id.is_empty() {
        let text = "is given with all_recipients; accepted: one of them";
        return Err(Refusal::invalid("recipient_id", text));
    }
    Ok(ListConversations {
        recipient: (!request.all_recipients).then(|| recipient.recipient_or_default()),
        status: doing(request.status)?,
        id_prefix: id_prefix(&request.conversation_id_prefix)?,
        order: order(request.order)?,
        after,
        limit: decode::page_size(request.page_size, CONVERSATIONS)?,
    })
}

/// Checks an id prefix, which must itself be a valid id.
fn id_prefix(prefix: &str) -> Result<Box<str>, Refusal> {
    if !prefix.is_empty() {
        let refused = |error| Refusal::invalid("conversation_id_prefix", format!("{error}, or none"));
        ConversationId::new(prefix).map_err(refused)?;
    }
    Ok(prefix.into())
}

fn order(order: i32) -> Result<ListOrder, Refusal> {
    use proto::ConversationOrder as Order;
    let of = |by_update, newest_first| ListOrder { by_update, newest_first };
    let accepted = "NEWEST_START (1), OLDEST_START (2), NEWEST_UPDATE (3) and OLDEST_UPDATE (4)";
    Ok(match decode::choice("order", order, accepted)? {
        Order::Unspecified | Order::NewestStart => of(false, true),
        Order::OldestStart => of(false, false),
        Order::NewestUpdate => of(true, true),
        Order::OldestUpdate => of(true, false),
    })
}

fn doing(status: i32) -> Result<Option<Doing>, Refusal> {
    let accepted = "ACTIVE (1), AWAITING_ANSWER (2), IDLE (3) and CLOSED (4)";
    Ok(match decode::choice("status", status, accepted)? {
        proto::ConversationStatus::Unspecified => None,
        proto::ConversationStatus::Active => Some(Doing::Active),
        proto::ConversationStatus::AwaitingAnswer => Some(Doing::AwaitingAnswer),
        proto::ConversationStatus::Idle => Some(Doing::Idle),
        proto::ConversationStatus::Closed => Some(Doing::Closed),
    })
}
