//! The quote of one match: its unit, and the utterance it replies to.

use std::sync::Arc;

use crate::{
    Sequence, TokenCounter, Utterance,
    context::found::{Found, Match},
    exchange::{self, Pairing},
    quoting::{Line, Said, companion_tokens, tokens_of},
};

/// A match of at most this many tokens is quoted with the utterance before it, if that is also this short.
const SHORT_TOKENS: u32 = 48;

/// The lines of a match, ascending.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) lines: Vec<(Found, Line)>,
}

impl Entry {
    /// The match's whole unit, of which at most `most` tokens are quoted of each utterance; `None` if some of it is not
    /// `quotable`.
    pub(super) fn of(
        one: &Match,
        quotable: impl Fn(&Found) -> bool,
        most: u32,
        counter: &dyn TokenCounter,
    ) -> Option<Self> {
        let of_source =
            |utterance: &Arc<Utterance>| Found { utterance: utterance.clone(), ..one.found.clone() };
        let matched = &one.found.utterance;
        let mut unit: Vec<&Arc<Utterance>> =
            one.around.iter().filter(|other| other.unit == matched.unit && other.is_live()).collect();
        unit.retain(|other| other.sequence != matched.sequence);
        unit.push(matched);
        unit.sort_by_key(|utterance| utterance.sequence);
        if !unit.iter().all(|utterance| quotable(&of_source(utterance))) {
            return None;
        }
        let others = companion_tokens(most, unit.len());
        let lines = unit.iter().map(|utterance| {
            let said = said(utterance, &unit);
            let line = match utterance.sequence == matched.sequence {
                true => said.line(&one.matched, most, counter),
                false => said.line(&[], others, counter),
            };
            (of_source(utterance), line)
        });
        let mut lines: Vec<(Found, Line)> = lines.collect();
        lines.splice(0..0, before(one, lines[0].0.utterance.sequence, quotable, counter));
        Some(Self { lines })
    }

    /// The tokens of its lines.
    pub(super) fn tokens(&self) -> u32 {
        tokens_of(self.lines.iter().map(|(_, line)| line))
    }

    pub(super) fn has(&self, found: &Found) -> bool {
        let is = |sequence: Sequence| sequence == found.utterance.sequence;
        self.lines.iter().any(|(other, _)| other.source == found.source && is(other.utterance.sequence))
    }
}

/// The utterance before the `first` of a match, if it and the match are short.
fn before(
    one: &Match,
    first: Sequence,
    quotable: impl Fn(&Found) -> bool,
    counter: &dyn TokenCounter,
) -> Option<(Found, Line)> {
    let before = one.around.iter().rfind(|other| other.sequence < first && other.is_live())?;
    let alone = before.unit == before.sequence && before.tool_calls().is_empty();
    let found = Found { utterance: before.clone(), ..one.found.clone() };
    let short = [before, &one.found.utterance].iter().all(|said| said.tokens <= SHORT_TOKENS);
    (alone && short && quotable(&found)).then(|| (found, said(before, &[]).line(&[], SHORT_TOKENS, counter)))
}

/// `utterance` for quoting; a result names the tool that a call in `unit` names.
fn said<'a>(utterance: &'a Utterance, unit: &[&'a Arc<Utterance>]) -> Said<'a> {
    let late = || utterance.late().map(|late| &*late.tool);
    Said {
        role: utterance.role,
        name: utterance.name().or_else(late).or_else(|| tool(utterance, unit)),
        content: &utterance.content,
        calls: utterance.tool_calls(),
    }
}

/// The tool of the call in `unit` that `result` answers.
fn tool<'a>(result: &Utterance, unit: &[&'a Arc<Utterance>]) -> Option<&'a str> {
    let place = unit.iter().position(|other| other.sequence == result.sequence)?;
    let pairing = Pairing::of(unit.iter().map(|other| exchange::Said::from(&***other)));
    let mut calls =
        unit.iter().zip(&pairing.results).flat_map(|(other, results)| other.tool_calls().iter().zip(results));
    calls.find(|(_, answer)| **answer == Some(place)).map(|(call, _)| &*call.name)
}
