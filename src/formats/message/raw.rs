//! What is kept of a message so that its bytes can be written again.
//!
//! Beside each utterance of it stand the pieces of its text that are the utterance's own: of a message that became
//! several, the blocks that the utterance holds, so that with the utterance its text is gone. A piece is its number
//! among the message's pieces, and its text, in which long texts that stand in the utterance anyway are cut out. A
//! hash tells whether the utterance still says what it said.

use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    domain::Draft,
    formats::{
        Format,
        extras::{self, Parts},
        message::bytes::Texts,
    },
};

/// The key of the pieces.
const RAW: &str = "raw";
/// The key of the hash of what is said.
const SAYS: &str = "says";

/// A piece of a message's text: its number, and itself.
pub(super) type Piece<'m> = (usize, &'m str);

/// Keeps `pieces` of a message of `format` with the draft that they are of.
pub(super) fn keep(draft: &mut Draft, format: Format, pieces: &[Piece<'_>]) {
    let parts = Parts::from(&*draft);
    let kept = parts.kept(format);
    let leaves = Leaves::of(&parts, kept.as_ref());
    let texts = leaves.texts(&parts);
    let piece = |(number, text): &Piece<'_>| {
        std::iter::once(Value::from(*number)).chain(texts.cut(text)).collect::<Value>()
    };
    let pieces: Value = pieces.iter().map(piece).collect();
    let says = format!("{:016x}", hash(&parts));
    extras::keep(draft, format, Map::from_iter([(RAW.to_owned(), pieces), (SAYS.to_owned(), says.into())]));
}

/// The pieces that are kept with an utterance; `None` when none are, or it says something else by now.
pub(super) fn pieces(parts: &Parts<'_>, format: Format) -> Option<Vec<(usize, String)>> {
    let kept = parts.kept(format)?;
    let says = kept.get(SAYS)?.as_str()?;
    if says != format!("{:016x}", hash(parts)) {
        return None;
    }
    let leaves = Leaves::of(parts, Some(&kept));
    let texts = leaves.texts(parts);
    let piece = |piece: &Value| {
        let (number, rest) = piece.as_array()?.split_first()?;
        let mut text = String::new();
        texts.join(rest, &mut text)?;
        Some((usize::try_from(number.as_u64()?).ok()?, text))
    };
    kept.get(RAW)?.as_array()?.iter().map(piece).collect()
}

/// What an utterance says, in a number.
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

/// JSON values whose texts a message may repeat.
struct Leaves(Vec<Value>);

impl Leaves {
    /// The arguments of calls, and what else is kept of the message.
    fn of(parts: &Parts<'_>, kept: Option<&Value>) -> Self {
        let arguments = |call: &crate::domain::ToolCall| {
            let arguments: Result<Value, _> = serde_json::from_str(&call.arguments_json);
            arguments.unwrap_or_default()
        };
        let mut values: Vec<_> = parts.calls().iter().map(arguments).collect();
        let own = |(key, value): (&String, &Value)| (key != RAW && key != SAYS).then(|| value.clone());
        values.extend(kept.and_then(Value::as_object).into_iter().flatten().filter_map(own));
        Self(values)
    }

    /// The texts that a message of `parts` may repeat.
    fn texts<'t>(&'t self, parts: &Parts<'t>) -> Texts<'t> {
        let mut texts = vec![parts.content];
        texts.extend(parts.calls().iter().map(|call| &*call.arguments_json));
        self.0.iter().for_each(|value| gather(value, &mut texts));
        Texts::of(texts)
    }
}

fn gather<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A mark that a message came in `format`, and is written as the format writes what it says.
pub(super) fn mark(draft: &mut Draft, format: Format) {
    extras::keep(draft, format, Map::new());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Role;

    #[test]
    fn what_is_kept_holds_while_it_says_the_same() {
        let content = "a text that is long enough to stand once";
        let mut draft = Draft {
            id: None,
            role: Role::User,
            content: content.into(),
            turn: None,
            create_time: None,
            pinned: false,
            more: None,
        };
        let text = json!({"content": content, "role": "user"}).to_string();
        keep(&mut draft, Format::OpenAiChat, &[(0, &text)]);
        let extras = draft.more.as_ref().and_then(|more| more.extras_json.clone()).unwrap_or_default();
        assert!(!extras.contains("long enough"), "{extras}");
        assert_eq!(pieces(&Parts::from(&draft), Format::OpenAiChat), Some(vec![(0, text)]));
        assert_eq!(pieces(&Parts::from(&draft), Format::Anthropic), None);
        draft.content = "another".into();
        assert_eq!(pieces(&Parts::from(&draft), Format::OpenAiChat), None);
    }
}
