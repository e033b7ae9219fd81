//! Signatures of JWTs, checked by ring.

use std::sync::Once;

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result},
    signature::{Error, Verifier},
};
use ring::{hmac, rsa::PublicKeyComponents, signature};

/// Checks signatures for `jsonwebtoken`; nothing is signed here.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes ring check the signatures of JWTs in this process, unless it already has another provider.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

/// Uses a key only with algorithms of its own family, so that a public key is never taken for an HMAC secret.
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    match key.family() == algorithm.family() {
        true => Ok(Box::new(Check { algorithm: *algorithm, key: key.clone() })),
        false => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Check {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let is_good = match self.algorithm.family() {
            AlgorithmFamily::Hmac => self.is_hmac(message, signature),
            AlgorithmFamily::Rsa => self.is_rsa(message, signature),
            AlgorithmFamily::Ec | AlgorithmFamily::Ed => self.is_of_a_curve(message, signature),
        };
        is_good.ok_or_else(Error::new)
    }
}

impl Check {
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
