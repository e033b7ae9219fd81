//! The batch of a `memorize`.
//!
//! A role starts an utterance with its content; its other fields follow: `id=a`, `name=Ada`, `turn=3`,
//! `pinned=true`, `awaits=true`, `call='c1 lookup {"id":7}'` (repeated for each call), `of=c1` (the call that
//! a tool answers), `note=key:value`, `extras='{…}'`, `used=TOOL`, `words=500` (repeats its content this many
//! times), `role=9` (a number that is not a role). Anywhere: `request=r1`, `expect=3` (a revision),
//! `lenient=true`, `recipient=ada`, `session=tui`.

use std::error::Error;

use utterd::proto::{MemorizeRequest, NewUtterance, Role, ToolCall};

type Pairs<'a> = &'a [(String, String)];

/// Reads a batch.
pub fn request(pairs: Pairs<'_>, conversation_id: String) -> Result<MemorizeRequest, Box<dyn Error>> {
    let mut request = MemorizeRequest { conversation_id, ..Default::default() };
    for (key, value) in pairs {
        match Role::from_str_name(&format!("ROLE_{}", key.to_uppercase())) {
            Some(role) => request.utterances.push(NewUtterance {
                role: role.into(),
                content: value.clone(),
                ..Default::default()
            }),
            None => option(&mut request, key, value)?,
        }
    }
    Ok(request)
}

fn option(request: &mut MemorizeRequest, key: &str, value: &str) -> Result<(), Box<dyn Error>> {
    match key {
        "request" => request.request_id = value.to_owned(),
        "expect" => request.expected_revision = Some(value.parse()?),
        "lenient" => request.lenient = value.parse()?,
        "recipient" => request.recipient_id = value.to_owned(),
        "session" => request.session_id = value.to_owned(),
        _ => {
            let last = request.utterances.last_mut().ok_or_else(|| format!("{key} comes before a role"))?;
            describe(last, key, value)?;
        }
    }
    Ok(())
}

fn describe(utterance: &mut NewUtterance, key: &str, value: &str) -> Result<(), Box<dyn Error>> {
    let text = value.to_owned();
    match key {
        "id" => utterance.utterance_id = text,
        "role" => utterance.role = value.parse()?,
        "name" => utterance.name = text,
        "turn" => utterance.turn_number = Some(value.parse()?),
        "pinned" => utterance.pinned = value.parse()?,
        "awaits" => utterance.awaits_answer = value.parse()?,
        "call" => utterance.tool_calls.push(call(value)),
        "of" => utterance.tool_call_id = text,
        "used" => utterance.tools_used.push(text),
        "extras" => utterance.extras_json = text,
        "words" => utterance.content = vec![&*utterance.content; value.parse()?].join(" "),
        "note" => {
            let (key, value) = value.split_once(':').ok_or("a note is key:value")?;
            utterance.metadata.insert(key.to_owned(), value.to_owned());
        }
        _ => return Err(format!("an utterance has no {key}").into()),
    }
    Ok(())
}

/// `ID NAME ARGUMENTS`
fn call(text: &str) -> ToolCall {
    let mut parts = text.splitn(3, ' ').map(str::to_owned);
    let mut part = || parts.next().unwrap_or_default();
    ToolCall { id: part(), name: part(), arguments_json: part() }
}
