//! The token of a share, as its holder keeps it.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};

use crate::{ConversationId, ConversationKey, Namespace};

/// The prefix of every token, so that a leaked one is recognised.
const PREFIX: &str = "utterd_share_";

/// The part of a token that cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 16]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Allows its holder to read one conversation.
///
/// Written as `utterd_share_` and, in URL-safe base 64, the lengths and bytes of the namespace and of the
/// conversation's id, and the secret. It is not encrypted: the existence of the conversation is not a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareToken {
    /// The conversation.
    pub key: ConversationKey,
    /// The proof that it was shared.
    pub secret: Secret,
}

impl ShareToken {
    /// The token as text: letters, digits, `-` and `_`.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        for name in [self.key.namespace.as_str(), self.key.id.as_str()] {
            // An id has at most 256 bytes.
            match name.len().checked_sub(u8::MAX.into()) {
                None => bytes.push(name.len() as u8),
                Some(more) => bytes.extend([u8::MAX, more as u8]),
            }
            bytes.extend(name.bytes());
        }
        bytes.extend(self.secret.0);
        format!("{PREFIX}{}", BASE64.encode(bytes))
    }

    /// Parses a token; `None` if it is not one. Surrounding white space is ignored.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.trim().strip_prefix(PREFIX)?).ok()?;
        let (namespace, rest) = name(&bytes)?;
        let (id, rest) = name(rest)?;
        let key =
            ConversationKey { namespace: Namespace::new(namespace).ok()?, id: ConversationId::new(id).ok()? };
        Some(Self { key, secret: Secret(rest.try_into().ok()?) })
    }
}

/// A length-prefixed name, and what follows it.
fn name(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = match bytes {
        [u8::MAX, more, rest @ ..] => (usize::from(u8::MAX) + usize::from(*more), rest),
        [length, rest @ ..] => (usize::from(*length), rest),
        [] => return None,
    };
    let (name, rest) = rest.split_at_checked(length)?;
    Some((str::from_utf8(name).ok()?, rest))
}
