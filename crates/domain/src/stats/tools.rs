//! Tool use.

use std::collections::BTreeMap;

use crate::{Role, Utterance, exchange::OpenCalls};

/// How a tool was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// Calls of the tool.
    pub calls: u64,
    /// Calls that a result answers.
    pub answered: u64,
    /// Tokens of the results.
    pub result_tokens: u64,
    /// Utterances that list it as used without calling it (seed 000, `toolsUsed`).
    pub mentions: u64,
}

/// Tools by name.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    uses: BTreeMap<Box<str>, ToolUse>,
    /// The tools of the open calls.
    open: OpenCalls<Box<str>, Box<str>>,
}

impl Tools {
    /// Each tool and its use, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ToolUse)> {
        self.uses.iter().map(|(name, used)| (&**name, used))
    }

    pub(super) fn add(&mut self, utterance: &Utterance) {
        match utterance.role {
            Role::User => self.abandon(),
            Role::Tool => self.answer(utterance),
            Role::System | Role::Assistant => {}
        }
        for call in utterance.tool_calls() {
            self.tool(&call.name).calls += 1;
        }
        self.open.open(utterance.tool_calls().iter().map(|call| (call.id.clone(), call.name.clone())));
        for name in utterance.more.iter().flat_map(|more| &more.tools_used) {
            self.tool(name).mentions += 1;
        }
    }

    /// Leaves the open calls unanswered.
    pub(super) fn abandon(&mut self) {
        self.open.abandon();
    }

    fn answer(&mut self, result: &Utterance) {
        let open = || result.tool_call_id().and_then(|id| self.open.answer(id));
        let late = result.late().map(|late| late.tool.clone());
        if let Some(name) = late.or_else(open) {
            let tool = self.tool(&name);
            tool.answered += 1;
            tool.result_tokens += u64::from(result.tokens);
        }
    }

    fn tool(&mut self, name: &str) -> &mut ToolUse {
        self.uses.entry(name.into()).or_default()
    }
}
