//! The transcript for a model: a line of JSON for each utterance, so that no text can pass for another
//! speaker's or for the end of the transcript. Credentials are left out: what a model is told, it may repeat.

use serde::Serialize;

use utterd_domain::{
    Role, ToolCall, Utterance,
    extract::Credentials,
    limits::{LLM_CONTENT_BYTES, LLM_RESULT_BYTES},
};
use utterd_engine::models::llm::Material;

/// A line of the transcript.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Before {
        summary_of_before: &'a str,
    },
    Facts {
        facts_to_keep: &'a [String],
    },
    Told {
        summary_to_retell: &'a str,
    },
    Said {
        speaker: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        #[serde(skip_serializing_if = "String::is_empty")]
        said: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Call<'a>>,
    },
}

/// A call of a tool.
#[derive(Serialize)]
struct Call<'a> {
    tool: &'a str,
    arguments: String,
}

/// Returns the summaries of `material`, then the live utterances without instructions, then the facts to keep.
pub(super) fn of(material: &Material) -> String {
    let before = Some(&material.before).filter(|text| !text.is_empty());
    let told = Some(&material.told).filter(|text| !text.is_empty());
    let facts = Some(&material.facts).filter(|facts| !facts.is_empty());
    let said = material.said.iter().filter(|utterance| utterance.is_live() && !utterance.instruction);
    let mut credentials = Credentials::default();
    for utterance in said.clone() {
        credentials.read(&utterance.content);
        utterance.tool_calls().iter().for_each(|call| credentials.read(&call.arguments_json));
    }
    let lines = before
        .map(|text| Line::Before { summary_of_before: text })
        .into_iter()
        .chain(told.map(|text| Line::Told { summary_to_retell: text }))
        .chain(said.map(|utterance| Line::of(utterance, &credentials)))
        .chain(facts.map(|facts| Line::Facts { facts_to_keep: facts }));
    lines.map(|line| written(&line)).collect()
}

impl<'a> Line<'a> {
    fn of(utterance: &'a Utterance, credentials: &Credentials<'_>) -> Self {
        let limit = if utterance.role == Role::Tool { LLM_RESULT_BYTES } else { LLM_CONTENT_BYTES };
        Self::Said {
            speaker: utterance.role.as_str(),
            name: utterance.name().or_else(|| Some(&utterance.late()?.tool)),
            said: shown(&utterance.content, limit, credentials),
            calls: utterance.tool_calls().iter().map(|call| Call::of(call, credentials)).collect(),
        }
    }
}

impl<'a> Call<'a> {
    fn of(call: &'a ToolCall, credentials: &Credentials<'_>) -> Self {
        Self { tool: &call.name, arguments: shown(&call.arguments_json, LLM_RESULT_BYTES, credentials) }
    }
}

/// Writes a line that cannot contain a closing tag: JSON allows writing a slash as `\/`.
fn written(line: &Line<'_>) -> String {
    let json = serde_json::to_string(line).unwrap_or_default();
    json.replace("</", "<\\/") + "\n"
}

/// The text without credentials, of at most `limit` bytes and a note.
fn shown(text: &str, limit: usize, credentials: &Credentials<'_>) -> String {
    clipped(credentials.hidden(text).as_deref().unwrap_or(text), limit)
}

/// Shortens a text of more than `limit` bytes to its head and tail, and says how many bytes were left out.
fn clipped(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(limit / 3 * 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - limit / 3)..];
    format!("{head}\n[… {} bytes left out …]\n{tail}", text.len() - head.len() - tail.len())
}
