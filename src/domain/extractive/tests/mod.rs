//! The summariser as a whole, with real encodings.

mod any_text;
mod called;
mod going_on;
mod retold;
mod seeds;
mod sentences;

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

use super::*;
use crate::domain::{LineageId, More, Role, Sequence, Timestamp, ToolCall, UtteranceId};

/// An encoding, counted by its reference implementation.
pub(crate) struct Reference(CoreBPE);

impl TokenCounter for Reference {
    fn count(&self, text: &str) -> u32 {
        self.0.encode_ordinary(text).len() as u32
    }
}

/// o200k, cl100k, p50k and r50k.
pub(crate) static ENCODINGS: LazyLock<Vec<Reference>> = LazyLock::new(|| {
    use tiktoken_rs::{cl100k_base, o200k_base, p50k_base, r50k_base};
    [o200k_base(), cl100k_base(), p50k_base(), r50k_base()].into_iter().flatten().map(Reference).collect()
});

pub(crate) fn o200k() -> &'static Reference {
    &ENCODINGS[0]
}

pub(crate) fn said(sequence: u64, role: Role, content: &str) -> Utterance {
    Utterance {
        sequence: Sequence(sequence),
        unit: Sequence(sequence),
        create_time: Timestamp(0),
        turn: 1,
        tokens: 4 + o200k().count(content),
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

fn with(mut utterance: Utterance, more: More) -> Utterance {
    utterance.more = Some(Box::new(more));
    utterance
}

fn calling(sequence: u64, id: &str, name: &str, arguments: &str) -> Utterance {
    let call = ToolCall { id: id.into(), name: name.into(), arguments_json: arguments.into() };
    with(said(sequence, Role::Assistant, ""), More { tool_calls: vec![call], ..More::default() })
}

fn answering(sequence: u64, id: &str, content: &str) -> Utterance {
    with(said(sequence, Role::Tool, content), More { tool_call_id: Some(id.into()), ..More::default() })
}

fn text(source: Vec<Utterance>, focus: &Focus, budget: u32) -> String {
    let source: Vec<_> = source.into_iter().map(Arc::new).collect();
    summarise(&source, focus, budget, o200k()).iter().map(|sentence| &*sentence.text).collect()
}

fn calls(calls: &[(&str, &str, &str)]) -> Vec<Utterance> {
    let numbered = calls.iter().zip((1u64..).step_by(2));
    let exchange = |((name, arguments, result), sequence): (&(&str, &str, &str), u64)| {
        let id = format!("c{sequence}");
        [calling(sequence, &id, name, arguments), answering(sequence + 1, &id, result)]
    };
    numbered.flat_map(exchange).collect()
}

/// Thirty files are written.
fn thirty_changes() -> Vec<Utterance> {
    let paths: Vec<String> = (10..40).map(|n| format!("{{\"path\":\"src/part_{n}.rs\"}}")).collect();
    calls(&paths.iter().map(|path| ("write_file", path.as_str(), "done")).collect::<Vec<_>>())
}
