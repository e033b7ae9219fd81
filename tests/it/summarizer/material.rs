//! Material to summarise.

use std::sync::Arc;

use utterd::{
    domain::{LineageId, More, Role, Sequence, Timestamp, ToolCall, Utterance, UtteranceId},
    engine::models::llm::Material,
};

/// An utterance that says `content`.
pub fn said(sequence: u64, role: Role, content: &str) -> Utterance {
    Utterance {
        sequence: Sequence(sequence),
        unit: Sequence(sequence),
        create_time: Timestamp(0),
        turn: 1,
        tokens: 10,
        id: UtteranceId::Assigned(LineageId([0; 16])),
        role,
        forgotten: false,
        pinned: false,
        instruction: false,
        aside: false,
        content: content.into(),
        more: None,
    }
}

/// An assistant's tool call.
pub fn calling(sequence: u64, tool: &str, arguments: &str) -> Utterance {
    let call = ToolCall { id: "c1".into(), name: tool.into(), arguments_json: arguments.into() };
    let more = More { tool_calls: vec![call], ..More::default() };
    Utterance { more: Some(Box::new(more)), ..said(sequence, Role::Assistant, "") }
}

/// A question and its answer, to be summarised in 100 tokens.
pub fn small() -> Material {
    of([said(1, Role::User, "Move HAT136 to May 23."), said(2, Role::Assistant, "Moved.")])
}

/// `said`, to be summarised in 100 tokens.
pub fn of<const N: usize>(said: [Utterance; N]) -> Material {
    Material { said: said.map(Arc::new).into(), max_tokens: 100, ..Material::default() }
}
