//! Signatures of JWTs, checked by ring.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind};
use ring::{hmac, rsa::PublicKeyComponents, signature};

/// Whether `token` was signed with `key` and `algorithm`. A key is used only with algorithms of its own family, so that a
/// public key is never taken for an HMAC secret.
pub fn is_signed(token: &str, key: &DecodingKey, algorithm: Algorithm) -> bool {
    let Some((message, signature)) = token.rsplit_once('.') else { return false };
    let Ok(signature) = BASE64.decode(signature) else { return false };
    let (check, message) = (Check { algorithm, key }, message.as_bytes());
    let is_good = match algorithm.family() {
        family if family != key.family() => None,
        AlgorithmFamily::Hmac => check.is_hmac(message, &signature),
        AlgorithmFamily::Rsa => check.is_rsa(message, &signature),
        AlgorithmFamily::Ec | AlgorithmFamily::Ed => check.is_of_a_curve(message, &signature),
    };
    is_good.is_some()
}

struct Check<'a> {
    algorithm: Algorithm,
    key: &'a DecodingKey,
}

impl Check<'_> {
    fn is_hmac(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let algorithm = match self.algorithm {
            Algorithm::HS256 => hmac::HMAC_SHA256,
            Algorithm::HS384 => hmac::HMAC_SHA384,
            Algorithm::HS512 => hmac::HMAC_SHA512,
            _ => return None,
        };
        let key = hmac::Key::new(algorithm, self.key.try_get_as_bytes().ok()?);
        hmac::verify(&key, message, signature).ok()
    }

    fn is_rsa(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let parameters = match self.algorithm {
            Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Algorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
            Algorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
            Algorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
            _ => return None,
        };
        match self.key.kind() {
            DecodingKeyKind::SecretOrDer(der) => {
                signature::UnparsedPublicKey::new(parameters, der).verify(message, signature).ok()
            }
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let components = PublicKeyComponents { n: significant(n), e: significant(e) };
                components.verify(parameters, message, signature).ok()
            }
        }
    }

    fn is_of_a_curve(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let algorithm: &dyn signature::VerificationAlgorithm = match self.algorithm {
            Algorithm::ES256 => &signature::ECDSA_P256_SHA256_FIXED,
            Algorithm::ES384 => &signature::ECDSA_P384_SHA384_FIXED,
            Algorithm::EdDSA => &signature::ED25519,
            _ => return None,
        };
        let key = signature::UnparsedPublicKey::new(algorithm, self.key.try_get_as_bytes().ok()?);
        key.verify(message, signature).ok()
    }
}

/// Strips the leading zeros of a number, which some issuers write and ring refuses.
fn significant(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}
