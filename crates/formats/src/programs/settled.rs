//! What of a session that is being written stays as it is.

use serde_json::Value;

use super::{claude_code, codex, does::Does, session};
use crate::Format;

/// The number of bytes of a session that later lines do not change: its complete lines, without an answer at their end
/// that may go on. An answer takes several lines, and becomes one utterance. 0 for anything but a session.
pub fn settled(content: &[u8]) -> usize {
    let does: fn(Value) -> Does = match session(content) {
        Some(Format::ClaudeCode) => claude_code::does,
        Some(Format::Codex) => codex::does,
        Some(_) => |_| Does::End,
        None => return 0,
    };
    let end = complete(content);
    let (mut at, mut open, mut answer) = (end, end, None);
    for line in content[..end].split_inclusive(|byte| *byte == b'\n').rev() {
        at -= line.len();
        match serde_json::from_slice(line).map_or(Does::Nothing, does) {
            Does::Nothing => {}
            Does::Continue(id) if answer.as_ref().is_none_or(|answer| *answer == id) => {
                (open, answer) = (at, Some(id));
            }
            _ => break,
        }
    }
    open
}

/// The number of bytes of the lines that have an end.
pub fn complete(content: &[u8]) -> usize {
    content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{UnknownRoles, parse};
    use utterd_domain::Draft;

    const CLAUDE_CODE: &str = include_str!("../../../../examples/data/claude-code.jsonl");
    const CODEX: &str = include_str!("../../../../examples/data/codex.jsonl");
    const PI: &str = include_str!("../../../../examples/data/pi.jsonl");

    fn said(content: &str) -> Vec<String> {
        let source = parse(content.as_bytes(), None, UnknownRoles::Refuse).unwrap();
        let said = source.conversations.into_iter().next().map(|parsed| parsed.said);
        let told = |it: &Draft| format!("{:?} {} {} {:?}", it.id, it.role, it.content, it.tool_calls());
        said.unwrap_or_default().iter().map(|sourced| told(&sourced.draft)).collect()
    }

    /// Whatever has been written of a session, what is settled of it is what the next lines follow.
    #[test]
    fn what_is_settled_stays_as_it_is() {
        for (session, until) in [(CLAUDE_CODE, "\"u2\""), (CODEX, "Delete it."), (PI, "Delete it.")] {
            // a turn that is wound back later leaves the conversation
            let session = &session[..session.find(until).unwrap()];
            let whole = said(&session[..complete(session.as_bytes())]);
            for end in (0..session.len()).step_by(11).filter(|end| session.is_char_boundary(*end)) {
                let settled = settled(&session.as_bytes()[..end]);
                let part = if settled == 0 { Vec::new() } else { said(&session[..settled]) };
                assert_eq!(part, whole[..part.len()], "{end}");
            }
        }
    }

    #[test]
    fn an_answer_waits_for_what_ends_it() {
        let answer = |id: &str, stop: &str| {
            format!(
                "{{\"type\":\"assistant\",\"uuid\":\"{id}\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":\
                 {{\"id\":\"m\",\"stop_reason\":{stop},\"content\":[]}}}}\n"
            )
        };
        let begun = [answer("a", "null"), answer("b", "null")].concat();
        assert_eq!(settled(begun.as_bytes()), 0);
        for end in ["{\"type\":\"system\"}\n", &answer("c", "\"end_turn\"")] {
            let whole = format!("{begun}{end}");
            assert_eq!(settled(whole.as_bytes()), whole.len());
            assert_eq!(settled(&whole.as_bytes()[..whole.len() - 1]), 0, "its end is torn");
        }
        assert_eq!(settled(format!("{begun}{{\"type\":\"progress\"}}\n").as_bytes()), 0);
        assert_eq!(settled(b"{\"role\":\"user\"}\n"), 0, "it is no session");
    }
}
