//! What is sent at a time: one utterance, or a batch.

use prost::Message as _;
use xxhash_rust::xxh3::Xxh3;

use crate::{
    cli::{message::Message, transcript::Transcript},
    proto::{MemorizeRequest, NewUtterance},
};

/// Utterances of a transcript that are sent together. At least one.
pub struct Attempt<'a> {
    transcript: &'a Transcript,
    recipient: &'a str,
    steps: Vec<Step<'a>>,
}

/// One message of a transcript.
#[derive(Clone, Copy)]
struct Step<'a> {
    /// Its place, from 1.
    number: usize,
    /// A hash of where it goes, of everything before it and of itself.
    hash: u64,
    message: &'a Message,
}

/// The attempts that send `transcript` in batches.
///
/// Ids are made from where an utterance goes and from everything up to it: so the same message in
/// two conversations has two ids, and a longer version of a transcript has the ids of the shorter
/// one as far as that goes.
pub fn attempts<'a>(
    transcript: &'a Transcript,
    recipient: &'a str,
    batch: u16,
) -> impl Iterator<Item = Attempt<'a>> {
    let mut hasher = Xxh3::new();
    for id in [recipient, &transcript.conversation_id] {
        hasher.update(id.as_bytes());
        hasher.update(b"\n");
    }
    let step = |(index, message): (usize, &'a Message)| {
        hasher.update(&message.utterance.encode_length_delimited_to_vec());
        Step { number: index + 1, hash: hasher.digest(), message }
    };
    let steps: Vec<_> = transcript.messages.iter().enumerate().map(step).collect();
    let batches: Vec<_> = steps.chunks(batch.max(1).into()).map(<[_]>::to_vec).collect();
    batches.into_iter().map(move |steps| Attempt { transcript, recipient, steps })
}

impl<'a> Attempt<'a> {
    /// How many utterances it sends.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The transcript's label.
    pub fn label(&self) -> &str {
        &self.transcript.label
    }

    /// Where it stands in the transcript: `message 17`, `messages 11 to 20`.
    pub fn place(&self) -> String {
        match (self.steps.first(), self.steps.last()) {
            (Some(first), Some(last)) if first.number < last.number => {
                format!("messages {} to {}", first.number, last.number)
            }
            (Some(first), _) => format!("message {}", first.number),
            (None, _) => "no message".into(),
        }
    }

    /// The number of the message at `index` of what is sent.
    pub fn number(&self, index: usize) -> usize {
        self.steps.get(index).map_or(0, |step| step.number)
    }

    /// What had to be bent to memorize its utterances, with the number of the message.
    pub fn irregularities(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.steps.iter().filter_map(|step| Some((step.number, step.message.irregularity.as_deref()?)))
    }

    /// An attempt for each of its utterances; `None` when it has but one.
    pub fn apart(&self) -> Option<impl Iterator<Item = Self>> {
        let one = |step: &Step<'a>| Self { steps: vec![*step], ..*self };
        (self.steps.len() > 1).then(|| self.steps.iter().map(one))
    }

    /// The request that sends it.
    pub fn request(&self, lenient: bool) -> MemorizeRequest {
        MemorizeRequest {
            conversation_id: self.transcript.conversation_id.clone(),
            recipient_id: self.recipient.into(),
            utterances: self.steps.iter().map(Step::utterance).collect(),
            request_id: self.request_id(),
            lenient,
            ..Default::default()
        }
    }

    fn request_id(&self) -> String {
        match self.steps.as_slice() {
            [one] => one.id(),
            batch => {
                let last = batch.last().map(Step::id).unwrap_or_default();
                format!("{last}-of-{}", batch.len())
            }
        }
    }
}

impl Step<'_> {
    fn id(&self) -> String {
        format!("replay-{:016x}-{}", self.hash, self.number)
    }

    fn utterance(&self) -> NewUtterance {
        NewUtterance { utterance_id: self.id(), ..self.message.utterance.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(conversation_id: &str, contents: &[&str]) -> Transcript {
        let message = |content: &&str| Message {
            utterance: NewUtterance { content: (*content).into(), ..Default::default() },
            irregularity: None,
        };
        Transcript {
            label: "a".into(),
            conversation_id: conversation_id.into(),
            messages: contents.iter().map(message).collect(),
        }
    }

    fn ids(transcript: &Transcript, recipient: &str, batch: u16) -> Vec<String> {
        attempts(transcript, recipient, batch).map(|attempt| attempt.request_id()).collect()
    }

    #[test]
    fn ids_depend_on_the_place_and_on_what_came_before() {
        let short = ids(&transcript("c", &["a", "a"]), "", 1);
        let long = ids(&transcript("c", &["a", "a", "b"]), "", 1);
        assert_eq!(short, long[..2]);
        assert_ne!(short[0], short[1]);
        assert_ne!(short, ids(&transcript("d", &["a", "a"]), "", 1));
        assert_ne!(short, ids(&transcript("c", &["a", "a"]), "r", 1));
    }

    #[test]
    fn a_batch_comes_apart() {
        let transcript = transcript("c", &["a", "b", "c"]);
        let attempts: Vec<_> = attempts(&transcript, "", 2).collect();
        let places: Vec<_> = attempts.iter().map(Attempt::place).collect();
        assert_eq!(places, ["messages 1 to 2", "message 3"]);
        let apart: Vec<_> = attempts[0].apart().into_iter().flatten().map(|one| one.request_id()).collect();
        assert_eq!(apart, ids(&transcript, "", 1)[..2]);
        assert!(attempts[1].apart().is_none());
    }
}
