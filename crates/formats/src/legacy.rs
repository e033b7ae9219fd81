//! The legacy history of seed 000, which is read-only: `HistoryEntry[]` and `PersistedHistory`.
//!
//! It becomes one ended conversation: each entry becomes what the user said and what the assistant answered,
//! each summary of earlier conversations an imported segment of its summary.

use serde_json::{Map, Value};

use crate::{
    Parsed, Sourced,
    fields::{array, fit_id, object, optional_text, optional_time, read_time},
    persisted::{read_summaries, tools},
    place::{Notes, Place},
    texts::listed,
    time,
};
use utterd_domain::{Draft, More, Result, Role, segment::ImportedSummary};

/// The title of the conversation that a migration makes.
pub const TITLE: &str = "Migrated Conversation History";
/// The label with the time of the last summary (`lastSummarized`).
pub const LAST_SUMMARIZED: &str = "last_summarized";

/// Reads an array of entries, or an object with `recentConversations` and `summaries`. Returns `None`, with a
/// note, if both are empty.
pub fn history(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Option<Parsed>> {
    let mut parsed = Parsed { title: Some(TITLE.to_owned()), ..Parsed::default() };
    let (entries, list) = match value {
        Value::Object(mut fields) => {
            parsed.summaries = prefixed(fields.shift_remove("summaries"), &place.field("summaries"))?;
            let summarized = optional_text(&fields, "lastSummarized", place)?.filter(|time| !time.is_empty());
            if let Some(text) = summarized {
                let time = read_time(text, &place.field("lastSummarized"))?;
                parsed.labels.insert(LAST_SUMMARIZED.into(), time::write(time));
            }
            let entries =
                fields.shift_remove("recentConversations").unwrap_or_else(|| Value::Array(Vec::new()));
            note_rest(&fields, "lastSummarized", place, notes);
            (entries, place.field("recentConversations"))
        }
        entries => (entries, *place),
    };
    parsed.list = list.to_string();
    for (index, value) in array(entries, &list, "an array of history entries")?.into_iter().enumerate() {
        let drafts = entry(value, &list.index(index), notes)?;
        parsed.said.extend(drafts.into_iter().map(|draft| Sourced { index, draft }));
    }
    if parsed.said.is_empty() && parsed.summaries.is_empty() {
        notes.add(&list, "holds no entries, and there are no summaries: nothing is stored");
        return Ok(None);
    }
    let said = || parsed.said.iter().filter_map(|sourced| sourced.draft.create_time);
    let summarised = || parsed.summaries.iter().map(|summary| summary.of);
    parsed.start = said().chain(summarised().map(|of| of.start)).min();
    parsed.end = said().chain(summarised().map(|of| of.end)).max();
    Ok(Some(parsed))
}

/// Reads the summaries; the text of each is prefixed with its dates.
fn prefixed(list: Option<Value>, place: &Place<'_>) -> Result<Vec<ImportedSummary>> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let mut summaries = read_summaries(list, place)?;
    for ImportedSummary { of, text } in &mut summaries {
        *text = format!("{} to {}: {text}", time::date(of.start), time::date(of.end)).into();
    }
    Ok(summaries)
}

/// The user's words and the assistant's answer.
fn entry(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Vec<Draft>> {
    let fields = object(value, place, "a history entry: an object with userMessage and assistantResponse")?;
    let said = required(&fields, "userMessage", place)?;
    let answered = required(&fields, "assistantResponse", place)?;
    let create_time = optional_time(&fields, "timestamp", place)?;
    let id = optional_text(&fields, "id", place)?;
    let used = tools(fields.get("toolsUsed"), place)?;
    let source = optional_text(&fields, "source", place)?.map(|source| ("source".into(), source.to_owned()));
    note_rest(&fields, "userMessage assistantResponse timestamp id toolsUsed source", place, notes);
    let draft = |role: Role, side: &str, content: &str, more: More| Draft {
        id: id.map(|id| fit_id(&format!("{id}/{side}")).into()),
        create_time,
        ..Draft::of(role, content, more)
    };
    let told = More { metadata: source.into_iter().collect(), ..More::default() };
    let user = draft(Role::User, "user", said, told);
    let assistant =
        draft(Role::Assistant, "assistant", answered, More { tools_used: used, ..More::default() });
    let has = |draft: &Draft| !draft.content.is_empty() || draft.more.is_some();
    Ok([user, assistant].into_iter().filter(has).collect())
}

fn required<'v>(fields: &'v Map<String, Value>, name: &str, place: &Place<'_>) -> Result<&'v str> {
    optional_text(fields, name, place)?.ok_or_else(|| place.field(name).refuse("is missing; accepted: text"))
}

fn note_rest(fields: &Map<String, Value>, known: &str, place: &Place<'_>, notes: &mut Notes) {
    notes.not_kept(fields.keys().filter(|name| !listed(known, name)), place);
}
