//! Writes utterances as items.

use serde_json::{Map, Value};

use crate::{
    Format, Losses, Repairs, Whole,
    extras::{self, Parts},
    openai_responses::{INSTRUCTIONS, TEXT, canonical, list, sent},
    refused::LeftOut,
};

/// The format of this file.
const FORMAT: Format = Format::OpenAiResponses;

/// Writes the conversation: an array of items, or the object that it came in.
pub fn export(whole: &Whole<'_>, repairs: Repairs, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let (mut instructions, mut text) = (None, None);
    let mut all = Vec::new();
    for line in whole.lines(&said, FORMAT, repairs, losses) {
        let parts = line.parts();
        if is_marked(&parts, INSTRUCTIONS) {
            instructions = Some(parts.content.to_owned());
            continue;
        }
        text = is_marked(&parts, TEXT).then(|| parts.content.to_owned());
        let items = items(&parts, parts.kept(FORMAT).as_ref());
        let rendered = match whole.rendered(line.place, items, losses) {
            Value::Array(items) => items,
            item => vec![item],
        };
        if !repairs.all {
            all.extend(rendered);
            continue;
        }
        let mut left_out = LeftOut::new();
        all.extend(sent(&parts, rendered, &mut left_out));
        whole.note_left_out(line.place, left_out, losses);
    }
    match extras::document(&said, FORMAT) {
        Some(document) => {
            let input = text.filter(|_| all.len() == 1).map_or(Value::Array(all), Value::String);
            object(document, instructions, input)
        }
        None => Value::Array(all),
    }
}

/// One utterance as an array of items that includes its kept details, and whether these still fit.
pub fn items(parts: &Parts<'_>, kept: Option<&Value>) -> (Value, bool) {
    parts.render(kept, || canonical(parts))
}

fn is_marked(parts: &Parts<'_>, mark: &str) -> bool {
    parts.kept(FORMAT).is_some_and(|kept| kept.get(mark).is_some())
}

fn object(mut document: Map<String, Value>, instructions: Option<String>, input: Value) -> Value {
    if let Some(text) = instructions {
        document.insert(INSTRUCTIONS.into(), text.into());
    }
    document.insert(list(&document).to_owned(), input);
    Value::Object(document)
}
