//! The outcome of a call with a request id.

use crate::{Outcome, Reference};
use utterd_domain::{
    LineageId, UtteranceId, capacity::Capacity, compaction::Advice, forget::erasure::InForks,
};

use super::{
    Fault,
    field::{Field, Message, message},
    fields::Fields,
    payload::Payload,
};

message! {
    Outcome {
        1 body: "the hash of the body",
        2 time: "the time",
        3 conversation: "the conversation",
        4 revision: "the revision",
        5 started: "whether it started",
        6 memorized: "the memorized ranges",
        7 evicted: "the evicted ranges",
        8 forgotten: "the forgotten ranges",
        9 restored: "the restored ranges",
        10 target: "the target",
        11 rebuilt_segments: "the rebuilt segments",
        12 capacity: "the capacity",
        13 ended: "the conversation that ended",
        14 still_told: "the ranges still in the summary",
        15 references: "a reference",
        16 in_forks: "what other conversations lost",
    }
}

message! {
    InForks {
        1 conversations: "the other conversations",
        2 utterances: "the utterances of others",
    }
}

/// An assigned id is stored as its lineage, which is absent if the previous assigned id has the same lineage.
impl Field for Vec<Reference> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        let mut before = None;
        for reference in self {
            to.message(number, |to| put(reference, before, to));
            before = lineage(reference).or(before);
        }
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        let mut before = None;
        let references = from.all(number).map(|stored| {
            let reference = get(part, before, &stored.message(part)?)?;
            before = lineage(&reference).or(before);
            Ok(reference)
        });
        let references: Self = references.collect::<Result<_, Fault>>()?;
        match references.is_sorted_by(|one, other| one.sequence < other.sequence) {
            true => Ok(references),
            false => Err(Fault::wrong(part, "does not follow the one before")),
        }
    }
}

fn lineage(reference: &Reference) -> Option<LineageId> {
    match reference.id {
        UtteranceId::Assigned(lineage) => Some(lineage),
        UtteranceId::Given(_) => None,
    }
}

fn put(reference: &Reference, before: Option<LineageId>, to: &mut Fields<'_>) {
    reference.sequence.put(1, to);
    match &reference.id {
        UtteranceId::Given(id) => id.put(2, to),
        UtteranceId::Assigned(lineage) if Some(*lineage) == before => {}
        UtteranceId::Assigned(lineage) => lineage.put(3, to),
    }
    reference.role.put(4, to);
    reference.turn.put(5, to);
    reference.tokens.put(6, to);
    reference.position.put(7, to);
    reference.late.put(8, to);
}

fn get(part: &'static str, before: Option<LineageId>, from: &Payload<'_>) -> Result<Reference, Fault> {
    let given: Option<Box<str>> = Field::get("the id of a reference", 2, from)?;
    let assigned: Option<LineageId> = Field::get("the lineage of a reference", 3, from)?;
    let id = match (given, assigned.or(before)) {
        (Some(given), _) => UtteranceId::given(&given).map_err(|error| Fault::wrong(part, error))?,
        (None, Some(lineage)) => UtteranceId::Assigned(lineage),
        (None, None) => return Err(Fault::wrong(part, "has no id")),
    };
    Ok(Reference {
        sequence: Field::get("the sequence of a reference", 1, from)?,
        id,
        role: Field::get("the role of a reference", 4, from)?,
        turn: Field::get("the turn of a reference", 5, from)?,
        tokens: Field::get("the tokens of a reference", 6, from)?,
        position: Field::get("the position of a reference", 7, from)?,
        late: Field::get("whether a reference came late", 8, from)?,
    })
}

message! {
    Capacity {
        1 utterances: "the utterances",
        2 forgotten: "the forgotten utterances",
        3 turns: "the turns",
        4 tokens: "the tokens",
        5 max_utterances: "the maximum of utterances",
        6 max_tokens: "the maximum of tokens",
        7 max_turns: "the maximum of turns",
        8 over_limit: "a cause of being over the limit",
        9 archived: "the archived utterances",
        10 summary_tokens: "the tokens of the summary",
        11 summary_limit: "the limit of the summary",
        12 segments: "the segments",
        13 covered: "the covered utterances",
        14 provisional: "the provisional segments",
        15 advice: "the advice",
        16 keep_utterances: "the utterances to keep",
        17 keep_tokens: "the tokens to keep",
        18 keep_turns: "the turns to keep",
    }
}

message! {
    Advice {
        1 threshold: "the threshold",
        2 utterances: "the utterances at the advice",
    }
}
