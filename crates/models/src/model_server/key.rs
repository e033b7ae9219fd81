//! Finds the API key.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use secrecy::SecretString;

use super::settings::{KeyNames, Protocol, ServerSettings, SetupError};
use utterd_domain::limits::MAX_SETTINGS_BYTES;

/// A key, and where it was found.
pub(super) struct Key {
    /// The key; not empty.
    pub secret: SecretString,
    /// `in FILE` or `by VARIABLE`.
    pub origin: String,
}

/// Returns the key from the file, else from the environment. The key is optional if the server is
/// not the provider's own.
pub(super) fn find(
    settings: &ServerSettings<'_>,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Option<Key>, SetupError> {
    let KeyNames { file, variable } = settings.names;
    if let Some(path) = settings.api_key_file {
        let unread = |error| SetupError::KeyFile { setting: file, path: path.to_owned(), error };
        return read(path).map(Some).map_err(unread);
    }
    let provider = match settings.protocol {
        Protocol::OpenAi => "OPENAI_API_KEY",
        Protocol::Anthropic => "ANTHROPIC_API_KEY",
    };
    let given = |name: &str| Key::of(&environment(name)?, format!("by {name}"));
    match given(variable).or_else(|| given(provider)) {
        None if settings.base_url.is_none() => Err(SetupError::NoKey { file, variable, provider }),
        key => Ok(key),
    }
}

fn read(path: &Path) -> io::Result<Key> {
    let empty = || io::Error::new(io::ErrorKind::InvalidData, "it holds no key");
    let mut text = String::new();
    File::open(path)?.take(MAX_SETTINGS_BYTES as u64 + 1).read_to_string(&mut text)?;
    if text.len() > MAX_SETTINGS_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large for a key"));
    }
    Key::of(&text, format!("in {}", path.display())).ok_or_else(empty)
}

impl Key {
    fn of(text: &str, origin: String) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self { secret: text.into(), origin })
    }
}
