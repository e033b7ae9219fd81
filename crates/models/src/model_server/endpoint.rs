//! The address of a model server, and the headers to send.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::{
    key::Key,
    settings::{Protocol, ServerSettings, SetupError},
};

const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";
/// The version of Anthropic's protocol.
const ANTHROPIC_VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));

/// A model server.
#[derive(Debug)]
pub(super) struct Endpoint {
    base: String,
    headers: HeaderMap,
    key: SecretString,
}

impl Endpoint {
    /// Returns the server of `settings`, with `key` in the headers.
    pub(super) fn new(settings: &ServerSettings<'_>, key: Option<Key>) -> Result<Self, SetupError> {
        let base = match (settings.base_url, settings.protocol) {
            (Some(address), _) => &address.to_string(),
            (None, Protocol::OpenAi) => OPENAI,
            (None, Protocol::Anthropic) => ANTHROPIC,
        };
        let base = match settings.protocol {
            Protocol::OpenAi => base.trim_end_matches('/'),
            // its paths begin with the version, which some people also put into the address
            Protocol::Anthropic => base.trim_end_matches('/').trim_end_matches("/v1"),
        };
        let headers = headers(settings.protocol, key.as_ref())?;
        let key = key.map_or_else(SecretString::default, |key| key.secret);
        Ok(Self { base: base.to_owned(), headers, key })
    }

    /// Whether the server is used without TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.base.starts_with("http://")
    }

    /// The address of `path`.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The headers of a request.
    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    /// Returns `text` without the key, which a server might repeat.
    pub(super) fn redacted(&self, text: &str) -> String {
        match self.key.expose_secret() {
            "" => text.to_owned(),
            key => text.replace(key, "[key]"),
        }
    }
}

fn headers(protocol: Protocol, key: Option<&Key>) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    if protocol == Protocol::Anthropic {
        headers.extend([ANTHROPIC_VERSION]);
    }
    if let Some(key) = key {
        let secret = key.secret.expose_secret();
        let (name, value) = match protocol {
            Protocol::OpenAi => (AUTHORIZATION, format!("Bearer {secret}")),
            Protocol::Anthropic => (HeaderName::from_static("x-api-key"), secret.to_owned()),
        };
        let mut value: HeaderValue = value.parse().map_err(|_| SetupError::Key(key.origin.clone()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}
