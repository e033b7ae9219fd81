//! The title and the closing summary of an ended conversation.
//!
//! Pure and deterministic, without a model. Both are made from what the summary's segments keep and from the window's
//! two ends, so they contain only what is stored and live: after a hard forget, calling again rebuilds them. If there is
//! a model, its text replaces them ([`told()`]).

mod told;

use std::sync::Arc;

use crate::{
    Conversation, Utterance,
    extract::{self, Item},
    limits::MAX_TITLE_BYTES,
};

pub use told::{ReplaceClosing, Told, Unfit, give_up_closing, replace_closing, told};

/// The utterances that are read at either end of the window.
const END: usize = 200;

/// The title: at most 8 words of what the user asked for first (seed 000). An issue or a task that was handed over gives
/// its own. `None` if nothing was said.
pub fn title(conversation: &Conversation) -> Option<Arc<str>> {
    let title = utterd_summary::title::title(&items(conversation))?;
    let end = title.floor_char_boundary(MAX_TITLE_BYTES);
    Some(title[..end].trim_end().into())
}

/// The closing summary, of two or three sentences (seed 000), or one if no more was said: the first request; what was
/// decided, or else the last deed that worked; what the assistant said of it last. `None` if nothing was said.
pub fn summary(conversation: &Conversation) -> Option<Arc<str>> {
    utterd_summary::closing::closing(&items(conversation)).map(Arc::from)
}

/// What the conversation's own summary and its window can tell.
fn items(conversation: &Conversation) -> Vec<Item> {
    let said = conversation.summary.segments().iter().filter(|segment| segment.imported.is_none());
    let mut items: Vec<Item> = said.flat_map(|segment| segment.items.iter().cloned()).collect();
    let window = &conversation.window;
    let length = window.len();
    let newest = length.saturating_sub(END).max(END.min(length));
    let ends: Vec<Arc<Utterance>> =
        window.slice(0..END.min(length)).chain(window.slice(newest..length)).cloned().collect();
    items.extend(extract::items(&ends));
    items
}

#[cfg(test)]
mod tests;
