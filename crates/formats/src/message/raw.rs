//! Keeps what is needed to write the bytes of a message again.
//!
//! Each utterance of a message keeps the pieces of the message's text that belong to it. If one message
//! became several utterances, these are the blocks that the utterance holds, so removing the utterance
//! removes their text. A piece is its number among the message's pieces, followed by its text, with long
//! texts that are in the utterance anyway cut out. A hash shows whether the utterance still says the same.

use serde_json::{Map, Value, value::RawValue};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    Format,
    extras::{self, Parts},
    message::bytes::Texts,
    raw_object::RawObject,
};
use utterd_domain::Draft;

/// The key of the pieces.
const RAW: &str = "raw";
/// The key of the hash of what is said.
const SAYS: &str = "says";

/// A piece of a message's text, with its number.
pub(super) type Piece<'m> = (usize, &'m str);

/// Keeps the `pieces` of a `format` message with the draft they belong to, in addition to what is already
/// `kept`.
pub(super) fn keep(draft: &mut Draft, format: Format, kept: Option<Value>, pieces: &[Piece<'_>]) {
    let mut kept = match kept {
        Some(Value::Object(kept)) => kept,
        _ => Map::new(),
    };
    let parts = Parts::from(&*draft);
    let arguments = arguments(&parts);
    let texts = Texts::of(said(&parts).chain(leaves(arguments.iter().chain(kept.values()))));
    let piece = |(number, text): &Piece<'_>| {
        std::iter::once(Value::from(*number)).chain(texts.cut(text)).collect::<Value>()
    };
    let pieces: Value = pieces.iter().map(piece).collect();
    let says = format!("{:016x}", hash(&parts));
    kept.extend([(RAW.to_owned(), pieces), (SAYS.to_owned(), says.into())]);
    extras::keep_only(draft, format, kept);
}

/// The pieces kept with an utterance; `None` if there are none, or it says something else by now.
pub(super) fn pieces(parts: &Parts<'_>, format: Format) -> Option<Vec<(usize, String)>> {
    let kept = RawObject::read(parts.kept_json(format)?.get())?;
    let says: &str = serde_json::from_str(kept.get(SAYS)?.get()).ok()?;
    if u64::from_str_radix(says, 16) != Ok(hash(parts)) {
        return None;
    }
    let pieces: Vec<Vec<&RawValue>> = serde_json::from_str(kept.get(RAW)?.get()).ok()?;
    // most repeat only what is said
    joined(&pieces, &Texts::of(said(parts))).or_else(|| {
        let own = kept.iter().filter(|(name, _)| *name != RAW && *name != SAYS);
        let mut values = arguments(parts);
        values.extend(own.map(|(_, value)| serde_json::from_str(value.get()).unwrap_or_default()));
        joined(&pieces, &Texts::of(said(parts).chain(leaves(&values))))
    })
}

/// The pieces as they are in the message, with their numbers.
fn joined(pieces: &[Vec<&RawValue>], texts: &Texts<'_>) -> Option<Vec<(usize, String)>> {
    let piece = |piece: &Vec<&RawValue>| {
        let (number, rest) = piece.split_first()?;
        Some((number.get().parse().ok()?, texts.join(rest)?))
    };
    pieces.iter().map(piece).collect()
}

/// A hash of what an utterance says.
fn hash(parts: &Parts<'_>) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |text: &str| {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    add(parts.role.as_str());
    add(parts.content);
    add(parts.name().unwrap_or_default());
    add(parts.tool_call_id().unwrap_or_default());
    for call in parts.calls() {
        [&call.id, &call.name, &call.arguments_json].into_iter().for_each(|text| add(text));
    }
    hash.digest()
}

/// What an utterance says: the first of the texts that its message might repeat.
fn said<'t>(parts: &Parts<'t>) -> impl Iterator<Item = &'t str> + use<'t> {
    std::iter::once(parts.content).chain(parts.calls().iter().map(|call| &*call.arguments_json))
}

/// The arguments of its calls: their texts come second, those of other kept values last.
fn arguments(parts: &Parts<'_>) -> Vec<Value> {
    parts.calls().iter().map(|call| serde_json::from_str(&call.arguments_json).unwrap_or_default()).collect()
}

/// The texts within JSON values.
fn leaves<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<&'v str> {
    let mut texts = Vec::new();
    values.into_iter().for_each(|value| gather(value, &mut texts));
    texts
}

fn gather<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Marks that a message came in `format`, and exactly as the format writes it.
pub(super) fn mark(draft: &mut Draft, format: Format) {
    extras::keep(draft, format, Map::new());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use utterd_domain::{More, Role};

    #[test]
    fn what_is_kept_holds_while_it_says_the_same() {
        let content = "a text that is long enough to stand once";
        let mut draft = Draft::of(Role::User, content, More::default());
        let text = json!({"content": content, "role": "user"}).to_string();
        keep(&mut draft, Format::OpenAiChat, None, &[(0, &text)]);
        let extras = draft.more.as_ref().and_then(|more| more.extras_json.clone()).unwrap_or_default();
        assert!(!extras.contains("long enough"), "{extras}");
        assert_eq!(pieces(&Parts::from(&draft), Format::OpenAiChat), Some(vec![(0, text)]));
        assert_eq!(pieces(&Parts::from(&draft), Format::Anthropic), None);
        draft.content = "another".into();
        assert_eq!(pieces(&Parts::from(&draft), Format::OpenAiChat), None);
    }
}
