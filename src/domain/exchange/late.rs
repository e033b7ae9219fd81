//! Calls that were abandoned, and results that come late.

use crate::domain::Sequence;

/// A call that was abandoned: a result for it is late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedCall {
    /// Its id.
    pub id: Box<str>,
    /// The utterance that makes it, which is stored; it takes no result while it is forgotten.
    pub caller: Sequence,
    /// Its late result, stored or not, unless it was hard-forgotten; then there may be another.
    pub answer: Option<Sequence>,
}

/// What a result that came late answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateResult {
    /// The utterance that made the call; it may be stored no more.
    pub caller: Sequence,
    /// The tool that it called.
    pub tool: Box<str>,
}

/// A late result as it is told on the user's side, where it stands.
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
