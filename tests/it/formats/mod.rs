//! The formats: round trips, and sound conversions from one format to another.

mod cases;
mod extras_tokens;
mod faults;
mod programs;
mod random;
mod repaired;
mod transcripts;

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;
use serde_json::{Map, Value};

use utterd::{
    domain::{
        Conversation, Draft, LineageId, Policy, Revision, Timestamp, TokenCounter, Utterance,
        change::{Context, Loaded},
        conversation::Identity,
        draft::Field,
        limits::MOST_CONTENT_BYTES,
        memorize::{Memorize, memorize},
        state::{StateContent, StateValue},
    },
    formats::{Format, Losses, Parsed, Repairs, UnknownRoles, Whole, export, message, parse},
};

/// Any JSON value, including keys and texts that the formats read.
pub fn json() -> impl Strategy<Value = Value> {
    const WORDS: [&str; 14] = [
        "role",
        "content",
        "type",
        "text",
        "id",
        "$",
        "name",
        "user",
        "assistant",
        "tool_result",
        "whole",
        "a",
        "is",
        "",
    ];
    let word = || prop::sample::select(WORDS.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let fields = prop::collection::vec((word().prop_map(str::to_owned), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Counts a token per four bytes.
struct Quarter;

impl TokenCounter for Quarter {
    fn count(&self, text: &str) -> u32 {
        text.len().div_ceil(4) as u32
    }
}

/// A conversation as it is stored: nothing leaves its window.
fn stored(parsed: &Parsed, lineage: u8) -> Vec<Arc<Utterance>> {
    let check = |(index, draft): (usize, &Draft)| {
        draft.check(Field { list: "messages", index }, MOST_CONTENT_BYTES, true).expect("it is accepted");
    };
    let drafts: Vec<Draft> = parsed.said.iter().map(|sourced| sourced.draft.clone()).collect();
    drafts.iter().enumerate().for_each(check);
    let tokens = drafts.iter().map(|draft| draft.tokens(&Quarter)).collect();
    let command = Memorize { drafts, tokens, lenient: true, ..Memorize::default() };
    let identity = Identity { lineage: LineageId([lineage; 16]), ..Identity::default() };
    let before = Conversation::new(identity, Policy::SESSION);
    let loaded = Loaded::default();
    let context =
        Context { now: Timestamp(1_700_000_000_000_000), counter: &Quarter, loaded: &loaded, llm: false };
    memorize(&before, &command, &context).expect("it is memorized").transition.change.appended
}

/// The messages written from what is stored of `messages`.
fn given_out(messages: &[String], format: Format) -> Vec<String> {
    let read = message::read(&format!("[{}]", messages.join(",")), Some(format), UnknownRoles::ReadAsUser)
        .expect("it is read");
    let stored = stored(&Parsed { said: read.drafts, ..Parsed::default() }, 1);
    let each = stored.chunk_by(|one, next| next.continues_after(one));
    let written = each.map(|message| message::write(message.iter().map(|utterance| &**utterance), None));
    written.flat_map(|written| written.json).collect()
}

/// A conversation, stored and exported.
fn exported(parsed: &Parsed, format: Format, repairs: Repairs) -> (Value, Losses) {
    exported_as(1, parsed, format, repairs)
}

/// The same, with the ids of one lineage.
fn exported_as(lineage: u8, parsed: &Parsed, format: Format, repairs: Repairs) -> (Value, Losses) {
    let utterances = stored(parsed, lineage);
    let labels = BTreeMap::new();
    let kept = |(name, content): &(Box<str>, StateContent)| {
        Arc::new(StateValue { name: name.clone(), version: Revision(1), content: content.clone() })
    };
    let state: Vec<_> = parsed.state.iter().map(kept).collect();
    let whole = Whole {
        id: parsed.id.as_deref().unwrap_or("c"),
        title: parsed.title.as_deref(),
        summary: parsed.summary.as_deref(),
        start: parsed.start.unwrap_or_default(),
        end: parsed.end,
        labels: &labels,
        state: &state,
        summaries: &parsed.summaries,
        utterances: &utterances,
    };
    export(&whole, format, repairs)
}

/// The conversations of `value`, a file in `format`, converted to `target`.
fn through(value: &Value, format: Format, target: Format) -> Vec<Value> {
    let source =
        parse(value.to_string().as_bytes(), Some(format), UnknownRoles::ReadAsUser).expect("it is read");
    source.conversations.iter().map(|parsed| exported_as(2, parsed, target, Repairs::default()).0).collect()
}
