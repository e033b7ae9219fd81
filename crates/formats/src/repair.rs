//! Leaves out, closes or moves what a provider would refuse, unless the same format brought it in.
//!
//! Afterwards (seed 003, "Tool Call/Result Pairing") every result follows its call directly, and every call
//! has its result. A late result becomes a user note in its own place. Every change is reported as a loss.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{
    Parsed, Sourced,
    extras::{self, Parts},
    place::{Notes, Place},
    provider::Provider,
};
use utterd_domain::{
    More, Result, Role, ToolCall,
    context::{
        self,
        wording::{participant, tool},
    },
    exchange::{Answers, Pairing, Said, call_ids::CallIds, note},
};

/// What happens to unanswered calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unanswered {
    /// They are left out, along with utterances that hold nothing else.
    #[default]
    LeaveOut,
    /// Each gets [`PLACEHOLDER`] as its result.
    Close,
}

/// The result written for an unanswered call.
pub const PLACEHOLDER: &str = "[no result: the call was never answered]";

/// An outgoing utterance.
#[derive(Debug)]
pub struct Line<'a> {
    /// The place of the utterance that it is written for.
    pub place: usize,
    /// What it holds.
    pub parts: Parts<'a>,
    /// What goes out of its less common fields, if that is different.
    pub changed: Option<Box<More>>,
    /// The user's text to write instead.
    pub note: Option<String>,
}

impl Line<'_> {
    /// The parts to write.
    pub fn parts(&self) -> Parts<'_> {
        match &self.note {
            Some(note) => Parts { role: Role::User, content: note, more: None, ..self.parts },
            None => Parts { more: self.changed.as_deref().or(self.parts.more), ..self.parts },
        }
    }
}

/// Pairs the calls and the results of `said`.
pub fn pairing(said: &[Parts<'_>]) -> Pairing {
    Pairing::of(said.iter().map(|parts| Said::from(*parts)))
}

/// Repairs `said`, which is paired so, for `provider`. A unit goes out unchanged if `as_it_came` is true for any of its parts. Calls
/// `lost` with the place, the field and the reason of each change.
pub fn lines<'a>(
    said: &[Parts<'a>],
    pairing: &Pairing,
    provider: &Provider,
    unanswered: Unanswered,
    as_it_came: impl Fn(usize) -> bool,
    lost: impl FnMut(usize, &str, &str),
) -> Vec<Line<'a>> {
    let ids = CallIds::by(provider.ids);
    let mut repair = Repair { said, pairing, provider, unanswered, ids, lines: Vec::new(), lost };
    let mut from = 0;
    while from < said.len() {
        let unit = repair.pairing.unit[from];
        let to = (from..said.len()).find(|place| repair.pairing.unit[*place] != unit).unwrap_or(said.len());
        match (from..to).any(&as_it_came) {
            true => (from..to).for_each(|place| repair.as_it_is(place)),
            false => (from..to).for_each(|place| repair.one(place)),
        }
        from = to;
    }
    repair.lines
}

/// Reads a conversation: its messages, or an object that holds them. The other fields of that are kept.
pub fn conversation(
    provider: &Provider,
    value: Value,
    place: &Place<'_>,
    notes: &mut Notes,
) -> Result<Parsed> {
    let (messages, mut document, list) = match value {
        Value::Object(mut fields) => {
            let list = provider.list(&fields);
            let messages = fields.insert(list.to_owned(), Value::Null).unwrap_or_default();
            (messages, Some(fields), place.field(list))
        }
        messages => (messages, None, *place),
    };
    let mut none = Map::new();
    let around = document.as_mut().unwrap_or(&mut none);
    let mut said = (provider.read)(messages, around, &list, notes)?;
    mark(provider, &mut said);
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let id = document.as_ref().and_then(|document| document.get("id").map(text));
    extras::keep_document(&mut said, provider.format, document, notes, place);
    Ok(Parsed { id, list: list.to_string(), said, ..Parsed::default() })
}

/// Marks the drafts that an export would change as having come in the provider's format, so that they go out unchanged.
///
/// Leaving a draft unchanged can change later ones, for instance by taking an id. So this repeats until
/// nothing more would be changed.
fn mark(provider: &Provider, said: &mut [Sourced]) {
    let parts: Vec<Parts<'_>> = said.iter().map(|sourced| Parts::from(&sourced.draft)).collect();
    let pairing = pairing(&parts);
    let mut irregular: HashSet<usize> = HashSet::new();
    loop {
        let mut changed = HashSet::new();
        let note = |place: usize, _: &str, _: &str| changed.extend([place]);
        let is_irregular = |place| irregular.contains(&place);
        let lines = lines(&parts, &pairing, provider, Unanswered::LeaveOut, is_irregular, note);
        let mut newest = 0;
        for Line { place, .. } in lines {
            changed.extend((place < newest).then_some(place));
            newest = newest.max(place);
        }
        if changed.is_subset(&irregular) {
            break;
        }
        irregular.extend(changed);
    }
    for place in irregular {
        extras::keep(&mut said[place].draft, provider.format, Map::new());
    }
}

struct Repair<'a, 'b, F> {
    said: &'b [Parts<'a>],
    pairing: &'b Pairing,
    provider: &'b Provider,
    unanswered: Unanswered,
    ids: CallIds,
    lines: Vec<Line<'a>>,
    lost: F,
}

