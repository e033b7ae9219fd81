//! The keys that JWTs are signed with: a JWK set, or public keys in PEM.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse},
};
use rustls::pki_types::{SubjectPublicKeyInfoDer, pem::PemObject};
use x509_parser::{
    oid_registry::{OID_KEY_TYPE_EC_PUBLIC_KEY, OID_PKCS1_RSAENCRYPTION, OID_SIG_ED25519},
    prelude::FromDer,
    public_key::PublicKey,
    x509::SubjectPublicKeyInfo,
};

use super::fault::Fault;
use utterd_domain::limits::{MAX_RSA_KEY_BITS, MIN_HMAC_KEY_BYTES, MIN_RSA_KEY_BITS};

/// A key, and what it can be used for.
#[derive(Debug)]
pub struct Key {
    /// Its id in a JWK set; a token that names a key is checked with that one and with those without an id.
    pub id: Option<String>,
    /// The algorithms that its kind and its `alg` allow; not empty.
    pub algorithms: Vec<Algorithm>,
    /// The key itself.
    pub key: DecodingKey,
}

/// Parses the keys in the text of a file.
pub fn keys(text: &str) -> Result<Vec<Key>, Fault> {
    let keys = match text.trim_start().starts_with("-----BEGIN") {
        true => of_pem(text)?,
        false => of_set(text)?,
    };
    match keys.is_empty() {
        true => Err(Fault::in_line(1, "holds no key; accepted: RSA, EC (P-256, P-384), Ed25519 and oct")),
        false => Ok(keys),
    }
}

fn of_set(text: &str) -> Result<Vec<Key>, Fault> {
    // only the line: serde_json's message could repeat a secret
    let set: JwkSet = serde_json::from_str(text).map_err(|error| {
        Fault::in_line(error.line().max(1), "is neither a JWK set nor a public key in PEM")
    })?;
    let mut keys = Vec::new();
    for (at, jwk) in set.keys.iter().enumerate() {
        let algorithms = algorithms(jwk);
        if algorithms.is_empty() {
            continue;
        }
        let broken = || Fault::in_line(1, format!("keys[{at}]: is broken"));
        let key = DecodingKey::from_jwk(jwk).map_err(|_| broken())?;
        check_length(&key).map_err(|fault| Fault::in_line(1, format!("keys[{at}]: {fault}")))?;
        keys.push(Key { id: jwk.common.key_id.clone(), algorithms, key });
    }
    Ok(keys)
}

/// Refuses a key of a length with which signatures could be forged, or could not be checked.
fn check_length(key: &DecodingKey) -> Result<(), String> {
    match (key.family(), key.kind()) {
        (AlgorithmFamily::Hmac, DecodingKeyKind::SecretOrDer(secret)) => match secret.len() {
            MIN_HMAC_KEY_BYTES.. => Ok(()),
            length => Err(format!("has {length} bytes; accepted: {MIN_HMAC_KEY_BYTES} or more")),
        },
        (_, DecodingKeyKind::RsaModulusExponent { n, .. }) => check_modulus(n),
        _ => Ok(()),
    }
}

/// Refuses an RSA key whose modulus is too short or too long.
fn check_modulus(modulus: &[u8]) -> Result<(), String> {
    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
    let unused = modulus.get(zeros).map_or(0, |byte| byte.leading_zeros() as usize);
    match 8 * (modulus.len() - zeros) - unused {
        MIN_RSA_KEY_BITS..=MAX_RSA_KEY_BITS => Ok(()),
        bits => Err(format!("has {bits} bits; accepted for RSA: {MIN_RSA_KEY_BITS} to {MAX_RSA_KEY_BITS}")),
    }
}

/// Returns the algorithms that a key can be used with: those of its kind, or only the one that it names.
fn algorithms(jwk: &Jwk) -> Vec<Algorithm> {
    let of_kind = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => AlgorithmFamily::Rsa.algorithms(),
        AlgorithmParameters::EllipticCurve(key) => of_curve(&key.curve),
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
        AlgorithmParameters::OctetKey(_) => AlgorithmFamily::Hmac.algorithms(),
        _ => &[],
    };
    let named = jwk.common.key_algorithm.map(|algorithm| algorithm.to_string());
    let is_for_others = jwk.common.public_key_use == Some(PublicKeyUse::Encryption);
    let usable = |algorithm: &&Algorithm| {
        !is_for_others && named.as_ref().is_none_or(|named| *named == format!("{algorithm:?}"))
    };
    of_kind.iter().filter(usable).copied().collect()
}

fn of_curve(curve: &EllipticCurve) -> &'static [Algorithm] {
    match curve {
        EllipticCurve::P256 => &[Algorithm::ES256],
        EllipticCurve::P384 => &[Algorithm::ES384],
        _ => &[],
    }
}

fn of_pem(text: &str) -> Result<Vec<Key>, Fault> {
    let broken =
        || Fault::in_line(1, "is not a public key in PEM; accepted: RSA, EC (P-256, P-384) and Ed25519");
    let read = |(at, der): (usize, Result<SubjectPublicKeyInfoDer<'static>, _>)| {
        let der = der.map_err(|_| broken())?;
        let (_, info) = SubjectPublicKeyInfo::from_der(&der).map_err(|_| broken())?;
        if let Ok(PublicKey::RSA(key)) = info.parsed() {
            check_modulus(key.modulus)
                .map_err(|fault| Fault::in_line(1, format!("key {}: {fault}", at + 1)))?;
        }
        of_info(&info).ok_or_else(broken)
    };
    SubjectPublicKeyInfoDer::pem_slice_iter(text.as_bytes()).enumerate().map(read).collect()
}

fn of_info(info: &SubjectPublicKeyInfo<'_>) -> Option<Key> {
    let (kind, key) = (&info.algorithm.algorithm, &*info.subject_public_key.data);
    let (algorithms, key) = if *kind == OID_PKCS1_RSAENCRYPTION {
        (AlgorithmFamily::Rsa.algorithms(), DecodingKey::from_rsa_der(key))
    } else if *kind == OID_KEY_TYPE_EC_PUBLIC_KEY {
        // an uncompressed point of a curve: a marker byte and both coordinates
        let curve = match key.len() {
            65 => EllipticCurve::P256,
            97 => EllipticCurve::P384,
            _ => return None,
        };
        (of_curve(&curve), DecodingKey::from_ec_der(key))
    } else if *kind == OID_SIG_ED25519 {
        (&[Algorithm::EdDSA][..], DecodingKey::from_ed_der(key))
    } else {
        return None;
    };
    Some(Key { id: None, algorithms: algorithms.to_vec(), key })
}
