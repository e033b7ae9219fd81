//! The lineages whose utterances forks share.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{
    names::Names,
    survey::{Findings, Survey},
};
use crate::{
    domain::{Head, LineageId, Ranges, Sequence},
    store::durable::records::{self, Heads, LineageReader, Readers},
};

/// The lineages that forked conversations write to or read.
pub(super) struct Lineages {
    parts: FxHashMap<LineageId, Vec<Part>>,
    /// Whether every head could be read.
    pub(super) complete: bool,
}

/// A conversation's part of a lineage.
struct Part {
    /// The lineage of the conversation's identity.
    reader: LineageId,
    through: Sequence,
    /// All sequences that the conversation has, here or in other lineages.
    kept: Ranges,
    /// Whether the lineage is a trunk of the conversation; otherwise its branch.
    is_trunk: bool,
}

impl Lineages {
    /// Reads the heads of all conversations. Problems with a head are reported where heads are checked.
    pub(super) fn read(survey: &Survey<'_>, names: &mut Names) -> Self {
        let mut lineages = Self { parts: FxHashMap::default(), complete: names.complete };
        for pair in survey.within(&records::all_of::<Heads>()) {
            let record = pair.ok().and_then(|(key, value)| records::decode::<Heads>(&key, &value).ok());
            match record {
                Some((own, record)) if record.head.is_forked() && names.of(own).is_some() => {
                    lineages.add(own, &record.head);
                }
                Some(_) => {}
                None => lineages.complete = false,
            }
        }
        lineages
    }

    fn add(&mut self, own: LineageId, head: &Head) {
        for (place, (lineage, through)) in head.lineages().enumerate() {
            let part = Part { reader: own, through, kept: head.kept(), is_trunk: place > 0 };
            self.parts.entry(lineage).or_default().push(part);
        }
    }

    /// Whether a forked conversation writes to the lineage or reads it.
    pub(super) fn holds(&self, lineage: LineageId) -> bool {
        self.parts.contains_key(&lineage)
    }

    /// Reports an utterance stored in a lineage if no conversation has it.
    pub(super) fn check(&self, lineage: LineageId, sequence: Sequence, findings: &mut Findings<'_, '_>) {
        let mut parts = self.parts.get(&lineage).into_iter().flatten();
        let is_had = parts.any(|part| sequence <= part.through && part.kept.contains(sequence));
        if self.complete && !is_had {
            findings.add(format_args!("utterance {sequence} is stored, but no conversation has it"));
        }
    }

    /// Checks that each reader record has a conversation with that trunk, and each trunk a reader record.
    pub(super) fn check_readers(&self, survey: &mut Survey<'_>, names: &mut Names) {
        let mut told_of = BTreeSet::new();
        let complete = survey.walk::<Readers>(|survey, (lineage, reader), told| {
            told_of.insert((lineage, reader));
            let mut trunks = self.parts.get(&lineage).into_iter().flatten().filter(|part| part.is_trunk);
            let wrong = match (trunks.find(|part| part.reader == reader), told) {
                (Some(part), Some(told)) => check_reader(part, &told, names).err(),
                (None, _) if self.complete => Some("no such conversation reads that lineage".to_owned()),
                _ => None,
            };
            if let Some(wrong) = wrong {
                survey.problem(records::name::<Readers>(&(lineage, reader)), wrong);
            }
        });
        let parts =
            self.parts.iter().flat_map(|(lineage, parts)| parts.iter().map(move |part| (lineage, part)));
        let trunks = parts.filter(|(_, part)| part.is_trunk).map(|(lineage, part)| (*lineage, part.reader));
        let missing = trunks.filter(|trunk| complete && !told_of.contains(trunk)).collect::<BTreeSet<_>>();
        for (lineage, reader) in missing {
            let subject = names.of(reader).map_or_else(|| reader.to_string(), |known| known.subject());
            survey.problem(subject, format_args!("it is not among the readers of lineage {lineage}"));
        }
    }
}

fn check_reader(part: &Part, told: &LineageReader, names: &mut Names) -> Result<(), String> {
    if names.of(part.reader).is_none_or(|known| known.identity.key != told.conversation) {
        return Err(format!("the conversation is not {}", told.conversation.id));
    }
    match told.through == part.through {
        true => Ok(()),
        false => Err(format!("it reads up to {}, but its head says {}", told.through, part.through)),
    }
}
