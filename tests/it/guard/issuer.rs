//! A JWT issuer: its keys, and the tokens that it signs.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ring::{
    hmac,
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
        RsaKeyPair,
    },
};
use serde_json::{Value, json};

const RSA_PRIVATE: &[u8] = include_bytes!("../../fixtures/guard/rsa.der");
/// Its public key, as PEM.
pub const RSA_PEM: &str = include_str!("../../fixtures/guard/rsa.pub.pem");
/// The secret of its HMAC key.
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
/// Noon of 1 March 2026, UTC: the initial time of a test server's clock.
pub const NOON: i64 = 1_772_366_400;

/// An issuer with a key of each kind.
pub struct Issuer {
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

impl Issuer {
    pub fn new() -> Self {
        let random = SystemRandom::new();
        let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(kind, &random).expect("a key");
        let ed = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
        Self {
            rsa: RsaKeyPair::from_pkcs8(RSA_PRIVATE).expect("a key"),
            ec: EcdsaKeyPair::from_pkcs8(kind, ec.as_ref(), &random).expect("a key"),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("a key"),
        }
    }

    /// Its keys, as a JWK set.
    pub fn keys(&self) -> String {
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let point = self.ec.public_key().as_ref();
        let (x, y) = (BASE64.encode(&point[1..33]), BASE64.encode(&point[33..]));
        let keys = [
            json!({"kty": "RSA", "kid": "rsa", "n": BASE64.encode(&rsa.n), "e": BASE64.encode(&rsa.e)}),
            json!({"kty": "EC", "kid": "ec", "alg": "ES256", "use": "sig", "crv": "P-256", "x": x, "y": y}),
            json!({"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": BASE64.encode(self.ed.public_key())}),
            json!({"kty": "oct", "kid": "oct", "k": BASE64.encode(SECRET)}),
            json!({"kty": "RSA", "kid": "other", "use": "enc", "n": BASE64.encode(&rsa.n), "e": "AQAB"}),
        ];
        json!({"keys": keys}).to_string()
    }

    /// A token with these claims, signed with the key for the algorithm in `header`.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        self.signed(header, claims, |message| match header["alg"].as_str() {
            Some("RS256") => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa
                    .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)
                    .expect("signed");
                signature
            }
            Some("ES256") => self.ec.sign(&SystemRandom::new(), message).expect("signed").as_ref().to_vec(),
            Some("EdDSA") => self.ed.sign(message).as_ref().to_vec(),
            Some("HS256") => hmac_of(SECRET, message),
            _ => Vec::new(),
        })
    }

    /// A token with the given signature.
    pub fn signed(&self, header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
        let part = |value: &Value| BASE64.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        let signature = BASE64.encode(sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

/// The HMAC of a message by a secret.
pub fn hmac_of(secret: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

/// Valid claims.
pub fn claims() -> Value {
    json!({
        "iss": "https://issuer.test", "aud": "utterd", "sub": "agent", "exp": NOON + 3_600,
        "namespace": "shop-1", "role": "read-write",
    })
}

/// Claims with one changed; null removes it.
pub fn claims_with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    match value {
        Value::Null => claims.as_object_mut().expect("an object").remove(name),
        value => claims.as_object_mut().expect("an object").insert(name.into(), value),
    };
    claims
}
