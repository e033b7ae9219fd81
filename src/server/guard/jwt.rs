//! JWTs: tokens that an issuer signed, with claims of who calls.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use jsonwebtoken::{Header, Validation, decode, decode_header};
use quick_cache::sync::Cache;
use serde::Deserialize;

use super::{
    credential::Credential,
    fault::Fault,
    jwk::{self, Key},
    principal::{Principal, Role},
    refusal::Refused,
    signatures,
    token::TokenDigest,
};
use crate::domain::{
    Namespace, Timestamp,
    limits::{JWT_LEEWAY, MAX_ID_BYTES, MAX_VERIFIED_JWTS},
};

/// What a token must say of where it comes from and whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Who made it; empty is whoever has one of the keys.
    pub issuer: String,
    /// Whom it is for.
    pub audience: String,
}

/// The keys of the issuer, and the tokens that they were found to have signed.
pub struct Keys {
    keys: Vec<Key>,
    rules: Rules,
    verified: Cache<TokenDigest, Credential>,
}

/// What a token says.
#[derive(Deserialize)]
struct Claims {
    namespace: String,
    role: Option<String>,
    sub: Option<String>,
    /// Seconds since 1970.
    exp: f64,
    nbf: Option<f64>,
}

impl Keys {
    /// Reads the text of a file of keys.
    pub fn parse(text: &str, rules: &Rules) -> Result<Self, Fault> {
        signatures::install();
        let keys = jwk::keys(text)?;
        Ok(Self { keys, rules: rules.clone(), verified: Cache::new(MAX_VERIFIED_JWTS) })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// What a token lets its holder do, if it is good at `now`.
    pub fn credential(&self, token: &str, now: Timestamp) -> Result<Credential, Refused> {
        let digest = TokenDigest::of(token);
        if let Some(credential) = self.verified.get(&digest) {
            return Ok(credential);
        }
        let claims = self.claims(token).ok_or(Refused::Invalid)?;
        let credential = claims.credential(now).ok_or(Refused::Invalid)?;
        if !credential.is_expired(now) {
            self.verified.insert(digest, credential.clone());
        }
        Ok(credential)
    }

    /// What a token says, when one of the keys signed it with an algorithm that is the key's.
    fn claims(&self, token: &str) -> Option<Claims> {
        // what a header says must be understood is not (RFC 7515, 4.1.11)
        let header = decode_header(token).ok().filter(|header| header.crit.is_none())?;
        let fitting = self.keys.iter().filter(|key| key.fits(&header));
        fitting
            .filter_map(|key| decode(token, &key.key, &self.validation(&header)).ok())
            .next()
            .map(|it| it.claims)
    }

    fn validation(&self, header: &Header) -> Validation {
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[&self.rules.audience]);
        let mut required = vec!["aud"];
        if !self.rules.issuer.is_empty() {
            validation.set_issuer(&[&self.rules.issuer]);
            required.push("iss");
        }
        validation.set_required_spec_claims(&required);
        // times are told by the server's own clock, below
        validation.validate_exp = false;
        validation
    }
}

impl Key {
    /// Whether a token with this header may be signed by it. The header chooses among what the key allows, and no more.
    fn fits(&self, header: &Header) -> bool {
        let is_named = match (&self.id, &header.kid) {
            (Some(id), Some(named)) => id == named,
            _ => true,
        };
        is_named && self.algorithms.contains(&header.alg)
    }
}

impl Claims {
    /// `None` when they name no namespace, or a role that there is not, or hold only later.
    fn credential(self, now: Timestamp) -> Option<Credential> {
        let starts = self.nbf.map(|seconds| time(seconds).minus(JWT_LEEWAY));
        if starts.is_some_and(|starts| now < starts) {
            return None;
        }
        let role = self.role.as_deref().map_or(Some(Role::ReadOnly), Role::named)?;
        let subject = self.sub.unwrap_or_default();
        if subject.len() > MAX_ID_BYTES || subject.contains(char::is_control) {
            return None;
        }
        let principal = Principal {
            name: format!("jwt:{subject}").into(),
            namespace: Namespace::new(&self.namespace).ok()?,
            role,
            calls_per_second: None::<NonZeroU32>,
        };
        let expires = Some(time(self.exp).plus(JWT_LEEWAY));
        Some(Credential { principal: Arc::new(principal), expires })
    }
}

/// The moment that a claim tells.
fn time(seconds: f64) -> Timestamp {
    // a number beyond what fits stays at the end of time
    Timestamp((seconds * Duration::from_secs(1).as_micros() as f64) as i64)
}
