//! Writes utterances as persisted conversations.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    Format, Losses, Whole,
    extras::{self, Parts},
    persisted::{LAST_MIGRATED, canonical, origin, state, summaries},
    time,
    whole::CHANGED,
};
use utterd_domain::{More, Role, Timestamp};

/// Writes the conversation as an element of `conversations`.
///
/// Instructions and results are left out. The names of the tools that a turn calls are added to the
/// `toolsUsed` of the next message.
pub fn export(whole: &Whole<'_>, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let (mut messages, mut used) = (Vec::new(), BTreeSet::new());
    for (place, parts) in said.iter().enumerate() {
        let utterance = &whole.utterances[place];
        let mut lose = |field: &str, reason: &str| losses.add(field, reason, Some(utterance.sequence));
        match parts.role {
            Role::User => used.clear(),
            Role::Assistant if !parts.calls().is_empty() => {
                lose("tool_calls", "the format has only the names of tools");
                used.extend(parts.calls().iter().map(|call| call.name.clone()));
                if parts.content.is_empty() {
                    continue;
                }
            }
            Role::Assistant => {}
            Role::System | Role::Tool => {
                lose("content", "the format has only messages of user and assistant");
                continue;
            }
        }
        let id = utterance.id_text();
        let called =
            (parts.role == Role::Assistant && !used.is_empty()).then(|| with_tools(parts, &mut used));
        let parts = Parts { id: Some(&id), more: called.as_ref().or(parts.more), ..*parts };
        let kept = parts.kept(Format::Persisted);
        let (mut message, fits) = parts.render(kept.as_ref(), || canonical(&parts));
        if !fits {
            losses.add("extras_json", CHANGED, Some(utterance.sequence));
        }
        origin::write(&mut message, &id, whole.origins.get(place).map_or(&[], Vec::as_slice));
        messages.push(message);
    }
    // Without messages, no origin shows that the closing title and summary mention something hard-forgotten.
    let (mut title, mut summary) = (whole.title, whole.summary);
    if whole.end.is_some() && messages.is_empty() && !said.is_empty() {
        for (field, told) in [("title", title.take()), ("summary", summary.take())] {
            told.inspect(|_| losses.add(field, "the format has no message that it tells of", None));
        }
    }
    let mut conversation = fields(Some(whole.id), title, summary, Some(whole.start), whole.end);
    conversation.insert("messages".into(), Value::Array(messages));
    if !whole.state.is_empty() {
        conversation.insert(state::FIELD.into(), state::write(whole.state));
    }
    if !whole.summaries.is_empty() {
        conversation.insert(summaries::FIELD.into(), summaries::write(whole.summaries));
    }
    conversation.extend(extras::document(&said, Format::Persisted).unwrap_or_default());
    Value::Object(conversation)
}

/// The file with `conversations`; `migrated` is the time of their last migration.
pub fn document(conversations: Vec<Value>, migrated: Option<&str>) -> Value {
    let mut document = json!({ "conversations": conversations });
    if let Some(migrated) = migrated {
        document["lastMigrated"] = migrated.into();
    }
    document
}

/// The time of the last migration into these conversations, from their labels.
pub fn last_migrated<'l>(
    labels: impl Iterator<Item = &'l std::collections::BTreeMap<String, String>>,
) -> Option<&'l str> {
    labels.filter_map(|labels| labels.get(LAST_MIGRATED)).map(String::as_str).max()
}

/// The fields of a conversation other than its messages.
pub(super) fn fields(
    id: Option<&str>,
    title: Option<&str>,
    summary: Option<&str>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
) -> Map<String, Value> {
    let time = |time: Option<Timestamp>| time.map(time::write);
    let fields =
        json!({"id": id, "startedAt": time(start), "endedAt": time(end), "title": title, "summary": summary});
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Adds the tools called before the utterance to its own.
fn with_tools(parts: &Parts<'_>, used: &mut BTreeSet<Box<str>>) -> More {
    let mut more = parts.more.cloned().unwrap_or_default();
    let known: BTreeSet<Box<str>> = more.tools_used.iter().cloned().collect();
    more.tools_used.extend(std::mem::take(used).into_iter().filter(|tool| !known.contains(tool)));
    more
}
