//! What a repeated call refers to.

use std::sync::Arc;

use crate::{
    domain::{Conversation, Utterance},
    store::Outcome,
};

/// An earlier outcome, with what is still stored of the utterances that it refers to.
#[derive(Debug)]
pub struct References {
    /// The outcome.
    pub outcome: Arc<Outcome>,
    /// The conversation as it is now; `None` when it is deleted.
    pub conversation: Option<Arc<Conversation>>,
    /// The stored utterances among those that it refers to.
    pub utterances: Vec<Arc<Utterance>>,
}
