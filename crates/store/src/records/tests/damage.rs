//! Damaged, misplaced and newer records are noticed; nothing panics.

use proptest::{collection::vec, prelude::*};
use xxhash_rust::xxh3::xxh3_64;

use super::{kind::seal, *};
use utterd_domain::{Sequence, Utterance};

#[test]
fn the_checksum_is_of_key_version_and_payload() {
    for record in stable::examples() {
        let (key, value) = record.written();
        let (sealed, checksum) = value.split_last_chunk::<4>().unwrap();
        let all = [key.as_slice(), sealed].concat();
        assert_eq!(u32::from_le_bytes(*checksum), xxh3_64(&all) as u32);
    }
}

#[test]
fn a_flipped_bit_is_noticed() {
    for record in stable::examples() {
        let (key, value) = record.written();
        for bit in 0..8 * value.len() {
            let mut damaged = value.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let fault = Record::read(&key, &damaged).unwrap_err().fault;
            assert_eq!(fault, Fault::Checksum, "{record:?}, bit {bit}");
        }
        for bit in 0..8 * key.len() {
            let mut damaged = key.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::read(&damaged, &value).is_err(), "{record:?}, bit {bit} of the key");
        }
    }
}

#[test]
fn a_record_cut_short_or_too_long_is_noticed() {
    for record in stable::examples() {
        let (key, value) = record.written();
        for length in 0..value.len() {
            assert!(Record::read(&key, &value[..length]).is_err(), "{record:?}, {length} bytes");
        }
        for length in 0..key.len() {
            assert!(Record::read(&key[..length], &value).is_err(), "{record:?}, {length} bytes of the key");
        }
        assert!(Record::read(&key, &[&value, &[0][..]].concat()).is_err());
        assert!(Record::read(&[&key, &[0][..]].concat(), &value).is_err());
    }
}

#[test]
fn a_value_under_anothers_key_is_noticed() {
    let (lineage, utterance) = stable::utterance();
    let (_, value) = pair::<Utterances>(&(lineage, utterance.sequence), &utterance.into());
    let error = decode::<Utterances>(&key::<Utterances>(&(lineage, Sequence(18))), &value).unwrap_err();
    assert_eq!(
        error.to_string(),
        "utterance 01081G81860W40J2GB1G6GW3RG-18: the checksum is wrong: the value is damaged, or belongs to another key"
    );
}

#[test]
fn what_a_newer_version_wrote_is_refused() {
    for record in stable::examples() {
        let (key, mut value) = record.written();
        for (version, fault) in [
            (2, Fault::NewerVersion { found: 2, known: 1 }),
            (0, Fault::wrong("the record's version", "is 0; expected 1")),
        ] {
            value.truncate(value.len() - 4);
            value[0] = version;
            seal(&key, &mut value);
            assert_eq!(Record::read(&key, &value).unwrap_err().fault, fault);
        }
    }
    let error = Record::read(&[200, 0xab], &[1, 2, 3, 4, 5]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "record with the key 0xc8ab: a newer version of utterd wrote it: kind 200 is unknown"
    );
}

#[test]
fn what_a_later_version_adds_is_skipped() {
    for record in stable::examples() {
        let (key, mut value) = record.written();
        value.truncate(value.len() - 4);
        value.extend([7; 100]);
        seal(&key, &mut value);
        assert_eq!(Record::read(&key, &value), Ok(record));
    }
}

#[test]
fn what_an_earlier_version_did_not_write_is_zero() {
    let (lineage, utterance) = stable::utterance();
    let utterance = Utterance { more: None, ..utterance };
    let (key, mut value) = pair::<Utterances>(&(lineage, utterance.sequence), &utterance.clone().into());
    value.truncate(value.len() - 4 - 1);
    seal(&key, &mut value);
    assert_eq!(decode::<Utterances>(&key, &value).unwrap().1, utterance.into());
}

proptest! {
    #[test]
    fn no_bytes_panic(key in vec(any::<u8>(), 0..40), value in vec(any::<u8>(), 0..60)) {
        let _ = Record::read(&key, &value);
    }

    /// No payload panics, even with a correct checksum.
    #[test]
    fn no_payload_panics(which: prop::sample::Index, payload in vec(any::<u8>(), 0..60)) {
        let (key, value) = which.get(&stable::examples()).written();
        let mut stored = [&value[..1], &payload[..]].concat();
        seal(&key, &mut stored);
        let _ = Record::read(&key, &stored);
    }

    /// A nearly correct record is read as one that can be written again, or not at all.
    #[test]
    fn no_change_of_a_payload_panics(which: prop::sample::Index, changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let (key, mut value) = which.get(&stable::examples()).written();
        value.truncate(value.len() - 4);
        for (at, byte) in changes {
            let payload = &mut value[1..];
            if !payload.is_empty() {
                payload[at.index(payload.len())] = byte;
            }
        }
        seal(&key, &mut value);
        if let Ok(record) = Record::read(&key, &value) {
            let (key, value) = record.written();
            prop_assert_eq!(Record::read(&key, &value), Ok(record));
        }
    }
}
