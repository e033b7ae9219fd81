//! What a caller shows of who it is.

use std::sync::Arc;

use http::{HeaderValue, Request, header::AUTHORIZATION};
use rustls::pki_types::CertificateDer;

use crate::server::connection::Peer;

/// What a caller shows of who it is. It has no debug output, as it holds a secret.
#[derive(Clone)]
pub struct Shown {
    authorization: Authorization,
    certificates: Option<Arc<[CertificateDer<'static>]>>,
}

#[derive(Clone)]
enum Authorization {
    None,
    One(HeaderValue),
    Several,
}

/// What a caller shows that counts.
pub enum Proof<'a> {
    /// Nothing.
    None,
    /// A token.
    Token(&'a str),
    /// The certificate of its connection.
    Certificate(&'a [u8]),
    /// What is no token.
    Nonsense,
}

impl Shown {
    /// What is shown with `request`.
    pub fn with<B>(request: &Request<B>) -> Self {
        let mut given = request.headers().get_all(AUTHORIZATION).iter();
        let authorization = match (given.next(), given.next()) {
            (None, _) => Authorization::None,
            (Some(one), None) => Authorization::One(one.clone()),
            (Some(_), Some(_)) => Authorization::Several,
        };
        let peer = request.extensions().get::<Peer>();
        Self { authorization, certificates: peer.and_then(|peer| peer.certificates.clone()) }
    }

    /// What counts: a token before a certificate.
    pub fn proof(&self) -> Proof<'_> {
        match &self.authorization {
            Authorization::One(value) => {
                value.to_str().ok().and_then(bearer).map_or(Proof::Nonsense, Proof::Token)
            }
            Authorization::Several => Proof::Nonsense,
            Authorization::None => match self.certificates.as_deref() {
                Some([own, ..]) => Proof::Certificate(own),
                _ => Proof::None,
            },
        }
    }
}

/// The token of `Bearer TOKEN`.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
