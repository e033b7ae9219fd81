//! Request ids: a repeated call gets the outcome of the first (AIP-155).

use crate::Caller;
use utterd_domain::RequestId;
use utterd_store::OutcomeKey;

/// One attempt at a mutating call, identified by its request id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The call, such as `Memorize`.
    pub rpc: &'static str,
    /// The request id.
    pub id: RequestId,
    /// A hash of the request's body without the id.
    pub body: u128,
}

impl Attempt {
    pub(crate) fn key(&self, caller: &Caller) -> OutcomeKey {
        OutcomeKey { namespace: caller.namespace.clone(), rpc: self.rpc, request: self.id.clone() }
    }
}