impl<'a, F: FnMut(usize, &str, &str)> Repair<'a, '_, F> {
    fn as_it_is(&mut self, place: usize) {
        let parts = self.said[place];
        parts.calls().iter().for_each(|call| self.ids.take(&call.id));
        self.lines.push(Line { place, parts, changed: None, note: None });
    }

    fn one(&mut self, place: usize) {
        let parts = self.said[place];
        match parts.role {
            Role::Tool => match self.pairing.answers[place] {
                Answers::Nothing => (self.lost)(place, "content", "a result that answers no call"),
                // it went out with its call
                Answers::Open => {}
                Answers::Late(call) => self.late(place, call),
            },
            Role::Assistant if !parts.calls().is_empty() => self.caller(place),
            _ if !self.says(parts.content) && parts.extras().is_none() => {
                (self.lost)(place, "role", "a blank message is not accepted");
            }
            _ => self.push(place, None),
        }
    }

    /// Writes a late result: no provider accepts it anywhere but behind its call.
    fn late(&mut self, place: usize, call: Option<(usize, usize)>) {
        (self.lost)(place, "role", "a late result becomes a user message");
        let parts = self.said[place];
        let made = call.and_then(|(caller, call)| self.said[caller].calls().get(call));
        let told = parts.more.and_then(|more| more.late.as_ref()).map(|late| &*late.tool);
        let tool = told.or(made.map(|made| &*made.name)).unwrap_or_default();
        let note = note(tool, parts.tool_call_id().unwrap_or_default(), parts.content);
        self.lines.push(Line { place, parts, changed: None, note: Some(note) });
    }

    /// Writes an utterance that calls, and the results behind it.
    fn caller(&mut self, place: usize) {
        let calls = self.said[place].calls();
        let results = self.pairing.results[place].clone();
        let open = results.iter().any(Option::is_none);
        let closes = self.unanswered == Unanswered::Close;
        if open {
            let reason = match closes {
                true => "an unanswered call is closed with a placeholder",
                false => "an unanswered call is left out",
            };
            (self.lost)(place, "tool_calls", reason);
        }
        self.ids.next_message();
        let kept: Vec<(&ToolCall, Option<usize>)> =
            calls.iter().zip(results).filter(|(_, result)| closes || result.is_some()).collect();
        if kept.is_empty() && !self.says(self.said[place].content) {
            return;
        }
        let tool_calls: Vec<ToolCall> = kept.iter().map(|(call, _)| self.call(place, call)).collect();
        let ids: Vec<Box<str>> = tool_calls.iter().map(|call| call.id.clone()).collect();
        let changed = (open || tool_calls != calls)
            .then(|| Box::new(More { tool_calls, extras_json: None, ..self.more(place) }));
        self.push(place, changed);
        self.results(place, &kept, &ids);
    }

    fn results(&mut self, caller: usize, kept: &[(&ToolCall, Option<usize>)], ids: &[Box<str>]) {
        let mut results: Vec<_> =
            kept.iter().zip(ids).map(|((call, result), id)| (result, call, id)).collect();
        results.sort_by_key(|(result, ..)| result.unwrap_or(usize::MAX));
        for (result, call, id) in results {
            let answers = |more: More| Some(Box::new(More { tool_call_id: Some(id.clone()), ..more }));
            match *result {
                Some(place) if call.id == *id => self.push(place, None),
                Some(place) => {
                    let changed = answers(More { extras_json: None, ..self.more(place) });
                    self.push(place, changed);
                }
                None => {
                    let time = self.said[caller].time;
                    let parts = Parts { role: Role::Tool, content: PLACEHOLDER, more: None, id: None, time };
                    let changed = answers(More::default());
                    self.lines.push(Line { place: caller, parts, changed, note: None });
                }
            }
        }
    }

    fn push(&mut self, place: usize, changed: Option<Box<More>>) {
        let parts = self.said[place];
        let is_refused = |name| self.provider.checks_names && participant(name) != name;
        let changed = match parts.name().is_some_and(is_refused) {
            true => {
                (self.lost)(place, "name", "the name contains what the format does not accept");
                let more = changed.map_or_else(|| self.more(place), |more| *more);
                Some(Box::new(More { name: None, ..more }))
            }
            false => changed,
        };
        self.lines.push(Line { place, parts, changed, note: None });
    }

    /// Whether a message may consist of this text alone.
    fn says(&self, text: &str) -> bool {
        self.provider.wording != context::Format::AnthropicMessages || !text.trim().is_empty()
    }

    fn more(&self, place: usize) -> More {
        self.said[place].more.cloned().unwrap_or_default()
    }

    /// An outgoing call, with an id and a name that are accepted.
    fn call(&mut self, place: usize, call: &ToolCall) -> ToolCall {
        let id = self.ids.assign(&call.id, "");
        if *id != *call.id {
            (self.lost)(place, "tool_calls.id", "the id is not accepted, or recurs: it was replaced");
        }
        let name = tool(&call.name, self.provider.wording);
        if *name != *call.name {
            (self.lost)(place, "tool_calls.name", "the name contains what the format does not accept");
        }
        ToolCall { id: id.into(), name: name.into(), arguments_json: call.arguments_json.clone() }
    }
}
