//! Credentials that were said, printed or sent: nothing that is told of a conversation holds one.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use utterd_text::secrets::{MARK, find, redact};

use crate::item::{Item, Kind};

/// A shorter one is hidden only where its label is: elsewhere it may be a word.
const LEAST_BYTES: usize = 8;
/// `//u:p@`: nothing shorter shows a credential by what surrounds it.
const LEAST_SURROUNDED: usize = 6;
/// Credentials that are looked for elsewhere.
const MOST: usize = 200;

/// The credentials of a source.
#[derive(Default)]
pub struct Credentials<'a> {
    known: Vec<&'a str>,
    /// Texts without any: many a message is one sentence.
    free: FxHashSet<&'a str>,
}

impl<'a> Credentials<'a> {
    /// Notes the credentials in `text`, which can be said again without a label.
    pub fn read(&mut self, text: &'a str) {
        let found = find(text);
        if found.is_empty() {
            self.free.insert(text.trim());
        }
        for found in found.into_iter().map(|place| &text[place]) {
            if found.len() >= LEAST_BYTES && self.known.len() < MOST && !self.known.contains(&found) {
                self.known.push(found);
            }
        }
    }

    /// Hides them in what an item tells.
    pub fn hide(&self, item: &mut Item) {
        for text in [&mut item.head, &mut item.note] {
            if let Some(hidden) = self.hidden(text) {
                *text = hidden.into();
            }
        }
        if let Some(hidden) = self.hidden(&item.text) {
            item.say(hidden.into());
        }
        if item.kind != Kind::Fact || item.note.is_empty() || item.text.len() < LEAST_BYTES {
            return;
        }
        // a value and its label are apart
        let labelled = format!("{}={}", item.note.replace(' ', "_"), item.text);
        if &*item.text != MARK && redact(&labelled).ends_with(MARK) {
            item.text = MARK.into();
        }
    }

    /// `text` without them; `None` if it has none.
    pub fn hidden(&self, text: &str) -> Option<Box<str>> {
        if text.len() < LEAST_SURROUNDED {
            return None;
        }
        let mut hidden = if self.free.contains(text) { Cow::Borrowed(text) } else { redact(text) };
        for known in self.known.iter().filter(|known| text.contains(**known)) {
            hidden = Cow::Owned(hidden.replace(known, MARK));
        }
        match hidden {
            Cow::Borrowed(_) => None,
            Cow::Owned(hidden) => Some(hidden.into()),
        }
    }
}
