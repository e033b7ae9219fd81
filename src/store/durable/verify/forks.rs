//! The lineages whose utterances forks share.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{
    names::{self, Names},
    survey::Survey,
};
use crate::{
    domain::{Head, LineageId, Ranges, Sequence},
    store::durable::records::{self, Heads, Readers},
};

/// The lineages that forked conversations write to or read.
pub(super) struct Forks {
    /// The last sequence that each reader of a lineage reads there, and all sequences that the reader has, in
    /// any lineage.
    parts: FxHashMap<LineageId, Vec<(Sequence, Ranges)>>,
    /// The last sequence that a conversation reads of a trunk, by trunk and reader.
    trunks: BTreeMap<(LineageId, LineageId), Sequence>,
    /// Whether every head could be read.
    pub(super) complete: bool,
}

impl Forks {
    /// Reads the heads of all conversations. Problems with a head are reported where heads are checked.
    pub(super) fn read(survey: &Survey<'_>, names: &Names) -> Self {
        let mut forks =
            Self { parts: FxHashMap::default(), trunks: BTreeMap::new(), complete: names.complete };
        for pair in survey.all_of(<Heads as records::Kind>::NUMBER) {
            let record = pair.ok().and_then(|(key, value)| records::decode::<Heads>(&key, &value).ok());
            match record {
                Some((own, record)) if record.head.is_forked() && names.of(own).is_some() => {
                    forks.add(own, &record.head);
                }
                Some(_) => {}
                None => forks.complete = false,
            }
        }
        forks
    }

    fn add(&mut self, own: LineageId, head: &Head) {
        for (lineage, through) in head.lineages() {
            self.parts.entry(lineage).or_default().push((through, head.kept()));
        }
        let trunks = head.trunks.iter().map(|trunk| ((trunk.lineage, own), trunk.through));
        self.trunks.extend(trunks);
    }

    /// Whether a forked conversation writes to the lineage or reads it.
    pub(super) fn hold(&self, lineage: LineageId) -> bool {
        self.parts.contains_key(&lineage)
    }

    /// Whether some forked conversation may have an utterance stored in a lineage.
    pub(super) fn may_have(&self, lineage: LineageId, sequence: Sequence) -> bool {
        let mut parts = self.parts.get(&lineage).into_iter().flatten();
        !self.complete || parts.any(|(through, kept)| sequence <= *through && kept.contains(sequence))
    }

    /// Checks that each reader record belongs to a conversation with that trunk, and that each trunk of a
    /// conversation has a reader record.
    pub(super) fn check_readers(&mut self, survey: &mut Survey<'_>, names: &Names) {
        let complete = survey.each::<Readers>(|survey, at, told| {
            let (through, Some(told)) = (self.trunks.remove(&at), told) else { return };
            let is_named = names.of(at.1).is_some_and(|identity| identity.key == told.conversation);
            let wrong = match through {
                None if !self.complete => return,
                None => "no such conversation reads that lineage".to_owned(),
                Some(_) if !is_named => format!("the conversation is not {}", told.conversation.id),
                Some(through) if told.through != through => {
                    format!("it reads up to {}, but its head says {through}", told.through)
                }
                Some(_) => return,
            };
            survey.problem(records::name::<Readers>(&at), wrong);
        });
        for (lineage, reader) in self.trunks.keys().filter(|_| complete) {
            let subject = names.of(*reader).map_or_else(|| reader.to_string(), |it| names::subject(it));
            survey.problem(subject, format_args!("it is not among the readers of lineage {lineage}"));
        }
    }
}
