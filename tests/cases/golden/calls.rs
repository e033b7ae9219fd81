//! Any call, as a command.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use prost_reflect::{DynamicMessage, SerializeOptions};
use serde_json::Value;

use crate::{
    golden::{
        errors,
        ids::Ids,
        runner::{Here, Printed},
    },
    support::{connect, wire},
};

/// The token of the last page, as scripts name it.
const NEXT: &str = "next";

/// `METHOD JSON … show=FIELDS`: a call with its requests, an empty one if there is none.
pub async fn call(here: &Here<'_>, line: &str, ids: &Ids, next_page: &mut String) -> Printed {
    let (line, show) = line.split_once(" show=").unwrap_or((line, ""));
    let (name, json) = line.split_once(' ').unwrap_or((line, ""));
    let method = wire::methods().into_iter().find(|method| method.name() == name);
    let method = method.ok_or_else(|| format!("there is neither a command nor a call {name}"))?;
    let show: Vec<&str> = show.split(',').filter(|path| !path.is_empty()).collect();
    let json = if json.is_empty() && !method.is_client_streaming() { "{}" } else { json };
    let mut requests = Vec::new();
    for request in serde_json::Deserializer::from_str(json).into_iter::<Value>() {
        let mut message = written(request?, ids, next_page);
        let addressed = method.input().get_field_by_name("conversation_id").is_some();
        if addressed && !here.conversation_id.is_empty() {
            message["conversation_id"] = here.conversation_id.clone().into();
        }
        requests.push(wire::request(&method, &message)?);
    }
    let mut stream = match wire::open(connect(here.server).await, None, &method, &requests).await {
        Ok(stream) => stream,
        Err(status) => return Err(errors::describe(&status).into()),
    };
    let mut text = String::new();
    loop {
        match stream.message().await {
            Ok(Some(message)) => {
                text += &told(DynamicMessage::decode(method.output(), message)?, &show, next_page)?
            }
            Ok(None) => return Ok(text),
            Err(status) => return Err(errors::describe(&status).into()),
        }
    }
}

/// What a script abbreviates, in full: `x*300` is 300 times x, `["*3", "k#"]` a list of k1 to k3, and `{"k#3": 1}` has
/// these keys; `utf8:hi` is the bytes of a text, and a list or an object in a field of JSON its text; `id1` is the first
/// id printed, and the page token `next` that of the last page.
fn written(value: Value, ids: &Ids, next_page: &str) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("utf8:") {
            Some(bytes) => BASE64.encode(bytes).into(),
            None => long(&text).or_else(|| named(&text, ids)).unwrap_or(text).into(),
        },
        Value::Array(mut all) => {
            let times =
                all.first().and_then(Value::as_str).and_then(|first| first.strip_prefix('*')?.parse().ok());
            let all = match times {
                Some(times) => numbered(&all.split_off(1), times),
                None => all,
            };
            all.into_iter().map(|one| written(one, ids, next_page)).collect()
        }
        Value::Object(fields) => fields
            .into_iter()
            .flat_map(|(name, field)| {
                let field = match field {
                    Value::String(token) if name == "page_token" && token == NEXT => next_page.into(),
                    Value::Array(_) | Value::Object(_) if name.ends_with("_json") => field.to_string().into(),
                    field => written(field, ids, next_page),
                };
                keys(&name).into_iter().map(move |key| (key, field.clone()))
            })
            .collect(),
        other => other,
    }
}

/// `["*3", "k#"]`, without its first entry
fn numbered(entries: &[Value], times: usize) -> Vec<Value> {
    let text = Value::from(entries).to_string();
    let number = |number: usize| serde_json::from_str::<Vec<Value>>(&text.replace('#', &number.to_string()));
    (1..=times).flat_map(number).flatten().collect()
}

/// `x*300`
fn long(text: &str) -> Option<String> {
    let (part, times) = text.rsplit_once('*')?;
    Some(part.repeat(times.parse().ok()?))
}

/// `id2-7`, an utterance's id, or `id2`
fn named(text: &str, ids: &Ids) -> Option<String> {
    match text.split_once('-') {
        Some((id, rest)) => Some(format!("{}-{rest}", ids.id(id))),
        None => Some(ids.id(text).to_owned()),
    }
}

/// `k#3`, or `k*300`
fn keys(name: &str) -> Vec<String> {
    let many = name.split_once('#').and_then(|(key, most)| Some((key, most.parse().ok()?)));
    match many {
        Some((key, most)) => (1..=most).map(|number: usize| format!("{key}{number}")).collect(),
        None => vec![long(name).unwrap_or_else(|| name.to_owned())],
    }
}

/// A response in JSON, or a line for each of its fields in `show`.
fn told(message: DynamicMessage, show: &[&str], next_page: &mut String) -> Result<String, serde_json::Error> {
    let options = SerializeOptions::new().use_proto_field_name(true).stringify_64_bit_integers(false);
    let mut message = message.serialize_with_options(serde_json::value::Serializer, &options)?;
    if let Some(token) = message.get_mut("next_page_token") {
        *next_page = token.as_str().unwrap_or_default().to_owned();
        *token = NEXT.into();
    }
    if let Some(chunk) = message.get_mut("chunk") {
        let bytes = BASE64.decode(chunk.as_str().unwrap_or_default()).unwrap_or_default();
        *chunk = String::from_utf8_lossy(&bytes).into();
    }
    if show.is_empty() {
        return Ok(format!("{message}\n"));
    }
    let field = |path: &&str| {
        let path: Vec<&str> = path.split('.').collect();
        match at(&message, &path) {
            Value::String(text) => format!("{} {text}\n", path[path.len() - 1]),
            field => format!("{} {field}\n", path[path.len() - 1]),
        }
    };
    Ok(show.iter().map(field).collect())
}

/// The field at a path; of a list, that of each entry.
fn at(value: &Value, path: &[&str]) -> Value {
    match (path.split_first(), value) {
        (None, _) => value.clone(),
        (Some(_), Value::Array(all)) => all.iter().map(|one| at(one, path)).collect(),
        (Some((first, rest)), _) => at(&value[*first], rest),
    }
}
