//! The records: whose they are.

use rustc_hash::FxHashMap;

use crate::{
    RecipientKey,
    records::{self, ConversationName, Heads, Kind, LineageReader, Record},
};
use utterd_domain::{ConversationId, ConversationKey, Head, LineageId, Ranges, Sequence};

/// What the records taken so far tell of each other. A record of a name or a head comes before those that belong
/// to it.
#[derive(Default)]
pub(super) struct Records {
    /// All conversations.
    pub(super) names: Vec<ConversationKey>,
    /// The active conversations of recipients.
    pub(super) active: Vec<(RecipientKey, ConversationId)>,
    /// Whether the record of a name or a head could not be read: others may then belong to it.
    pub(super) is_broken: bool,
    /// The conversations by the lineages of their identities.
    owners: FxHashMap<LineageId, ConversationKey>,
    /// For each lineage with utterances, the last sequence that a conversation reads there, and all that it has.
    kept: FxHashMap<LineageId, Vec<(Sequence, Ranges)>>,
    /// The last sequence that a conversation reads in a trunk, by trunk and conversation, until its record of a
    /// reader was taken.
    trunks: FxHashMap<(LineageId, LineageId), Sequence>,
}

impl Records {
    /// Whether other records belong to a record with this key.
    pub(super) fn are_needed_for_others(key: &[u8]) -> bool {
        key.first().is_none_or(|kind| [ConversationName::NUMBER, Heads::NUMBER].contains(kind))
    }

    /// Takes the next record; returns what is wrong with it.
    pub(super) fn take(&mut self, record: &Record) -> Option<String> {
        match record {
            Record::ConversationName(key, identity) => {
                self.names.push(key.clone());
                let other = self.owners.insert(identity.lineage, key.clone())?;
                Some(format!("has the same lineage as {}", subject(&other)))
            }
            Record::Heads(lineage, record) => {
                self.add(*lineage, &record.head);
                self.of_nobody(*lineage)
            }
            Record::Descriptions(lineage, _)
            | Record::Segments((lineage, _), _)
            | Record::Compactions((lineage, _), _)
            | Record::StateValues((lineage, _), _)
            | Record::Blocks((lineage, _), _) => self.of_nobody(*lineage),
            Record::Utterances((lineage, sequence), _) | Record::GivenIds((lineage, _), sequence) => {
                let is_unkept = !self.is_broken && !self.is_kept(*lineage, *sequence);
                is_unkept.then(|| format!("no conversation has utterance {sequence}"))
            }
            Record::Readers(at, reader) => self.misread(*at, reader),
            Record::Active(recipient, id) => {
                self.active.push((recipient.clone(), id.clone()));
                None
            }
            _ => None,
        }
    }

    fn add(&mut self, own: LineageId, head: &Head) {
        for (lineage, through) in head.lineages() {
            self.kept.entry(lineage).or_default().push((through, head.kept()));
        }
        self.trunks.extend(head.trunks.iter().map(|trunk| ((trunk.lineage, own), trunk.through)));
    }

    fn of_nobody(&self, lineage: LineageId) -> Option<String> {
        let is_owned = self.is_broken || self.owners.contains_key(&lineage);
        (!is_owned).then(|| "it belongs to no conversation".to_owned())
    }

    fn is_kept(&self, lineage: LineageId, sequence: Sequence) -> bool {
        let mut kept = self.kept.get(&lineage).into_iter().flatten();
        kept.any(|(through, kept)| sequence <= *through && kept.contains(sequence))
    }

    /// What is wrong with the record that a conversation reads a lineage.
    fn misread(&mut self, at: (LineageId, LineageId), reader: &LineageReader) -> Option<String> {
        match self.trunks.remove(&at) {
            None if self.is_broken => None,
            None => Some("no such conversation reads that lineage".to_owned()),
            Some(_) if self.owners.get(&at.1) != Some(&reader.conversation) && !self.is_broken => {
                Some(format!("the conversation is not {}", reader.conversation.id))
            }
            Some(through) if reader.through != through => {
                Some(format!("it reads up to {}, but its head says {through}", reader.through))
            }
            Some(_) => None,
        }
    }

    /// Returns the conversations that read a lineage without a record of it, once all records were taken.
    pub(super) fn unread(&mut self) -> Vec<(String, String)> {
        let trunks = std::mem::take(&mut self.trunks).into_keys().filter(|_| !self.is_broken);
        let named = |own: &LineageId| self.owners.get(own).map_or_else(|| own.to_string(), subject);
        let unread = |(trunk, own): (LineageId, LineageId)| {
            (named(&own), format!("it is not among the readers of lineage {trunk}"))
        };
        trunks.map(unread).collect()
    }
}

/// Returns the subject of problems with a conversation.
pub(super) fn subject(key: &ConversationKey) -> String {
    records::name::<ConversationName>(key)
}
