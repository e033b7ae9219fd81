//! The legacy history of seed 000, which is only read: `HistoryEntry[]` and `PersistedHistory`.
//!
//! All of it becomes one conversation. Each summary of what came before becomes an instruction at
//! its head, each entry what the user said and what the assistant answered.

use serde_json::{Map, Value};

use crate::{
    domain::{Draft, More, Refusal, Role, Timestamp},
    formats::{
        Parsed, Sourced,
        fields::{array, fit_id, object, optional_text},
        notes::Notes,
        persisted::{read_time, tools},
        place::Place,
    },
};

/// The title of the conversation that a migration makes.
pub const TITLE: &str = "Migrated Conversation History";

/// Reads an array of entries, or an object with `recentConversations` and `summaries`.
pub fn history(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed, Refusal> {
    let mut said = Vec::new();
    let (entries, list) = match value {
        Value::Object(mut fields) => {
            let summaries = fields.shift_remove("summaries").unwrap_or_else(|| Value::Array(Vec::new()));
            let at = place.field("summaries");
            for (index, value) in array(summaries, &at, "an array of summaries")?.into_iter().enumerate() {
                said.push(Sourced { index, draft: summary(value, &at.index(index))? });
            }
            let entries = fields.shift_remove("recentConversations").unwrap_or_default();
            note_rest(&fields, &["lastSummarized"], place, notes);
            (entries, place.field("recentConversations"))
        }
        entries => (entries, *place),
    };
    for (index, value) in array(entries, &list, "an array of history entries")?.into_iter().enumerate() {
        let drafts = entry(value, &list.index(index), notes)?;
        said.extend(drafts.map(|draft| Sourced { index, draft }));
    }
    let start = said.iter().filter_map(|sourced| sourced.draft.create_time).min();
    let title = Some(TITLE.to_owned());
    Ok(Parsed { title, start, list: list.to_string(), said, ..Parsed::default() })
}

fn summary(value: Value, place: &Place<'_>) -> Result<Draft, Refusal> {
    let fields = object(value, place, "a summary: an object with summary, startDate and endDate")?;
    let text = required(&fields, "summary", place)?;
    let (start, end) = (required(&fields, "startDate", place)?, required(&fields, "endDate", place)?);
    let time = read_time(end, &place.field("endDate"))?;
    read_time(start, &place.field("startDate"))?;
    let count = fields.get("conversationCount").and_then(Value::as_u64);
    let count = count.map_or_else(String::new, |count| format!(" of {count} conversations"));
    let content = format!("Summary{count} from {start} to {end}: {text}");
    let id = Some(format!("summary-{start}-{end}"));
    Ok(draft(Role::System, content, id, Some(time), Vec::new()))
}

/// What the user said, and what the assistant answered.
fn entry(
    value: Value,
    place: &Place<'_>,
    notes: &mut Notes,
) -> Result<impl Iterator<Item = Draft> + use<>, Refusal> {
    let fields = object(value, place, "a history entry: an object with userMessage and assistantResponse")?;
    let said = required(&fields, "userMessage", place)?;
    let answered = required(&fields, "assistantResponse", place)?;
    let time = match optional_text(&fields, "timestamp", place)? {
        Some(time) => Some(read_time(time, &place.field("timestamp"))?),
        None => None,
    };
    let id = optional_text(&fields, "id", place)?;
    let id = |side: &str| id.map(|id| format!("{id}/{side}"));
    let tools = tools(fields.get("toolsUsed"), place)?;
    note_rest(
        &fields,
        &["userMessage", "assistantResponse", "timestamp", "id", "toolsUsed", "source"],
        place,
        notes,
    );
    let mut user = draft(Role::User, said.to_owned(), id("user"), time, Vec::new());
    if let Some(source) = optional_text(&fields, "source", place)? {
        let more = user.more.get_or_insert_default();
        more.metadata.insert("source".into(), source.to_owned());
    }
    let assistant = draft(Role::Assistant, answered.to_owned(), id("assistant"), time, tools);
    let has = |draft: &Draft| !draft.content.is_empty() || draft.more.is_some();
    Ok([user, assistant].into_iter().filter(has).collect::<Vec<_>>().into_iter())
}

fn draft(
    role: Role,
    content: String,
    id: Option<String>,
    time: Option<Timestamp>,
    used: Vec<Box<str>>,
) -> Draft {
    let more = (!used.is_empty()).then(|| Box::new(More { tools_used: used, ..More::default() }));
    let id = id.map(|id| fit_id(&id).into());
    Draft { id, role, content: content.into(), turn: None, create_time: time, pinned: false, more }
}

fn required<'v>(fields: &'v Map<String, Value>, name: &str, place: &Place<'_>) -> Result<&'v str, Refusal> {
    optional_text(fields, name, place)?
        .ok_or_else(|| place.field(name).refuse("is missing; accepted is text"))
}

fn note_rest(fields: &Map<String, Value>, known: &[&str], place: &Place<'_>, notes: &mut Notes) {
    notes.not_kept(fields.keys().filter(|name| !known.contains(&name.as_str())), place);
}
