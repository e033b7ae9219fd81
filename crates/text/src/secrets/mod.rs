//! What looks like a credential, and a text without it.
//!
//! Three things show one: how it begins, as its provider documents it; what surrounds it (a block of a private key, the
//! password of an address); its label (`password: …`) together with its look.

mod known;
mod labelled;
mod look;
mod placed;

use std::{borrow::Cow, ops::Range};

/// Stands for a credential.
pub const MARK: &str = "[secret]";

/// The text with `[secret]` for whatever looks like a credential.
///
/// - What only names one (`token_count: 4096`, `password: required`) stays, and so do hashes, ids and paths.
/// - Of an address with a password (`scheme://user:password@host`), only the password goes.
pub fn redact(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
    for secret in found {
        if secret.start >= at {
            clean.push_str(&text[at..secret.start]);
            clean.push_str(MARK);
        }
        at = at.max(secret.end);
    }
    clean.push_str(&text[at..]);
    Cow::Owned(clean)
}

/// The places of credentials, by where they start; some can overlap.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    known::find(text, &mut found);
    placed::find(text, &mut found);
    labelled::find(text, &mut found);
    found.sort_unstable_by_key(|secret| (secret.start, secret.end));
    found
}

#[cfg(test)]
mod tests;
