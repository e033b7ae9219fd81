//! Keeps what a message holds beyond the model, so that an export in the same format can restore it.
//!
//! A format writes each utterance in one canonical way: a JSON value with *holes* for the text that the model
//! holds, such as `{"role": "user", "content": {"$": "content"}}`. A parser punches the same holes into the
//! incoming message. The *difference* between the two is what the model does not hold, and it is all that is
//! kept. So nothing is stored twice, and nothing is kept of an ordinary message.
//!
//! A difference is a JSON object: `{"is": V}` replaces everything; `{"set": {…}, "unset": [keys], "at": {key
//! or index: difference}}` changes parts. A hole is `{"$": "content"}`, `{"$": [from, to]}` (a byte range of
//! the content), `{"$": "name"}` and the like (see [`Parts::fill`]).

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json, value::RawValue};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Format, Sourced,
    place::{Notes, Place},
    raw_object::raw_object,
    time,
};
use utterd_domain::{Draft, More, Role, Timestamp, Utterance, exchange::Said};

/// The key of a hole.
pub const HOLE: &str = "$";
/// How the part ends that is the arguments of a call as JSON.
const INPUT: &str = "/input";
/// The key of a message that is kept verbatim because holes cannot reproduce it.
const WHOLE: &str = "whole";
/// The key of what the content was, if what is kept does not hold for another.
pub const SAYS: &str = "says";

/// The parts of a message that the model holds: those of a draft or of a stored utterance.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The speaker.
    pub role: Role,
    /// What was said.
    pub content: &'a str,
    /// The less common fields.
    pub more: Option<&'a More>,
    /// The id that a client gave.
    pub id: Option<&'a str>,
    /// The time at which it was said.
    pub time: Option<Timestamp>,
}

impl<'a> From<&'a Draft> for Parts<'a> {
    fn from(draft: &'a Draft) -> Self {
        Self {
            role: draft.role,
            content: &draft.content,
            more: draft.more.as_deref(),
            id: draft.id.as_deref(),
            time: draft.create_time,
        }
    }
}

impl<'a> From<&'a Utterance> for Parts<'a> {
    fn from(utterance: &'a Utterance) -> Self {
        Self {
            role: utterance.role,
            content: &utterance.content,
            more: utterance.more.as_deref(),
            id: utterance.given_id(),
            time: Some(utterance.create_time),
        }
    }
}

impl<'a> From<Parts<'a>> for Said<'a> {
    fn from(parts: Parts<'a>) -> Self {
        let late = parts.more.is_some_and(|more| more.late.is_some());
        Self { role: parts.role, calls: parts.calls(), answers: parts.tool_call_id(), late, leads: false }
    }
}

/// A hole for a part of the model: `content`, `name`, `tool_call_id`, `calls/0/arguments`…
pub fn hole(part: impl Into<Value>) -> Value {
    json!({ HOLE: part.into() })
}

