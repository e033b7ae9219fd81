//! Checks that the lists and the indexes of work have the conversations that they must have.

use std::collections::BTreeSet;

use super::{
    Survey,
    conversations::{Listed, is_still, without_advice},
    records::subject,
};
use crate::{Due, List, ListOf, ListOrder, Result, Store};
use utterd_domain::{ConversationKey, Timestamp};

/// Conversations in a page of a list.
const PAGE: usize = 1_000;
/// The most entries of an index of work.
const MOST: usize = i32::MAX as usize;

/// An index: its name, and whether a conversation must be in it.
type Index = (&'static str, fn(&Listed) -> bool);

const BY_START: Index = ("the list by start", |_| true);
const BY_UPDATE: Index = ("the list by update", |_| true);
const ENDED: Index = ("the list of ended conversations", |listed| listed.has_ended);
const DUE: Index = ("the work that is due", |listed| listed.expires);
const WAITING: Index = ("the waiting summaries", |listed| listed.waits);

impl Survey {
    pub(super) async fn check_lists(&mut self, mut listed: Vec<Listed>, store: &dyn Store) {
        let place = |it: &Listed| (it.key.namespace.clone(), it.recipient.clone());
        listed.sort_by_cached_key(place);
        for all in listed.chunk_by(|one, other| one.key.namespace == other.key.namespace) {
            self.check_list(all, &ListOf::Namespace(all[0].key.namespace.clone()), store).await;
            for own in all.chunk_by(|one, other| one.recipient == other.recipient) {
                let owner = own[0].owner();
                self.check_list(own, &ListOf::Recipient(owner.clone()), store).await;
                let ended = store.ended_beyond(&owner, 0, MOST).await;
                let key = |id| ConversationKey { namespace: owner.namespace.clone(), id };
                let ended = ended.map(|ended| ended.into_iter().map(key).collect());
                self.compare(own, ENDED, ended, store).await;
            }
        }
        let due = store.due(Timestamp(i64::MAX), MOST).await;
        let due = due.map(|due| due.into_iter().map(|Due::Expired(key)| key).collect());
        self.compare(&listed, DUE, due, store).await;
        let waiting = store.waiting(None, MOST).await;
        let waiting = waiting.map(|waiting| waiting.into_iter().map(|(_, key)| key).collect());
        self.compare(&listed, WAITING, waiting, store).await;
    }

    async fn check_list(&mut self, listed: &[Listed], of: &ListOf, store: &dyn Store) {
        for (by_update, index) in [(false, BY_START), (true, BY_UPDATE)] {
            let found = all(of, ListOrder { by_update, newest_first: false }, store).await;
            self.compare(listed, index, found, store).await;
        }
    }

    /// Reports the conversations that are missing in an index, or are there by mistake.
    async fn compare(
        &mut self,
        listed: &[Listed],
        (index, belongs): Index,
        found: Result<BTreeSet<ConversationKey>>,
        store: &dyn Store,
    ) {
        let mut found = match found {
            Ok(found) => found,
            Err(error) => return self.report.add(index, without_advice(&error)),
        };
        for it in listed.iter().filter(|it| belongs(it)) {
            if !found.remove(&it.key) && is_still(&it.key, it.change, store).await {
                self.report.add(subject(&it.key), format_args!("it is not in {index}"));
            }
        }
        if store.capabilities().shared {
            return; // others may have changed the rest meanwhile
        }
        for key in found {
            // one that cannot be read was reported before
            let Ok(state) = store.load(&key).await else { continue };
            if !state.is_some_and(|state| belongs(&Listed::of(&state))) {
                self.report.add(subject(&key), format_args!("it is in {index}, but does not belong there"));
            }
        }
    }
}

/// Returns all conversations of a list.
async fn all(of: &ListOf, order: ListOrder, store: &dyn Store) -> Result<BTreeSet<ConversationKey>> {
    let (mut all, mut after) = (BTreeSet::new(), None);
    loop {
        let list = List { of: of.clone(), id_prefix: "".into(), order, after, limit: PAGE };
        let page = store.list(list).await?;
        after = page.last().map(|head| order.place(head));
        all.extend(page.iter().map(|head| head.identity.key.clone()));
        if page.len() < PAGE {
            return Ok(all);
        }
    }
}
