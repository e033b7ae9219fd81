//! Lists of conversations.

use crate::convert::status::OrStatus;
use tonic::Status;

use crate::{
    Services,
    convert::{
        decode, encode,
        page_token::{self, Page, page_of},
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
        mut request: proto::ListConversationsRequest,
    ) -> Result<proto::ListConversationsResponse, Status> {
        let asked = page_of!("ListConversations", request, CONVERSATIONS).or_status()?;
        let list = list(&request, &asked).or_status()?;
        let page = self.engine.list_conversations(caller, list).await.or_status()?;
        let (now, timeouts) = (self.engine.moment(), self.engine.defaults().timeouts);
        let conversations = page.heads.iter().map(|(head, active)| {
            encode::conversation(head, encode::status(head.status(now, timeouts)), *active)
        });
        let write = |(time, id): ListedAt| asked.token(&[&time.0, &id]);
        Ok(proto::ListConversationsResponse {
            conversations: conversations.collect(),
            next_page_token: page.next.map(write).unwrap_or_default(),
        })
    }
}

fn list(request: &proto::ListConversationsRequest, page: &Page) -> Result<ListConversations, Refusal> {
    let after = match page.pair()? {
        Some((time, id)) => {
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
        status: decode::same_name!(
            "status", request.status, ConversationStatus to Doing: Active AwaitingAnswer Idle Closed
        )?,
        id_prefix: id_prefix(&request.conversation_id_prefix)?,
        order: order(request.order)?,
        after,
        limit: page.limit,
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
