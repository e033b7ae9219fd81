//! The summariser as a whole, with real encodings.

mod any_text;
mod called;
mod going_on;
mod retold;
mod seeds;
mod sentences;

use super::*;
use crate::{
    More, Role, Sequence, ToolCall,
    testing::{ENCODINGS, o200k, said},
};

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
