//! Tokens, and the digests that a server keeps of them.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// The prefix of each token, by which a leaked one is recognised.
const PREFIX: &str = "utterd_token_";
/// The length of the secret part of a token, in bytes.
const SECRET_BYTES: usize = 32;

/// The SHA-256 of a token.
///
/// A token holds 256 random bits, so nobody finds it by trying, however fast the hash is: it needs no salt and no slow
/// hash. Digests are compared in constant time; and even a leaked digest could not be turned into a token.
#[derive(Clone, Copy)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Returns the digest of `token`.
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Parses 64 hexadecimal digits.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).and_then(|digit| digit.try_into().ok())
}

impl PartialEq for TokenDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for TokenDigest {}

impl std::hash::Hash for TokenDigest {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest(…)")
    }
}

/// Makes a new token from the operating system's randomness; `None` if there is none.
pub fn new_token() -> Option<String> {
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut secret).ok()?;
    Some(format!("{PREFIX}{}", BASE64.encode(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = TokenDigest::of("abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(TokenDigest::read(text), Some(digest));
        assert_eq!(TokenDigest::read(&text.to_uppercase()), Some(digest));
        for wrong in ["", "00", &text[1..], &text.replace('b', "g"), &format!("{text}0"), &"é".repeat(32)] {
            assert_eq!(TokenDigest::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn digests_that_differ_anywhere_are_not_equal() {
        let digest = TokenDigest([7; 32]);
        for place in 0..32 {
            let mut other = digest;
            other.0[place] ^= 1;
            assert_ne!(digest, other);
        }
    }

    #[test]
    fn a_new_token_has_256_random_bits() {
        let tokens: std::collections::HashSet<_> = (0..100).filter_map(|_| new_token()).collect();
        assert_eq!(tokens.len(), 100);
        for token in tokens {
            let secret = BASE64.decode(token.strip_prefix(PREFIX).unwrap()).unwrap();
            assert_eq!(secret.len() * 8, 256);
        }
    }
}
