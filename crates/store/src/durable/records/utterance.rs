//! The record of an utterance.

use utterd_domain::{
    LineageId, More, Original, Sequence, ToolCall, Utterance, UtteranceId, exchange::LateResult,
};

use super::{
    Fault,
    field::{Field, Message, message},
    fields::Fields,
    kind::RecordValue,
    number::sequence,
    payload::Payload,
};

impl RecordValue<(LineageId, Sequence)> for Utterance {
    fn room(&self) -> usize {
        // The optional parts are few, and small compared to the text.
        self.text_bytes() + if self.more.is_some() { 192 } else { 48 }
    }

    fn write(&self, (lineage, sequence): &(LineageId, Sequence), to: &mut Fields<'_>) {
        // The distance from the unit's start.
        sequence.0.wrapping_sub(self.unit.0).put(1, to);
        self.create_time.put(2, to);
        self.turn.put(3, to);
        self.tokens.put(4, to);
        self.role.put(5, to);
        self.forgotten.put(6, to);
        self.pinned.put(7, to);
        self.instruction.put(8, to);
        self.aside.put(9, to);
        match &self.id {
            UtteranceId::Given(id) => id.put(10, to),
            UtteranceId::Assigned(from) if from == lineage => {}
            UtteranceId::Assigned(from) => from.put(11, to),
        }
        self.content.put(12, to);
        if let Some(more) = &self.more {
            more.put(13, to);
        }
    }

    fn read((lineage, sequence): &(LineageId, Sequence), from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self {
            sequence: *sequence,
            unit: unit(*sequence, Field::get("the unit", 1, from)?)?,
            create_time: Field::get("the time", 2, from)?,
            turn: Field::get("the turn", 3, from)?,
            tokens: Field::get("the tokens", 4, from)?,
            role: Field::get("the role", 5, from)?,
            forgotten: Field::get("whether it is forgotten", 6, from)?,
            pinned: Field::get("whether it is pinned", 7, from)?,
            instruction: Field::get("whether it is an instruction", 8, from)?,
            aside: Field::get("whether it is kept aside", 9, from)?,
            id: id(*lineage, from)?,
            content: Field::get("the content", 12, from)?,
            more: Option::<More>::get("the optional parts", 13, from)?.map(Box::new),
        })
    }
}

fn unit(own: Sequence, back: u64) -> Result<Sequence, Fault> {
    sequence("the unit", own.0.saturating_sub(back))
}

/// Reads the id, which is absent if it was assigned from the key's lineage.
fn id(own: LineageId, from: &Payload<'_>) -> Result<UtteranceId, Fault> {
    let given: Option<Box<str>> = Field::get("the id", 10, from)?;
    let assigned: Option<LineageId> = Field::get("the lineage of the id", 11, from)?;
    match (given, assigned) {
        (None, assigned) => Ok(UtteranceId::Assigned(assigned.unwrap_or(own))),
        (Some(given), None) => UtteranceId::given(&given).map_err(|error| Fault::wrong("the id", error)),
        _ => Err(Fault::wrong("the id", "was both given and assigned")),
    }
}

message! {
    More {
        1 name: "the name",
        2 tool_calls: "a call",
        3 tool_call_id: "the call that it answers",
        4 tools_used: "a tool",
        5 metadata: "the metadata",
        6 awaits_answer: "whether it awaits an answer",
        7 extras_json: "the extras",
        8 extras_tokens: "the tokens of the extras",
        9 original: "the original",
        10 late: "the late call",
        11 continues: "whether it continues a message",
    }
}

message! {
    LateResult {
        1 caller: "the utterance that made the call",
        2 tool: "the tool of the call",
    }
}

message! {
    ToolCall {
        1 id: "the id of a call",
        2 name: "the name of a call",
        3 arguments_json: "the arguments of a call",
    }
}

message! {
    Original {
        1 content: "the content of the original",
        2 edit_time: "the time of the edit",
    }
}
