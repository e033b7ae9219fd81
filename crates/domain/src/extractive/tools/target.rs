//! What a call works on.

use crate::extractive::{
    effects::{Effect, key},
    naming::root::Root,
    text::clip::{clip, clip_tail, folded},
    tools::calls::{Call, KEY_BYTES},
};

/// The identifying argument; for an edit that names no file, the one that its result says is open.
pub(in crate::extractive) fn target(made: &Call<'_>, root: &Root) -> String {
    let key = key(made.call);
    let is_edit = made.effect == Effect::Changes && made.ran.is_none() && edits(&made.call.name);
    let names_file = key.as_ref().is_some_and(|key| is_path(&key.value));
    let opened = made.answer.filter(|_| is_edit && !names_file).and_then(|(_, said)| opened(said));
    match opened {
        Some(file) => root.relative(file).to_owned(),
        None => key.map(|key| folded(&root.shortened(&key.value), KEY_BYTES)).unwrap_or_default(),
    }
}

/// Whether a tool works on the open file of an editor.
fn edits(name: &str) -> bool {
    ["edit", "insert", "append", "replace"].contains(&name.to_ascii_lowercase().as_str())
}

/// The file that an editor says is open: `[File: /a.py (9 lines total)]`, `(Open file: /a.py)`.
fn opened(said: &str) -> Option<&str> {
    let tail = clip_tail(said, 300);
    ["[File: ", "(Open file: "].iter().find_map(|mark| {
        let named = [said, tail].into_iter().find_map(|text| clip(text, 600).split_once(mark))?.1;
        let file = named.split([' ', ')', ']', '\n']).next()?;
        (!file.is_empty() && file != "n/a").then_some(file)
    })
}

/// Whether a value is a file's path or name.
pub(in crate::extractive) fn is_path(value: &str) -> bool {
    !value.contains(char::is_whitespace)
        && (value.contains('/')
            || value.rsplit_once('.').is_some_and(|(name, end)| {
                !name.is_empty()
                    && (1..=8).contains(&end.len())
                    && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }))
}
