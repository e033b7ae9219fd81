//! Intact records that make no sense are refused with a reason.

use std::sync::Arc;

use super::{kind::seal, *};
use utterd_domain::{Head, Ranges, Revision, Sequence};

/// Returns the fault of a payload under a key, or `nothing` if it is valid.
#[track_caller]
fn said_of<K: Kind>(key: &K::Key, payload: &[u8]) -> String {
    let key = super::key::<K>(key);
    let mut value = [&[K::VERSION], payload].concat();
    seal(&key, &mut value);
    match decode::<K>(&key, &value) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.fault.to_string(),
    }
}

/// Returns the fault of a head after a change.
fn said_of_head(change: impl FnOnce(&mut Head)) -> String {
    said_of_record(|record| change(&mut record.head))
}

fn said_of_record(change: impl FnOnce(&mut HeadRecord)) -> String {
    let mut record = stable::head();
    change(&mut record);
    let (key, value) = pair::<Heads>(&stable::LINEAGE, &record.into());
    decode::<Heads>(&key, &value).map_or_else(|error| error.fault.to_string(), |_| "nothing".to_owned())
}

#[test]
fn ids_in_keys_are_checked() {
    let said = |key: &[u8]| Record::read(key, &[]).unwrap_err().to_string();
    assert_eq!(
        said(&[2, 0, b'x']),
        "conversation with the key 0x020078: an id of the key is empty; accepted: 1 to 256 bytes of text"
    );
    assert_eq!(said(&[10, 9, b'x']), "active conversation with the key 0x0a0978: the key is cut short");
    assert!(said(&[2, 1, b'a', b'\n']).contains("holds a control character"));
    assert!(said(&[2, 1, 0xff, b'a']).contains("a text of the key is invalid"));
    assert!(said(&[&[11, 1, b'a', 0][..], b"r"].concat()).ends_with("the call's name is empty"));
    assert!(said(&[&[13][..], &[0; 8], &[2]].concat()).ends_with("what is due is 2; expected 1"));
    assert!(said(&[&[6][..], &[0; 20]].concat()).ends_with("the key's number is 0; numbers count from 1"));
    assert!(said(&[&[7][..], &[0; 24]].concat()).contains("the key's sequence is 0"));
    assert!(said(&[1, 4]).contains("the meaning of the number is 4; expected 1 to 3"));
}

#[test]
fn ids_in_values_are_checked() {
    let recipient = stable::recipient();
    assert_eq!(said_of::<Active>(&recipient, &[1, b'c']), "nothing");
    for wrong in [&[0][..], &[1, b'\n'], &[1, 0xff], &[2, b'c'], &[]] {
        assert!(
            said_of::<Active>(&recipient, wrong).starts_with("the payload is not readable: "),
            "{wrong:?}"
        );
    }
}

#[test]
fn what_a_value_says_is_what_its_key_says() {
    let said = |record: Record, key: Vec<u8>| {
        let (_, mut value) = record.written();
        value.truncate(value.len() - 4);
        seal(&key, &mut value);
        Record::read(&key, &value).unwrap_err().fault.to_string()
    };
    let (lineage, utterance) = stable::utterance();
    let other = key::<Utterances>(&(lineage, Sequence(18)));
    let utterance = Record::Utterances((lineage, utterance.sequence), utterance.into());
    assert_eq!(said(utterance, other), "the sequence is not the one in the key");
    let segment = Record::Segments((lineage, 3), stable::segment().into());
    assert_eq!(said(segment, key::<Segments>(&(lineage, 4))), "the number is not the one in the key");
}

#[test]
fn a_head_holds_together() {
    let set = |first, last| Arc::new(Ranges::of(Sequence(first), Sequence(last)));
    assert_eq!(said_of_head(|_| {}), "nothing");
    assert_eq!(
        said_of_head(|head| head.revision = Revision::NONE),
        "the revision is 0; a stored conversation has one"
    );
    assert_eq!(
        said_of_head(|head| head.erased_at = Revision(13)),
        "the revision that erased is above the revision"
    );
    assert_eq!(
        said_of_head(|head| head.silenced_at = Revision(13)),
        "the revision that forgot or restored is above the revision"
    );
    assert_eq!(
        said_of_head(|head| head.compacted_at = Sequence(22)),
        "the last compaction is beyond the next sequence"
    );
    assert_eq!(
        said_of_record(|record| record.next_segment = 0),
        "the number of the next segment is 0; segments count from 1"
    );
    assert_eq!(
        said_of_head(|head| head.left = set(1, 21)),
        "the ranges that left reach beyond the last sequence"
    );
    assert_eq!(
        said_of_head(|head| head.archived = set(3, 7)),
        "the archived ranges are not among those that left"
    );
    assert_eq!(
        said_of_head(|head| head.pinned_away = set(2, 3)),
        "the ranges pinned in the archive are not among the archived"
    );
    assert_eq!(said_of_head(|head| head.stored = 2), "the utterances stored are fewer than the archived");
    assert!(said_of_head(|head| head.next = Sequence(u64::MAX)).starts_with("the payload is not readable"));
}