impl<'a> Parts<'a> {
    /// The calls it makes.
    pub fn calls(&self) -> &'a [utterd_domain::ToolCall] {
        self.more.map_or(&[], |more| &more.tool_calls)
    }

    /// The call it answers.
    pub fn tool_call_id(&self) -> Option<&'a str> {
        self.more?.tool_call_id.as_deref()
    }

    /// The name of the participant or the tool.
    pub fn name(&self) -> Option<&'a str> {
        self.more?.name.as_deref()
    }

    /// The extras, by format; `None` if there are none, or they are not an object.
    pub fn extras(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.more?.extras_json.as_deref()?).ok()
    }

    /// What is kept for `format`. `Some` even if that is only the mark that the utterance came in this
    /// format.
    pub fn kept(&self, format: Format) -> Option<Value> {
        serde_json::from_str(self.kept_json(format)?.get()).ok()
    }

    /// The same as [`kept`](Self::kept), as raw JSON.
    pub fn kept_json(&self, format: Format) -> Option<&'a RawValue> {
        raw_object(self.more?.extras_json.as_deref()?)?.get(format.name()).copied()
    }

    /// The format of messages for which something is kept. Does not parse the value.
    pub fn origin(&self) -> Option<Format> {
        let kept = raw_object(self.more?.extras_json.as_deref()?)?;
        Format::ALL.into_iter().find(|format| format.has_messages() && kept.contains_key(format.name()))
    }

    /// Whether the extras might hold more than marks and the bytes of a message. Cheaper than parsing them.
    pub fn has_difference(&self) -> bool {
        let extras = self.more.and_then(|more| more.extras_json.as_deref()).unwrap_or_default();
        [DIFFERENCE, WHOLE, MESSAGE].iter().any(|key| extras.contains(&format!("\"{key}\":")))
    }

    /// Tells one content from another.
    pub fn says(&self) -> String {
        format!("{:016x}", xxh3_64(self.content.as_bytes()))
    }

    /// Fills the holes of `template`. `None` if a hole cannot be filled.
    ///
    /// A hole is `content`, a byte range `[from, to]` of it, `id`, `time`, `name`, `tool_call_id`,
    /// `tools_used`, or, for the n-th call, `calls/n/id`, `calls/n/name`, `calls/n/arguments` (text) and
    /// `calls/n/input` (JSON).
    pub fn fill(&self, mut template: Value) -> Option<Value> {
        self.fill_in(&mut template, true)?;
        Some(template)
    }

    /// Fills the holes. Those for ranges only if the content is still the `same`.
    fn fill_in(&self, template: &mut Value, same: bool) -> Option<()> {
        if let Some(part) = as_hole(template) {
            *template = self.part(part, same)?;
            return Some(());
        }
        match template {
            Value::Object(fields) => fields.values_mut().try_for_each(|value| self.fill_in(value, same)),
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.fill_in(value, same)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
        }
    }

    fn part(&self, part: &Value, same: bool) -> Option<Value> {
        if let Some(range) = part.as_array() {
            let at = |index: usize| usize::try_from(range.get(index)?.as_u64()?).ok();
            return Some(self.content.get(at(0)?..at(1)?).filter(|_| same)?.into());
        }
        match part.as_str()? {
            "time" => Some(time::write(self.time?).into()),
            "tools_used" => Some(self.more?.tools_used.iter().map(|tool| &**tool).collect()),
            input if input.ends_with(INPUT) => serde_json::from_str(self.text(input)?).ok(),
            part => Some(self.text(part)?.into()),
        }
    }

    /// The text of a part.
    fn text(&self, part: &str) -> Option<&'a str> {
        let (index, of_call) = match part {
            "content" => return Some(self.content),
            "id" => return self.id,
            "name" => return self.name(),
            "tool_call_id" => return self.tool_call_id(),
            path => path.strip_prefix("calls/")?.split_once('/')?,
        };
        let call = self.calls().get(index.parse::<usize>().ok()?)?;
        match of_call {
            "id" => Some(&call.id),
            "name" => Some(&call.name),
            "arguments" | "input" => Some(&call.arguments_json),
            _ => None,
        }
    }

    /// Fills the holes of `canonical` and applies what is `kept` for its format.
    ///
    /// If the kept part no longer fits because the content has changed, it is left out, and the second value
    /// is false.
    pub fn render(&self, kept: Option<&Value>, canonical: impl Fn() -> Value) -> (Value, bool) {
        let kept = |key: &str| kept.and_then(|kept| kept.get(key));
        let same = kept(SAYS).is_none_or(|says| *says == self.says());
        let mut written = canonical();
        let fits = match (kept(WHOLE), kept(DIFFERENCE)) {
            (Some(whole), _) => {
                written.clone_from(whole);
                same
            }
            (None, Some(difference)) => {
                apply(&mut written, difference);
                self.fill_in(&mut written, same).is_some()
            }
            (None, None) => return (self.fill(written).unwrap_or_default(), true),
        };
        (if fits { written } else { self.fill(canonical()).unwrap_or_default() }, fits)
    }
}

/// A message, or a part of one, that is written straight from the texts that fill its holes, with the arguments of calls
/// as the model wrote them.
pub struct Filled<'a> {
    /// The message with its holes.
    pub template: Cow<'a, Value>,
    /// What fills them; `None` if there are none.
    pub parts: Option<Parts<'a>>,
}

