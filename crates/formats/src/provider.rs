//! How a provider's messages are written: in one way for exports, contexts, histories and single messages.

use serde_json::Value;

use crate::{
    Format,
    extras::{self, Parts},
    refused::LeftOut,
    vision,
};
use utterd_domain::Draft;

/// How the messages of a provider are written.
pub struct Provider {
    /// Its format.
    pub format: Format,
    /// What an utterance is in this format, with holes for the texts: a message, or the blocks or items of one.
    pub canonical: fn(&Parts<'_>) -> Value,
    /// What goes to the API of an utterance as it came. Empty if nothing is said or called.
    pub sent: fn(&Parts<'_>, Vec<Value>, &mut LeftOut) -> Vec<Value>,
}

impl Provider {
    /// An utterance with the details that are `kept` of it, and whether these still fit.
    pub fn write(&self, parts: &Parts<'_>, kept: Option<&Value>) -> (Vec<Value>, bool) {
        let (written, fits) = parts.render(kept, || (self.canonical)(parts));
        let list = match written {
            Value::Array(list) => list,
            one => vec![one],
        };
        (list, fits)
    }

    /// An utterance with all that is kept of it.
    pub fn original(&self, parts: &Parts<'_>) -> Vec<Value> {
        self.write(parts, parts.kept(self.format).as_ref()).0
    }

    /// An utterance without anything that is kept of it.
    pub fn plain(&self, parts: &Parts<'_>) -> Vec<Value> {
        self.write(parts, None).0
    }

    /// Keeps with the draft what its canonical form does not reproduce of `source`, and counts the pictures in it.
    /// `hollow` is `source` with its holes punched.
    pub fn keep_difference(&self, draft: &mut Draft, source: &Value, hollow: &Value) {
        extras::keep_difference(draft, self.format, source, hollow, self.canonical);
        let tokens = vision::tokens(source, self.format);
        if tokens > 0 {
            draft.more.get_or_insert_default().extras_tokens = tokens;
        }
    }
}
