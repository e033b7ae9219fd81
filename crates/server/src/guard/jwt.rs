//! JWTs: tokens signed by an issuer, with claims about the caller.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use jsonwebtoken::{Header, dangerous::insecure_decode_claims, decode_header};
use quick_cache::sync::Cache;
use serde::Deserialize;

use super::{
    credential::Credential,
    fault::Fault,
    jwk::{self, Key},
    principal::{Principal, Role},
    refusal::Refused,
    signatures::is_signed,
    token::TokenDigest,
};
use utterd_domain::{
    Namespace, Timestamp,
    limits::{JWT_LEEWAY, MAX_ID_BYTES, MAX_VERIFIED_JWTS},
};

/// The issuer and the audience that a token must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The required issuer; empty accepts any token signed with one of the keys.
    pub issuer: String,
    /// The required audience.
    pub audience: String,
}

/// The keys of the issuer, and a cache of the tokens already verified with them.
pub struct Keys {
    keys: Vec<Key>,
    rules: Rules,
    verified: Cache<TokenDigest, Credential>,
}

/// The claims of a token.
#[derive(Deserialize)]
struct Claims {
    /// One name: an issuer is never a list (RFC 7519, 4.1.1).
    iss: Option<String>,
    aud: Option<Names>,
    namespace: String,
    role: Option<String>,
    sub: Option<String>,
    /// Seconds since 1970.
    exp: f64,
    nbf: Option<f64>,
}

/// One name or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl Keys {
    /// Reads the text of a file of keys.
    pub fn parse(text: &str, rules: &Rules) -> Result<Self, Fault> {
        let keys = jwk::keys(text)?;
        Ok(Self { keys, rules: rules.clone(), verified: Cache::new(MAX_VERIFIED_JWTS) })
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the credential of a token that one of the keys signed, with an algorithm of that key. The signature is
    /// checked last, and only once, so that unsigned tokens cost little. An expired token is read like any other,
    /// because only the holder of a signed one learns that it has expired.
    pub fn credential(&self, token: &str, now: Timestamp) -> Result<Credential, Refused> {
        let digest = TokenDigest::of(token);
        if let Some(credential) = self.verified.get(&digest) {
            return Ok(credential);
        }
        // critical header extensions are not supported (RFC 7515, 4.1.11)
        let header = decode_header(token).ok().filter(|header| header.crit.is_none());
        let header = header.ok_or(Refused::Invalid)?;
        let claims: Claims = insecure_decode_claims(token).map_err(|_| Refused::Invalid)?;
        let is_for_us = claims.are_of(&self.rules);
        let credential = claims.credential(now).filter(|_| is_for_us).ok_or(Refused::Invalid)?;
        let mut fitting = self.keys.iter().filter(|key| key.fits(&header));
        if !fitting.any(|key| is_signed(token, &key.key, header.alg)) {
            return Err(Refused::Invalid);
        }
        self.verified.insert(digest, credential.clone());
        Ok(credential)
    }
}

impl Key {
    /// Whether this key can have signed a token with this header. The header only chooses among the key's algorithms.
    fn fits(&self, header: &Header) -> bool {
        let is_named = match (&self.id, &header.kid) {
            (Some(id), Some(named)) => id == named,
            _ => true,
        };
        is_named && self.algorithms.contains(&header.alg)
    }
}

impl Names {
    fn contain(&self, name: &str) -> bool {
        match self {
            Self::One(one) => one == name,
            Self::Several(several) => several.iter().any(|one| one == name),
        }
    }
}

impl Claims {
    /// Whether they have the required issuer and audience.
    fn are_of(&self, rules: &Rules) -> bool {
        let is_for_us = self.aud.as_ref().is_some_and(|names| names.contain(&rules.audience));
        is_for_us && (rules.issuer.is_empty() || self.iss.as_ref() == Some(&rules.issuer))
    }

    fn expires(&self) -> Timestamp {
        time(self.exp).plus(JWT_LEEWAY)
    }

    /// Returns the credential; `None` if the namespace, role or subject is invalid, or the token is not valid yet.
    fn credential(self, now: Timestamp) -> Option<Credential> {
        let starts = self.nbf.map(|seconds| time(seconds).minus(JWT_LEEWAY));
        if starts.is_some_and(|starts| now < starts) {
            return None;
        }
        let role = self.role.as_deref().map_or(Some(Role::ReadOnly), Role::named)?;
        let expires = Some(self.expires());
        let subject = self.sub.unwrap_or_default();
        if subject.len() > MAX_ID_BYTES || subject.contains(char::is_control) {
            return None;
        }
        let namespace = Namespace::new(&self.namespace).ok()?;
        // the same subject in two namespaces is two callers
        let name = format!("jwt:{:?}/{subject}", namespace.as_str());
        let principal =
            Principal { name: name.into(), namespace, role, calls_per_second: None::<NonZeroU32> };
        Some(Credential { principal: Arc::new(principal), expires })
    }
}

/// Converts the seconds of a claim.
fn time(seconds: f64) -> Timestamp {
    // the conversion saturates
    Timestamp((seconds * Duration::from_secs(1).as_micros() as f64) as i64)
}
