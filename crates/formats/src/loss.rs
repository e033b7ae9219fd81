//! What an export cannot carry.

use utterd_domain::{Ranges, Sequence};

/// Something that a format cannot carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// What the export lacks, such as `metadata`.
    pub field: String,
    /// The reason.
    pub reason: String,
    /// The utterances that lack it; empty if the conversation does.
    pub sequences: Ranges,
}

/// The losses of an export, each listed once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses(Vec<Loss>);

impl Losses {
    /// Records a loss for an utterance, or for the conversation.
    pub fn add(&mut self, field: &str, reason: &str, sequence: Option<Sequence>) {
        let same = |loss: &Loss| loss.field == field && loss.reason == reason;
        let place = self.0.iter().position(same).unwrap_or_else(|| {
            let (field, reason) = (field.to_owned(), reason.to_owned());
            self.0.push(Loss { field, reason, sequences: Ranges::new() });
            self.0.len() - 1
        });
        sequence.into_iter().for_each(|sequence| self.0[place].sequences.add(sequence));
    }

    /// Records a loss for several utterances, if there are any.
    pub fn add_all(&mut self, field: &str, reason: &str, sequences: Ranges) {
        if !sequences.is_empty() {
            let (field, reason) = (field.to_owned(), reason.to_owned());
            self.0.push(Loss { field, reason, sequences });
        }
    }

    /// All losses, in the order in which they were found.
    pub fn into_vec(self) -> Vec<Loss> {
        self.0
    }

    /// Whether nothing is lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
