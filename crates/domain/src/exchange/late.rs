//! Abandoned calls, and results that arrive late.

use crate::Sequence;

/// An abandoned call: a result for it is late.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AbandonedCall {
    /// Its id.
    pub id: Box<str>,
    /// The stored utterance that makes it; the call accepts no result while that utterance is forgotten.
    pub caller: Sequence,
    /// Its late result, stored or not. Once that result is hard-forgotten, the call accepts another.
    pub answer: Option<Sequence>,
}

/// The call that a late result answers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LateResult {
    /// The utterance that made the call; it may no longer be stored.
    pub caller: Sequence,
    /// The tool that was called.
    pub tool: Box<str>,
}

/// A late result as a text on the user's side, in its place.
pub fn note(tool: &str, call: &str, result: &str) -> String {
    let text = format!("result of `{tool}`, call `{call}`: {result}");
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_tool_and_call_and_ends_without_a_blank() {
        assert_eq!(note("look", "c1", "it is\n"), "result of `look`, call `c1`: it is");
        assert_eq!(note("look", "c1", ""), "result of `look`, call `c1`:");
    }
}
