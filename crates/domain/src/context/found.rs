//! What a context takes from elsewhere: what a search found, and how other conversations ended.

use std::{ops::Range, sync::Arc};

use crate::{ConversationId, Head, Timestamp, Utterance};

/// An utterance that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The utterance.
    pub utterance: Arc<Utterance>,
    /// The conversation it is from, if that is another one.
    pub source: Option<Arc<Source>>,
    /// In a context, the byte ranges of the content that are quoted; none if all of it is.
    pub quoted: Vec<Range<usize>>,
}

/// An utterance that a search found, and those around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The utterance that was found.
    pub found: Found,
    /// The byte ranges of its content that match.
    pub matched: Vec<Range<usize>>,
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

/// How another conversation of the recipient ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub(super) source: Source,
    /// When it ended.
    pub end_time: Timestamp,
    summary: Option<Arc<str>>,
}

impl Earlier {
    /// How the conversation of `head` ended; `None` if it has not, or if nothing is known of it.
    pub fn of(head: &Head) -> Option<Self> {
        let ended = head.ended.as_ref()?;
        let (source, summary) = (Source::of(head), ended.summary.clone());
        let says = source.title.is_some() || summary.is_some();
        says.then_some(Self { source, end_time: ended.time, summary })
    }

    /// Its line: with the summary, or with its name alone. A line end within would look like another
    /// conversation.
    pub(super) fn line(&self, whole: bool) -> String {
        let mut line = format!("- {}", self.source.name());
        if let Some(summary) = self.summary.as_ref().filter(|_| whole) {
            line.push(':');
            summary.split_whitespace().for_each(|word| line.extend([" ", word]));
        }
        line.push('\n');
        line
    }
}

impl From<&Arc<Utterance>> for Match {
    fn from(utterance: &Arc<Utterance>) -> Self {
        Self {
            found: Found { utterance: utterance.clone(), source: None, quoted: Vec::new() },
            matched: Vec::new(),
            around: Vec::new(),
        }
    }
}

/// Returns the unit of `found` without `found`, and the utterance before the unit, from the ascending `stored`.
pub fn surrounding(stored: &[Arc<Utterance>], found: &Utterance) -> Vec<Arc<Utterance>> {
    let start = stored.partition_point(|other| other.sequence < found.unit);
    let unit = stored[start..].iter().take_while(|other| other.unit == found.unit);
    let unit = unit.filter(|other| other.sequence != found.sequence);
    let before = stored[..start].last().filter(|before| before.sequence.next() == found.unit);
    before.into_iter().chain(unit).cloned().collect()
}

impl Found {
    /// Whether it is an utterance of this conversation, with a sequence that is `wanted`.
    pub(super) fn is_here(&self, wanted: impl FnOnce(crate::Sequence) -> bool) -> bool {
        self.source.is_none() && wanted(self.utterance.sequence)
    }
}
