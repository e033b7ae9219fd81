//! Reports the calls and results that are left out, and the results that do not directly follow their calls.

use crate::history::{Warning, WarningKind};
use utterd_domain::{
    Draft, Role,
    exchange::{Answers, Pairing},
    history::{DropReason, Dropped, Entry},
};

/// The calls and results of the messages of `field` that are left out, and the number of results that are moved.
pub fn report(entries: &[Entry], pairing: &Pairing, field: &str) -> (Vec<Dropped>, Option<Warning>) {
    let (mut dropped, mut moved) = (Vec::new(), Vec::new());
    for (place, entry) in entries.iter().enumerate() {
        let Some(index) = entry.index else { continue };
        if entry.draft.role == Role::Tool && pairing.answers[place] == Answers::Nothing {
            dropped.push(orphan(entry, index, field));
        }
        let answers = &pairing.results[place];
        dropped.extend(unanswered(&entry.draft, answers, index, field));
        let mut answers: Vec<usize> = answers.iter().copied().flatten().collect();
        answers.sort_unstable();
        let behind = (place + 1..).zip(answers).filter(|(behind, answer)| behind != answer);
        moved.extend(behind.filter_map(|(_, answer)| entries[answer].index));
    }
    let warning = |first: &usize| {
        let count = moved.len();
        let text =
            format!("{count} results were moved directly behind their calls, the first {field}[{first}]");
        Warning { kind: WarningKind::ResultsMoved, text }
    };
    let warning = moved.first().map(warning);
    (dropped, warning)
}

fn orphan(entry: &Entry, index: usize, field: &str) -> Dropped {
    let id = entry.draft.tool_call_id().unwrap_or_default();
    let text = format!(
        "{field}[{index}] answers the call {id:?}, which is not open; accepted: the id of an earlier call that has no result yet, with no user message between"
    );
    Dropped { index, reason: DropReason::OrphanedResult, text }
}

fn unanswered(draft: &Draft, answers: &[Option<usize>], index: usize, field: &str) -> Option<Dropped> {
    let calls = draft.tool_calls().iter().zip(answers);
    let lost: Vec<&str> = calls.filter(|(_, answer)| answer.is_none()).map(|(call, _)| &*call.id).collect();
    if lost.is_empty() {
        return None;
    }
    let rest = match lost.len() < answers.len() || !draft.content.is_empty() {
        true => "the rest of the message stays",
        false => "the message says nothing else",
    };
    let text = format!(
        "{field}[{index}] makes the calls {lost:?}, which have no result and are left out; {rest}. Accepted are calls that a tool message answers before the next user message"
    );
    Some(Dropped { index, reason: DropReason::UnansweredCall, text })
}
