//! How a recipient's earlier conversations ended, for its contexts.

use std::cmp::Reverse;

use crate::{Caller, Engine, Result};
use utterd_domain::{Conversation, Ranges, context::Earlier};
use utterd_store::{List, ListOf, ListOrder};

/// How many of the recipient's newest conversations are looked at.
const NEWEST: usize = 16;

impl Engine {
    /// Returns how other conversations of the recipient of `state` ended, the newest first, without those that
    /// share utterances with `state`.
    pub(super) async fn earlier_conversations(
        &self,
        caller: &Caller,
        state: &Conversation,
    ) -> Result<Vec<Earlier>> {
        let list = List {
            of: ListOf::Recipient(caller.recipient(state.head.identity.recipient.clone())),
            id_prefix: Box::default(),
            order: ListOrder::NEWEST_START,
            after: None,
            limit: NEWEST,
        };
        let mut heads = self.store.list(list).await?;
        let own = state.head.origins_of(&Ranges::before(state.head.next));
        heads.retain(|head| head.identity.key != *state.key() && head.having(&own).all().is_empty());
        let mut earlier: Vec<Earlier> = heads.iter().filter_map(Earlier::of).collect();
        earlier.sort_by_key(|one| Reverse(one.end_time));
        Ok(earlier)
    }
}