impl Serialize for Filled<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some(parts) = self.parts else { return self.template.serialize(to) };
        let within = |value| Filled { template: Cow::Borrowed(value), parts: Some(parts) };
        match (as_hole(&self.template).and_then(Value::as_str), &*self.template) {
            (Some(input), _) if input.ends_with(INPUT) => {
                let text = parts.text(input).unwrap_or_default();
                serde_json::from_str::<&RawValue>(text).ok().serialize(to)
            }
            (Some(part), _) => parts.text(part).serialize(to),
            (None, Value::Object(fields)) => {
                to.collect_map(fields.iter().map(|(name, value)| (name, within(value))))
            }
            (None, Value::Array(values)) => to.collect_seq(values.iter().map(within)),
            (None, other) => other.serialize(to),
        }
    }
}

/// The key of a file's content other than its messages; kept with the first message.
const DOCUMENT: &str = "document";
/// The key of the difference among what is kept; a format's marks are next to it.
const DIFFERENCE: &str = "differs";

/// The key of a message's fields beside what it says, in a format whose messages are lists of blocks.
pub const MESSAGE: &str = "message";

/// Keeps with the draft what `canonical` alone does not reproduce of `source`, if anything. `hollow` is `source` with
/// its holes punched.
pub fn keep_difference(
    draft: &mut Draft,
    format: Format,
    source: &Value,
    hollow: &Value,
    canonical: fn(&Parts<'_>) -> Value,
) {
    let parts = Parts::from(&*draft);
    let (mut template, mut kept) = (canonical(&parts), Map::new());
    if let Some(difference) = differ(&template, hollow) {
        apply(&mut template, &difference);
        kept.insert(DIFFERENCE.into(), difference);
    }
    if parts.fill(template.clone()).as_ref() != Some(source) {
        // it contains something that looks like a hole, or a number that would be written differently
        kept = Map::from_iter([(WHOLE.into(), source.clone())]);
    }
    if kept.contains_key(WHOLE) || (!kept.is_empty() && parts.fill_in(&mut template, false).is_none()) {
        kept.insert(SAYS.into(), parts.says().into());
    }
    if !kept.is_empty() {
        keep(draft, format, kept);
    }
}

/// Adds `kept` to the draft's extras under `format`; if empty, it is only the mark that the draft came in
/// that format.
pub fn keep(draft: &mut Draft, format: Format, kept: Map<String, Value>) {
    let mut extras = Parts::from(&*draft).extras().unwrap_or_default();
    match extras.get_mut(format.name()) {
        Some(Value::Object(before)) => before.extend(kept),
        _ => drop(extras.insert(format.name().into(), Value::Object(kept))),
    }
    draft.more.get_or_insert_default().extras_json = Some(Value::Object(extras).to_string().into());
}

/// Keeps a file's content other than its messages with the first draft of `said`.
///
/// `document` is `None` for a file with nothing but messages. If there is no draft to keep it with, a note
/// says so.
pub fn keep_document(
    said: &mut [Sourced],
    format: Format,
    document: Option<Map<String, Value>>,
    notes: &mut Notes,
    place: &Place<'_>,
) {
    let Some(document) = document else { return };
    if let Some(first) = said.first_mut() {
        keep(&mut first.draft, format, Map::from_iter([(DOCUMENT.into(), document.into())]));
    } else if document.values().any(|value| !value.is_null()) {
        notes.add(place, "is not kept, as there are no messages to keep it with");
    }
}

/// The content other than messages of the `format` file that the utterances came from.
pub fn document(said: &[Parts<'_>], format: Format) -> Option<Map<String, Value>> {
    let document = |parts: &Parts<'_>| match parts.kept(format)?.get_mut(DOCUMENT)?.take() {
        Value::Object(document) => Some(document),
        _ => None,
    };
    said.iter().find_map(document)
}

fn as_hole(value: &Value) -> Option<&Value> {
    value.as_object().filter(|fields| fields.len() == 1)?.get(HOLE)
}

fn differ(from: &Value, to: &Value) -> Option<Value> {
    if from == to {
        return None;
    }
    let parts = as_hole(from).is_none() && as_hole(to).is_none();
    let mut difference = Map::new();
    match (from, to) {
        (Value::Object(from), Value::Object(to)) if parts => {
            let (mut set, mut at) = (Map::new(), Map::new());
            for (key, value) in to {
                match from.get(key).map(|before| differ(before, value)) {
                    Some(None) => {}
                    Some(Some(inner)) if inner.get("is").is_none() => drop(at.insert(key.clone(), inner)),
                    _ => drop(set.insert(key.clone(), value.clone())),
                }
            }
            let unset: Vec<&str> =
                from.keys().filter(|key| !to.contains_key(*key)).map(String::as_str).collect();
            let mut add = |any: bool, key: &str, value: Value| {
                any.then(|| difference.insert(key.into(), value));
            };
            add(!set.is_empty(), "set", Value::Object(set));
            add(!unset.is_empty(), "unset", json!(unset));
            add(!at.is_empty(), "at", Value::Object(at));
        }
        (Value::Array(from), Value::Array(to)) if from.len() == to.len() => {
            let inner = |(index, (from, to))| Some((usize::to_string(&index), differ(from, to)?));
            let at: Map<_, _> = from.iter().zip(to).enumerate().filter_map(inner).collect();
            difference.insert("at".into(), Value::Object(at));
        }
        _ => drop(difference.insert("is".into(), to.clone())),
    }
    Some(Value::Object(difference))
}

fn apply(to: &mut Value, difference: &Value) {
    if let Some(value) = difference.get("is") {
        *to = value.clone();
        return;
    }
    let inner = difference.get("at").and_then(Value::as_object);
    for (key, inner) in inner.into_iter().flatten() {
        let place = match &mut *to {
            Value::Array(values) => key.parse().ok().and_then(|index: usize| values.get_mut(index)),
            fields => fields.get_mut(key),
        };
        if let Some(place) = place {
            apply(place, inner);
        }
    }
    let Some(fields) = to.as_object_mut() else { return };
    for key in difference.get("unset").and_then(Value::as_array).into_iter().flatten() {
        fields.shift_remove(key.as_str().unwrap_or_default());
    }
    if let Some(set) = difference.get("set").and_then(Value::as_object) {
        fields.extend(set.clone());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<Option<bool>>().prop_map(Value::from), "[a$]?".prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop::sample::select(vec!["$", "is", "a", "b"]).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_difference_leads_from_one_value_to_the_other(from in json(), to in json()) {
            let mut changed = from.clone();
            if let Some(difference) = differ(&from, &to) {
                apply(&mut changed, &difference);
            }
            prop_assert_eq!(changed, to);
        }
    }

    #[test]
    fn what_is_kept_and_no_longer_fits_is_left_out() {
        let draft = |content: &str| {
            let more = More {
                extras_json: Some(
                    r#"{"openai_chat":{"differs":{"set":{"content":[{"$":[0,4]},{"$":[5,9]}]}}}}"#.into(),
                ),
                ..More::default()
            };
            Draft::of(Role::User, content, more)
        };
        let canonical = json!({"content": hole("content")});
        let render = |content: &str| {
            let draft = draft(content);
            let parts = Parts::from(&draft);
            parts.render(parts.kept(Format::OpenAiChat).as_ref(), || canonical.clone())
        };
        assert_eq!(render("this\nthat"), (json!({"content": ["this", "that"]}), true));
        assert_eq!(render("thus"), (json!({"content": "thus"}), false));
    }

    /// The new text may be longer: its beginning is not the first part.
    #[test]
    fn parts_are_those_of_their_text() {
        let source = json!({"role": "user", "content": [{"type": "text", "text": "this"}, "that"]});
        let mut hollow = source.clone();
        let content = crate::texts::take(&mut hollow["content"]);
        let mut draft = Draft::of(Role::User, content, More::default());
        let canonical: fn(&Parts<'_>) -> Value = |_| json!({"role": "user", "content": hole("content")});
        keep_difference(&mut draft, Format::OpenAiChat, &source, &hollow, canonical);
        let render = |draft: &Draft| {
            let parts = Parts::from(draft);
            parts.render(parts.kept(Format::OpenAiChat).as_ref(), || canonical(&parts))
        };
        assert_eq!(render(&draft), (source, true));
        draft.content = "another, longer text".into();
        assert_eq!(render(&draft), (json!({"role": "user", "content": "another, longer text"}), false));
    }
}
