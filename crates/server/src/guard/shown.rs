//! What a caller shows to identify itself.

use std::sync::Arc;

use http::{HeaderValue, Request, header::AUTHORIZATION};

use crate::transport::connection::Peer;

/// What a caller shows to identify itself. It has no debug output, as it holds a secret.
#[derive(Clone)]
pub struct Shown {
    authorization: Option<HeaderValue>,
    /// The names in the certificate of its connection, if there is one.
    names: Option<Arc<[String]>>,
}

/// The proof of identity that counts.
pub enum Proof<'a> {
    /// Nothing.
    None,
    /// A token.
    Token(&'a str),
    /// The certificate of its connection, by its names.
    Certificate(&'a [String]),
    /// An `authorization` that does not hold one token.
    Nonsense,
}

impl Shown {
    /// Returns what is shown with `request`.
    pub fn with<B>(request: &Request<B>) -> Self {
        let mut given = request.headers().get_all(AUTHORIZATION).iter();
        let authorization = match (given.next(), given.next()) {
            (one, None) => one.cloned(),
            // which holds no token either
            (_, Some(_)) => Some(HeaderValue::from_static("several")),
        };
        let peer = request.extensions().get::<Peer>();
        Self { authorization, names: peer.and_then(|peer| peer.names.clone()) }
    }

    /// Returns the proof that counts: a token takes precedence over a certificate.
    pub fn proof(&self) -> Proof<'_> {
        match &self.authorization {
            Some(value) => value.to_str().ok().and_then(bearer).map_or(Proof::Nonsense, Proof::Token),
            None => self.names.as_deref().map_or(Proof::None, Proof::Certificate),
        }
    }
}

/// Returns the token of `Bearer TOKEN`.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
