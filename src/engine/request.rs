//! Request ids: a call that is repeated is answered with its first outcome (AIP-155).

use crate::{
    domain::{Change, Conversation, Ranges, RequestId, Sequence, Timestamp, capacity::Capacity},
    engine::Caller,
    store::{Outcome, OutcomeKey},
};

/// One attempt of a mutating call, named by its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The call, such as `Memorize`.
    pub rpc: &'static str,
    /// The caller's id for it.
    pub id: RequestId,
    /// A hash of the request's body without the id.
    pub body: u128,
}

impl Attempt {
    pub(super) fn key(&self, caller: &Caller) -> OutcomeKey {
        OutcomeKey { namespace: caller.namespace.clone(), rpc: self.rpc, request: self.id.clone() }
    }

    pub(super) fn outcome(
        &self,
        time: Timestamp,
        after: &Conversation,
        change: Option<&Change>,
        target: Option<Sequence>,
    ) -> Outcome {
        let evicted = change.map(|change| change.evicted.iter().map(|u| u.sequence).collect());
        let memorized = change.map(|change| change.appended.iter().map(|u| u.sequence).collect());
        let forgotten = change.map(|change| match change.erased.is_empty() {
            true => change.forgotten.clone(),
            false => change.erased.clone(),
        });
        Outcome {
            body: self.body,
            time,
            conversation: after.key().id.clone(),
            revision: after.head.revision,
            started: change.is_some_and(|change| change.before == crate::domain::Revision::NONE),
            ended: None,
            memorized: memorized.unwrap_or_default(),
            evicted: evicted.unwrap_or_default(),
            forgotten: forgotten.unwrap_or_default(),
            restored: change.map(brought_back).unwrap_or_default(),
            target,
            rebuilt_segments: change.map_or(0, |change| change.segments_removed.len() as u32),
            capacity: Capacity::of(after),
        }
    }
}

/// What takes part again, or is in the window again.
fn brought_back(change: &Change) -> Ranges {
    let mut back = change.restored.clone();
    change.returned.iter().for_each(|utterance| back.add(utterance.sequence));
    back
}
