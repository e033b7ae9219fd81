//! Whether a conversation is between people.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{Role, Utterance, phrases::phrases};

/// An assistant that writes more bytes per utterance than this is not a person chatting.
const LONG_BYTES: usize = 700;
/// If more than one utterance in this many is laid out in Markdown, the speaker is a model.
const LAID_OUT: usize = 6;
/// Words found in the names of programs, in lower case.
const PROGRAMS: [&str; 12] =
    phrases("assistant|agent|bot|gpt|claude|gemini|llama|copilot|mistral|deepseek|system|model");

/// Whether `source` is a talk between people: at least two have names, nobody calls a tool, and nobody in the
/// assistant's role writes the way a model does, at length or laid out.
pub(super) fn is_peoples(source: &[Arc<Utterance>]) -> bool {
    let mut names = FxHashSet::default();
    let mut assistants = Assistants::default();
    for utterance in source.iter().filter(|utterance| utterance.is_live() && !utterance.instruction) {
        let Some(name) = persons_name(utterance) else { return false };
        names.insert(name);
        if utterance.role == Role::Assistant {
            assistants.see(&utterance.content);
        }
    }
    names.len() > 1 && assistants.may_be_people()
}

/// The name of the person speaking; `None` if the speaker is not a person.
fn persons_name(utterance: &Utterance) -> Option<&str> {
    let speaks = matches!(utterance.role, Role::User | Role::Assistant);
    let name = utterance.name().map(str::trim).filter(|name| name.contains(char::is_alphanumeric))?;
    let is_program = utterance.role == Role::Assistant && names_program(name) || Role::named(name).is_some();
    (speaks && !is_program && utterance.tool_calls().is_empty()).then_some(name)
}

/// Whether a word in the name is, or ends with, the name of a program: `support-bot`, `ChatGPT`.
fn names_program(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    words.any(|word| word == "ai" || PROGRAMS.iter().any(|program| word.ends_with(program)))
}

/// How the speakers in the assistant's role write.
#[derive(Default)]
struct Assistants {
    said: usize,
    bytes: usize,
    laid_out: usize,
}

impl Assistants {
    fn see(&mut self, content: &str) {
        let marks = ["```", "\n- ", "\n* ", "\n1. ", "\n#", "**"];
        self.said += 1;
        self.bytes += content.len();
        self.laid_out += usize::from(marks.iter().any(|mark| content.contains(mark)));
    }

    fn may_be_people(&self) -> bool {
        self.bytes <= self.said * LONG_BYTES && self.laid_out * LAID_OUT <= self.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{More, ToolCall, testing::said};

    fn talk(lines: &[(Role, &str, &str)]) -> Vec<Arc<Utterance>> {
        let named = |(&(role, name, content), sequence): (&(Role, &str, &str), u64)| {
            let more = More { name: (!name.is_empty()).then(|| name.into()), ..More::default() };
            Arc::new(Utterance { more: Some(Box::new(more)), ..said(sequence, role, content) })
        };
        lines.iter().zip(1..).map(named).collect()
    }

    #[test]
    fn persons_with_names_talk_whatever_their_roles() {
        use Role::{Assistant, User};
        assert!(is_peoples(&talk(&[(User, "Ann", "I got the job!"), (User, "Bo", "When do you start?")])));
        assert!(is_peoples(&talk(&[
            (User, "Ann", "I got the job!"),
            (Assistant, "Bo", "When do you start?")
        ])));
    }

    #[test]
    fn a_user_and_an_assistant_do_not() {
        use Role::{Assistant, User};
        let ask = (User, "Ann", "How do I boil an egg?");
        let long = "Boil it. ".repeat(100);
        let answers = [
            (Assistant, "", "Seven minutes."),
            (Assistant, "assistant", "Seven minutes."),
            (Assistant, "ChatGPT", "Seven minutes."),
            (Assistant, "Max", "So:\n- seven minutes\n- cold water"),
            (Assistant, "Max", &long),
        ];
        for answer in answers {
            assert!(!is_peoples(&talk(&[ask, answer])), "{answer:?}");
        }
        assert!(!is_peoples(&talk(&[ask])));
        assert!(!is_peoples(&talk(&[(User, "", "How?"), (User, "", "And why?")])));
        assert!(!is_peoples(&[]));
    }

    #[test]
    fn who_calls_a_tool_is_no_person() {
        let mut source = talk(&[(Role::User, "Ann", "Book it."), (Role::Assistant, "Max", "I do.")]);
        assert!(is_peoples(&source));
        let call = ToolCall { id: "1".into(), name: "book".into(), arguments_json: "{}".into() };
        let more = More { name: Some("Max".into()), tool_calls: vec![call], ..More::default() };
        Arc::make_mut(&mut source[1]).more = Some(Box::new(more));
        assert!(!is_peoples(&source));
    }
}
