//! What a search found, for a context to quote.

use std::sync::Arc;

use crate::domain::{ConversationId, Head, Timestamp, Utterance};

/// An utterance that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The utterance.
    pub utterance: Arc<Utterance>,
    /// The conversation it is from, if that is another one.
    pub source: Option<Arc<Source>>,
}

/// An utterance that a search found, and those around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The utterance that was found.
    pub found: Found,
    /// The rest of its unit, and the utterance before that, from the same conversation, ascending.
    pub around: Vec<Arc<Utterance>>,
}

/// Another conversation of the recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its id.
    pub id: ConversationId,
    /// The title it was given, or got when it ended.
    pub title: Option<Arc<str>>,
    /// When it began.
    pub start_time: Timestamp,
}

impl Source {
    /// The name of the conversation of `head`.
    pub fn of(head: &Head) -> Self {
        let made = || head.ended.as_ref().and_then(|ended| ended.title.clone());
        Self {
            id: head.identity.key.id.clone(),
            title: head.title.clone().or_else(made),
            start_time: head.identity.start_time,
        }
    }

    /// The order in which conversations are quoted.
    pub(super) fn order(&self) -> (Timestamp, &ConversationId) {
        (self.start_time, &self.id)
    }

    /// The line before its utterances.
    pub(super) fn heading(&self) -> String {
        format!("From {}:\n", self.name())
    }

    /// Its title and the day on which it began.
    pub(super) fn name(&self) -> String {
        let date = match jiff::Timestamp::from_microsecond(self.start_time.0) {
            Ok(time) => time.strftime("%Y-%m-%d").to_string(),
            Err(_) => "an unknown date".to_owned(),
        };
        match &self.title {
            Some(title) => format!("\"{title}\" of {date}"),
            None => format!("a conversation of {date}"),
        }
    }
}

impl From<&Arc<Utterance>> for Match {
    fn from(utterance: &Arc<Utterance>) -> Self {
        Self { found: Found { utterance: utterance.clone(), source: None }, around: Vec::new() }
    }
}

impl Found {
    /// Whether it is an utterance of this conversation, with a sequence that is `wanted`.
    pub(super) fn is_here(&self, wanted: impl FnOnce(crate::domain::Sequence) -> bool) -> bool {
        self.source.is_none() && wanted(self.utterance.sequence)
    }
}
