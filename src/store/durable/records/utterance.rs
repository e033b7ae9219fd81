//! An utterance.

use std::{
    collections::BTreeMap,
    ops::{Range, RangeInclusive},
};

use prost::Message;

use crate::{
    domain::{LineageId, More, Original, Sequence, Timestamp, ToolCall, Utterance, UtteranceId},
    store::durable::key_value::Key,
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    conversation::lineage,
    fields::Fields,
    key::behind,
    kind::{key, message},
    number::{Numbered, numbered, sequence},
};

/// The kind of utterances, by the lineage that they were written to and their sequence.
#[derive(Clone, Copy, Debug)]
pub struct Utterances;

/// What the keys of all utterances of a lineage; they are by ascending sequence begin with.
pub fn utterances_of(lineage: LineageId) -> Key {
    let mut prefix = KeyWriter::of(Utterances::NUMBER);
    prefix.lineage(lineage);
    prefix.done()
}

/// The keys of the utterances of a lineage from one sequence to another.
pub fn utterances_among(lineage: LineageId, sequences: RangeInclusive<Sequence>) -> Range<Key> {
    let (first, last) = sequences.into_inner();
    key::<Utterances>(&(lineage, first))..behind(key::<Utterances>(&(lineage, last)))
}

#[derive(Clone, PartialEq, Message)]
struct Stored {
    /// How far its unit starts before it.
    #[prost(uint64, tag = "1")]
    unit_back: u64,
    #[prost(sint64, tag = "2")]
    create_time: i64,
    #[prost(uint32, tag = "3")]
    turn: u32,
    #[prost(uint32, tag = "4")]
    tokens: u32,
    #[prost(uint32, tag = "5")]
    role: u32,
    #[prost(bool, tag = "6")]
    forgotten: bool,
    #[prost(bool, tag = "7")]
    pinned: bool,
    #[prost(bool, tag = "8")]
    instruction: bool,
    #[prost(bool, tag = "9")]
    aside: bool,
    /// Absent when the id was assigned.
    #[prost(string, tag = "10")]
    given_id: String,
    /// Absent when the id was given, or assigned from the key's lineage.
    #[prost(bytes = "vec", tag = "11")]
    assigned_from: Vec<u8>,
    #[prost(string, tag = "12")]
    content: String,
    #[prost(message, optional, tag = "13")]
    more: Option<StoredMore>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredMore {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    tool_calls: Vec<StoredCall>,
    #[prost(string, optional, tag = "3")]
    tool_call_id: Option<String>,
    #[prost(string, repeated, tag = "4")]
    tools_used: Vec<String>,
    #[prost(btree_map = "string, string", tag = "5")]
    metadata: BTreeMap<String, String>,
    #[prost(bool, tag = "6")]
    awaits_answer: bool,
    #[prost(string, optional, tag = "7")]
    extras_json: Option<String>,
    #[prost(uint32, tag = "8")]
    extras_tokens: u32,
    #[prost(message, optional, tag = "20")]
    original: Option<StoredOriginal>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredOriginal {
    #[prost(string, tag = "1")]
    content: String,
    #[prost(sint64, tag = "2")]
    edit_time: i64,
}

#[derive(Clone, PartialEq, Message)]
struct StoredCall {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    arguments_json: String,
}

impl Kind for Utterances {
    const NUMBER: u8 = 7;
    const VERSION: u8 = 1;
    const NAME: &'static str = "utterance";
    type Key = (LineageId, Sequence);
    type Value = Utterance;

    fn write_key((lineage, sequence): &(LineageId, Sequence), to: &mut KeyWriter) {
        to.lineage(*lineage).sequence(*sequence);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(LineageId, Sequence), Fault> {
        Ok((parts.lineage()?, parts.sequence()?))
    }

    fn show((lineage, sequence): &(LineageId, Sequence)) -> String {
        format!("{lineage}-{sequence}")
    }

    fn room(value: &Utterance) -> usize {
        // Of what most do not have, the parts are few and small beside their text.
        value.text_bytes() + if value.more.is_some() { 192 } else { 48 }
    }

    fn write((lineage, sequence): &(LineageId, Sequence), value: &Utterance, to: &mut Vec<u8>) {
        let mut to = Fields::to(to);
        to.number(1, sequence.0.wrapping_sub(value.unit.0));
        to.signed(2, value.create_time.0);
        to.number(3, value.turn);
        to.number(4, value.tokens);
        to.number(5, value.role.number());
        to.flag(6, value.forgotten);
        to.flag(7, value.pinned);
        to.flag(8, value.instruction);
        to.flag(9, value.aside);
        match &value.id {
            UtteranceId::Given(id) => to.text(10, id),
            UtteranceId::Assigned(from) if from == lineage => {}
            UtteranceId::Assigned(from) => to.bytes(11, &from.0),
        }
        to.text(12, &value.content);
        if let Some(more) = &value.more {
            to.message(13, |to| write_more(more, to));
        }
    }

    fn read(key: &(LineageId, Sequence), payload: &[u8]) -> Result<Utterance, Fault> {
        let stored: Stored = message(payload)?;
        Ok(Utterance {
            sequence: key.1,
            unit: sequence("the unit", key.1.0.saturating_sub(stored.unit_back))?,
            create_time: Timestamp(stored.create_time),
            turn: stored.turn,
            tokens: stored.tokens,
            id: id(&stored, key.0)?,
            role: numbered(stored.role)?,
            forgotten: stored.forgotten,
            pinned: stored.pinned,
            instruction: stored.instruction,
            aside: stored.aside,
            content: stored.content.into(),
            more: stored.more.map(|more| Box::new(read_more(more))),
        })
    }
}

fn write_more(more: &More, to: &mut Fields<'_>) {
    let optional = |to: &mut Fields<'_>, field, text: &Option<Box<str>>| {
        text.iter().for_each(|text| to.present_text(field, text));
    };
    optional(to, 1, &more.name);
    for call in &more.tool_calls {
        to.message(2, |to| {
            to.text(1, &call.id);
            to.text(2, &call.name);
            to.text(3, &call.arguments_json);
        });
    }
    optional(to, 3, &more.tool_call_id);
    more.tools_used.iter().for_each(|tool| to.present_text(4, tool));
    for (key, value) in &more.metadata {
        to.message(5, |to| {
            to.text(1, key);
            to.text(2, value);
        });
    }
    to.flag(6, more.awaits_answer);
    optional(to, 7, &more.extras_json);
    to.number(8, more.extras_tokens);
    if let Some(original) = &more.original {
        to.message(20, |to| {
            to.text(1, &original.content);
            to.signed(2, original.edit_time.0);
        });
    }
}

fn read_more(stored: StoredMore) -> More {
    let call = |call: StoredCall| ToolCall {
        id: call.id.into(),
        name: call.name.into(),
        arguments_json: call.arguments_json.into(),
    };
    More {
        name: stored.name.map(Box::from),
        tool_calls: stored.tool_calls.into_iter().map(call).collect(),
        tool_call_id: stored.tool_call_id.map(Box::from),
        tools_used: stored.tools_used.into_iter().map(Box::from).collect(),
        metadata: stored.metadata,
        awaits_answer: stored.awaits_answer,
        extras_json: stored.extras_json.map(Box::from),
        extras_tokens: stored.extras_tokens,
        original: stored.original.map(|original| Original {
            content: original.content.into(),
            edit_time: Timestamp(original.edit_time),
        }),
    }
}

fn id(stored: &Stored, own: LineageId) -> Result<UtteranceId, Fault> {
    match (stored.given_id.as_str(), stored.assigned_from.as_slice()) {
        ("", []) => Ok(UtteranceId::Assigned(own)),
        ("", from) => lineage("the lineage of the id", from).map(UtteranceId::Assigned),
        (given, []) => UtteranceId::given(given).map_err(|error| Fault::wrong("the id", error)),
        _ => Err(Fault::wrong("the id", "was both given and assigned")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::given, *};

    proptest! {
        #[test]
        fn is_written_as_prost_writes_it((lineage, utterance) in given::utterance()) {
            let mut payload = Vec::new();
            Utterances::write(&(lineage, utterance.sequence), &utterance, &mut payload);
            prop_assert_eq!(Stored::decode(&*payload).unwrap().encode_to_vec(), payload);
        }
    }
}
