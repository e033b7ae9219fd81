//! Checks the conversations one by one, as the store returns them.

use std::sync::Arc;

use super::{Survey, records::subject};
use crate::{Newer, RecipientKey, Result, Store, StoreError};
use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Ranges, RecipientId, Utterance, check::Check,
};

/// Utterances read at a time.
const PART: u64 = 1_000;
/// How often a conversation is read again that changed while it was read.
const ATTEMPTS: usize = 10;

impl Survey {
    /// Checks a conversation; returns what the lists must tell of it, if it is in any.
    pub(super) async fn check_conversation(
        &mut self,
        key: &ConversationKey,
        store: &dyn Store,
    ) -> Option<Listed> {
        for _ in 0..ATTEMPTS {
            let state = match store.load(key).await {
                Ok(Some(state)) => state,
                Ok(None) => {
                    if !store.capabilities().shared {
                        self.report.add(subject(key), "it is stored, but cannot be found");
                    }
                    return None;
                }
                Err(error) => {
                    self.report.add(subject(key), without_advice(&error));
                    return None;
                }
            };
            let wrong = wrong(&state, store).await.unwrap_or_else(|error| vec![without_advice(&error)]);
            if wrong.is_empty() || is_still(key, state.head.change, store).await {
                wrong.into_iter().for_each(|wrong| self.report.add(subject(key), wrong));
                return state.head.identity.is_listed().then(|| Listed::of(&state));
            }
        }
        self.report.add(subject(key), "it changes faster than it can be checked");
        None
    }

    /// Checks that each recipient's active conversation belongs to the recipient.
    pub(super) async fn check_active(&mut self, store: &dyn Store) {
        for (recipient, id) in std::mem::take(&mut self.records.active) {
            let key = ConversationKey { namespace: recipient.namespace.clone(), id };
            // one that cannot be read was reported as a conversation
            let Ok(state) = store.load(&key).await else { continue };
            let wrong = match state.as_deref().map(|state| &*state.head.identity) {
                None => format!("there is no conversation {}", key.id),
                Some(identity) if !identity.is_listed() => "it is a recipient's state".to_owned(),
                Some(identity) if identity.recipient == recipient.id => continue,
                Some(identity) => format!("conversation {} belongs to {}", key.id, identity.recipient),
            };
            if store.active(&recipient).await == Ok(Some(key.id)) {
                let subject = format!("active conversation of {}/{}", recipient.namespace, recipient.id);
                self.report.add(subject, wrong);
            }
        }
    }
}

/// Whether the conversation is in the same state as before.
pub(super) async fn is_still(key: &ConversationKey, change: ChangeId, store: &dyn Store) -> bool {
    store.load_if_newer(key, Some(change)).await == Ok(Newer::Known)
}

/// Returns what is wrong with a conversation.
async fn wrong(state: &Conversation, store: &dyn Store) -> Result<Vec<String>> {
    let (head, summary) = (&state.head, &state.summary);
    let mut check = Check::of(head, summary.segments(), summary.next_number(), &state.compactions);
    let (mut wrong, mut rest) = (wrong_of_own_state(state), head.kept());
    while !rest.is_empty() {
        let part = rest.take_first(PART);
        let archived = store.archived(state.key(), &part.intersection(&head.archived)).await?;
        wrong.extend(wrong_ids(state.key(), &archived, store).await?);
        in_order(archived, &part, state).iter().for_each(|utterance| check.utterance(utterance));
    }
    let values = store.state(state.key(), &[]).await?;
    if !values.iter().map(|value| value.entry()).eq(head.state.iter().cloned()) {
        let (stored, listed) = (values.len(), head.state.len());
        wrong.push(format!("its {stored} state values are not the {listed} in its description"));
    }
    wrong.extend(check.done());
    Ok(wrong)
}

/// Returns the archived utterances and those of the window among `part`, ascending.
fn in_order(archived: Vec<Arc<Utterance>>, part: &Ranges, state: &Conversation) -> Vec<Arc<Utterance>> {
    let mut utterances = archived;
    let in_window = part.iter().flat_map(|range| state.window.between(*range.start(), *range.end()));
    utterances.extend(in_window.cloned());
    utterances.sort_unstable_by_key(|utterance| utterance.sequence);
    utterances
}

/// What is wrong with the ids that clients gave to archived utterances.
async fn wrong_ids(
    key: &ConversationKey,
    archived: &[Arc<Utterance>],
    store: &dyn Store,
) -> Result<Vec<String>> {
    let given = archived.iter().filter_map(|utterance| Some((utterance.given_id()?, utterance.sequence)));
    let ids: Vec<Box<str>> = given.clone().map(|(id, _)| id.into()).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = store.archived_ids(key, &ids).await?;
    let wrong = given.filter(|(id, sequence)| found.get(*id) != Some(sequence));
    Ok(wrong.map(|(id, sequence)| format!("the id {id:?} does not lead to utterance {sequence}")).collect())
}

/// A recipient's own state is in no index.
fn wrong_of_own_state(state: &Conversation) -> Vec<String> {
    let identity = &state.head.identity;
    let mut wrong = Vec::new();
    if !identity.is_listed() {
        if identity.key.id != ConversationId::of_state(&identity.recipient) {
            wrong.push(format!("it holds the state of {}", identity.recipient));
        }
        if Listed::of(state).is_any() {
            wrong.push("it ends, expires, or waits for a model".to_owned());
        }
    }
    wrong
}

/// An error of the store, without the advice to verify it.
pub(super) fn without_advice(error: &StoreError) -> String {
    let text = match error {
        StoreError::Unavailable(text) => text.clone(),
        error => error.to_string(),
    };
    match text.rsplit_once("; ") {
        Some((error, advice)) if advice.contains("utterd verify") => error.to_owned(),
        _ => text,
    }
}

/// What the lists must tell of a conversation.
pub(super) struct Listed {
    pub(super) key: ConversationKey,
    pub(super) recipient: RecipientId,
    /// The state in which it was read.
    pub(super) change: ChangeId,
    pub(super) has_ended: bool,
    pub(super) expires: bool,
    pub(super) waits: bool,
}

impl Listed {
    pub(super) fn of(state: &Conversation) -> Self {
        Self {
            key: state.key().clone(),
            recipient: state.head.identity.recipient.clone(),
            change: state.head.change,
            has_ended: state.head.ended.is_some(),
            expires: state.head.expire_time().is_some(),
            waits: state.awaits_since().is_some(),
        }
    }

    /// Whether it has ended, expires, or waits for a model.
    pub(super) fn is_any(&self) -> bool {
        self.has_ended || self.expires || self.waits
    }

    pub(super) fn owner(&self) -> RecipientKey {
        RecipientKey { namespace: self.key.namespace.clone(), id: self.recipient.clone() }
    }
}
