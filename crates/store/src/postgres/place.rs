//! Places in the trace, as callers see them.
//!
//! A place contains the number of a transaction, which reveals how much all namespaces write. So a place is
//! encrypted: callers cannot tell it from random bytes. Equal places have equal bytes on all servers that share
//! the schema, because the schema stores the key.

use sha2::{Digest as _, Sha256};

use crate::TracePlace;
use utterd_domain::Namespace;

/// A place in the trace of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The number of the transaction.
    pub(super) commit: u64,
    /// How many events of the transaction come before this place.
    pub(super) events: u32,
}

/// The key with which a schema encrypts places.
#[derive(Clone, Copy)]
pub(super) struct PlaceKey(pub(super) [u8; 16]);

/// The rounds of a Feistel network. Four rounds of a pseudorandom function make it a pseudorandom permutation,
/// in both directions (Luby and Rackoff, 1988).
const ROUNDS: [u8; 4] = [0, 1, 2, 3];

impl PlaceKey {
    /// Encrypts a place for callers.
    pub(super) fn seal(&self, namespace: &Namespace, place: Place) -> TracePlace {
        let mix = |(left, right), round| (right, left ^ self.round(namespace, round, right));
        // the lowest 32 bits are zero, which `open` checks
        let (left, right) = ROUNDS.into_iter().fold((place.commit, u64::from(place.events) << 32), mix);
        TracePlace((u128::from(left) << 64 | u128::from(right)).to_be_bytes())
    }

    /// Decrypts a place. `None` if [`Self::seal`] did not encrypt it for this namespace.
    pub(super) fn open(&self, namespace: &Namespace, sealed: TracePlace) -> Option<Place> {
        let sealed = u128::from_be_bytes(sealed.0);
        let unmix = |(left, right), round| (right ^ self.round(namespace, round, left), left);
        let halves = ((sealed >> 64) as u64, sealed as u64);
        let (commit, rest) = ROUNDS.into_iter().rev().fold(halves, unmix);
        (rest as u32 == 0).then_some(Place { commit, events: (rest >> 32) as u32 })
    }

    fn round(&self, namespace: &Namespace, round: u8, half: u64) -> u64 {
        let hash = Sha256::new().chain_update(self.0).chain_update([round]).chain_update(half.to_be_bytes());
        let hash = hash.chain_update(namespace.as_str()).finalize();
        hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: PlaceKey = PlaceKey([7; 16]);

    fn namespace(name: &str) -> Namespace {
        Namespace::new(name).unwrap()
    }

    #[test]
    fn a_place_is_opened_only_where_it_was_sealed() {
        for commit in [0, 1, 741, u64::MAX] {
            for events in [0, 1, u32::MAX] {
                let place = Place { commit, events };
                let sealed = KEY.seal(&namespace("a"), place);
                assert_eq!(KEY.open(&namespace("a"), sealed), Some(place));
                assert_eq!(KEY.open(&namespace("b"), sealed), None);
                assert_eq!(PlaceKey([8; 16]).open(&namespace("a"), sealed), None);
            }
        }
        assert_eq!(KEY.open(&namespace("a"), TracePlace::default()), None);
    }

    /// Callers can infer neither the number of transactions between two places nor their order.
    #[test]
    fn places_that_follow_each_other_are_unlike() {
        let sealed = |commit| KEY.seal(&namespace("a"), Place { commit, events: 0 });
        let number = |commit| u128::from_be_bytes(sealed(commit).0);
        let differing: Vec<_> =
            (0..1_000).map(|commit| (number(commit) ^ number(commit + 1)).count_ones()).collect();
        assert!(differing.iter().all(|bits| (32..96).contains(bits)), "{differing:?}");
        let ascending = (0..1_000).filter(|commit| number(*commit) < number(commit + 1)).count();
        assert!((400..600).contains(&ascending), "{ascending} of 1,000");
    }
}
