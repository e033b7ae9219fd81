//! Intact records that make no sense are refused with a reason.

use std::sync::Arc;

use super::{kind::seal, *};
use utterd_domain::{
    Head, Marks, Policy, Ranges, Revision, Sequence, exchange::OpenExchange, segment::Segment,
};

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
    let (key, value) = pair::<Heads>(&stable::LINEAGE, &record);
    decode::<Heads>(&key, &value).map_or_else(|error| error.fault.to_string(), |_| "nothing".to_owned())
}

#[test]
fn an_utterance_needs_a_role() {
    let key = (stable::LINEAGE, Sequence(17));
    assert_eq!(said_of::<Utterances>(&key, &[]), "the role is 0; expected 1 to 4");
    assert_eq!(said_of::<Utterances>(&key, &[0x28, 5]), "the role is 5; expected 1 to 4");
    assert_eq!(said_of::<Utterances>(&key, &[0x28, 4]), "nothing");
}

#[test]
fn a_unit_starts_at_or_before_its_utterance() {
    let key = (stable::LINEAGE, Sequence(17));
    let unit = |back: &[u8]| said_of::<Utterances>(&key, &[&[0x28, 2, 0x08], back].concat());
    assert_eq!(unit(&[16]), "nothing");
    assert_eq!(unit(&[17]), "the unit is 0; expected 1 to 9223372036854775807");
    assert_eq!(
        unit(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        "the unit is 0; expected 1 to 9223372036854775807"
    );
}

#[test]
fn an_id_is_given_or_assigned_and_is_checked() {
    let key = (stable::LINEAGE, Sequence(17));
    let id = |fields: &[u8]| said_of::<Utterances>(&key, &[&[0x28, 2], fields].concat());
    assert_eq!(id(&[0x5a, 2, 1, 1]), "the lineage of the id has 2 bytes, not 16");
    let assigned = [&[0x5a, 16][..], &[7; 16]].concat();
    assert_eq!(id(&assigned), "nothing");
    assert_eq!(id(&[&[0x52, 1, b'a'], &assigned[..]].concat()), "the id was both given and assigned");
    let long = id(&[&[0x52, 0x81, 2][..], &[b'a'; 257]].concat());
    assert_eq!(long, "the id has 257 bytes; accepted: 1 to 256 bytes of text");
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
fn marks_hold_together() {
    let said = |marks: &[u8]| said_of::<Policies>(&stable::LINEAGE, &[&[0x30, 1], marks].concat());
    assert_eq!(said(&[0x0a, 4, 0x08, 5, 0x10, 5]), "nothing");
    assert_eq!(said(&[0x0a, 4, 0x08, 5, 0x10, 6]), "the marks of utterances keep 6 of 5");
    assert_eq!(said(&[0x12, 4, 0x08, 5, 0x10, 0]), "the marks of tokens keep 0 of 5");
    assert_eq!(said(&[0x1a, 0]), "the marks of turns have the maximum 0");
    assert_eq!(
        said(&[0x42, 6, 0x10, 0x80, 0x94, 0xeb, 0xdc, 0x03]),
        "the time to expiry has 1000000000 nanoseconds"
    );
    let oversize = said_of::<Policies>(&stable::LINEAGE, &[]);
    assert_eq!(oversize, "the oversize rule is 0; expected 1 to 2");
}

/// The domain never makes such marks, so it never wrote a policy with them.
#[test]
fn a_maximum_of_0_is_refused() {
    let policy = Policy { turns: Some(Marks::of(0)), ..Policy::ROLLING };
    let (key, value) = pair::<Policies>(&stable::LINEAGE, &policy);
    let fault = decode::<Policies>(&key, &value).unwrap_err().fault;
    assert_eq!(fault, Fault::wrong("the marks of turns", "have the maximum 0"));
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
    assert!(said_of_head(|head| head.next = Sequence(u64::MAX)).starts_with("the next sequence is "));
    assert!(said_of_head(|head| head.next = Sequence(0)).starts_with("the next sequence is 0"));
}

#[test]
fn a_trunk_is_a_lineage_and_goes_as_far_as_was_said() {
    let rest = [&[0x08, 1, 0x12, 16][..], &[7; 16], &[0x28, 3, 0x78, 1]].concat();
    let head = |fields: &[u8]| said_of::<Heads>(&stable::LINEAGE, &[&rest[..], fields].concat());
    let trunk = |through| head(&[&[0xc2, 1, 20, 0x0a, 16][..], &[7; 16], &[0x10, through]].concat());
    assert_eq!(trunk(2), "nothing");
    assert_eq!(trunk(3), "a trunk reaches beyond the last sequence");
    assert_eq!(trunk(0), "nothing", "it has copies of what was said there");
    assert_eq!(head(&[0xc2, 1, 2, 0x10, 1]), "the lineage of a trunk has 0 bytes, not 16");
    assert_eq!(head(&[0xca, 1, 2, 7, 7]), "the branch has 2 bytes, not 16");
    assert_eq!(head(&[0x12, 2, 7, 7]), "the change has 2 bytes, not 16");
}

#[test]
fn a_fork_has_a_parent_and_a_point() {
    let origin = |fields: &[u8]| {
        said_of::<Descriptions>(&stable::LINEAGE, &[&[0x22, fields.len() as u8], fields].concat())
    };
    assert_eq!(origin(&[0x0a, 1, b'c', 0x10, 9]), "nothing");
    assert!(origin(&[0x10, 9]).starts_with("the parent is empty"));
    assert_eq!(origin(&[0x0a, 1, b'c']), "nothing", "nothing was shared");
    let far = origin(&[&[0x0a, 1, b'c', 0x10][..], &[0xff; 9], &[1]].concat());
    assert!(far.starts_with("the sequence of the fork is 18446744073709551615"), "{far}");
}

#[test]
fn a_reader_is_a_conversation() {
    let key = (stable::LINEAGE, stable::LINEAGE);
    let reader = |fields: &[u8]| said_of::<Readers>(&key, fields);
    assert_eq!(reader(&[0x0a, 1, b'n', 0x12, 1, b'c', 0x18, 9]), "nothing");
    assert!(reader(&[0x12, 1, b'c', 0x18, 9]).starts_with("the conversation is empty"));
    assert!(reader(&[0x0a, 1, b'n', 0x18, 9]).starts_with("the conversation is empty"));
    assert_eq!(reader(&[0x0a, 1, b'n', 0x12, 1, b'c']), "nothing", "it has copies of what was said there");
}

#[test]
fn an_open_exchange_waits_and_has_begun() {
    let open = |unit, calls: &[&str]| {
        let calls = calls.iter().map(|call| Box::from(*call)).collect();
        said_of_head(|head| head.open = Some(Arc::new(OpenExchange { unit: Sequence(unit), calls })))
    };
    assert_eq!(open(20, &["a", "a"]), "nothing");
    assert_eq!(open(20, &[]), "the open exchange waits for no call");
    assert_eq!(open(21, &["a"]), "the open exchange starts 0 before 21");
    assert!(open(22, &["a"]).starts_with("the open exchange starts 18446744073709551615 before"));
    assert_eq!(open(0, &["a"]), "the open exchange starts 21 before 21");
}

#[test]
fn items_have_kinds_and_sequences() {
    let key = (stable::LINEAGE, 3);
    let mut segment = stable::segment();
    segment.items[0].sequence = u64::MAX;
    let (stored_key, value) = pair::<Segments>(&key, &segment);
    let fault = decode::<Segments>(&stored_key, &value).unwrap_err().fault.to_string();
    assert!(fault.starts_with("the sequence of an item is "), "{fault}");
    assert_eq!(said_of::<Segments>(&key, &[0x42, 2, 0x30, 2]), "the kind of an item is 0; expected 1 to 9");
}

#[test]
fn an_import_has_imported_items_only() {
    let key = (stable::LINEAGE, 3);
    let (said, quoted, import) = ([0x42, 2, 0x08, 3], [0x42, 2, 0x08, 1], [0x3a, 0]);
    let wrong = "an item is imported, unlike its segment, or is not, unlike its segment";
    assert_eq!(said_of::<Segments>(&key, &said), "nothing");
    assert_eq!(said_of::<Segments>(&key, &[&quoted[..], &import].concat()), "nothing");
    assert_eq!(said_of::<Segments>(&key, &quoted), wrong);
    assert_eq!(said_of::<Segments>(&key, &[&said[..], &import].concat()), wrong);
}

#[test]
fn tokens_can_be_added_up() {
    let mut segment = Segment { llm_text: None, ..stable::segment() };
    segment.own_lines[0].tokens = u32::MAX;
    segment.own_lines.push(segment.own_lines[0].clone());
    let (key, value) = pair::<Segments>(&(stable::LINEAGE, 3), &segment);
    let fault = decode::<Segments>(&key, &value).unwrap_err().fault;
    assert_eq!(fault, Fault::wrong("the tokens", "are too many to add up"));
}

#[test]
fn tokens_of_a_models_lines_can_be_added_up() {
    let key = (stable::LINEAGE, 3);
    let llm_text = |fields: &[u8]| said_of::<Segments>(&key, &[&[0x2a, fields.len() as u8], fields].concat());
    let most = [0x0a, 6, 0x10, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(llm_text(&most), "nothing");
    assert_eq!(llm_text(&[most, most].concat()), "the tokens are too many to add up");
}

#[test]
fn a_compaction_holds_together() {
    let key = (stable::LINEAGE, 2);
    let made = [0x08, 1, 0x18, 1];
    let said = |fields: &[u8]| said_of::<Compactions>(&key, &[&made, fields].concat());
    let folded = |segments: &[u8]| said(&[&[0x72, segments.len() as u8], segments].concat());
    assert_eq!(said(&[]), "nothing");
    assert_eq!(said_of::<Compactions>(&key, &[0x08, 1]), "the cause is 0; expected 1 to 3");
    assert_eq!(said_of::<Compactions>(&key, &[0x18, 1]), "the revision is 0; a compaction has one");
    assert_eq!(said(&[0x22, 2, 1, 0]), "the compacted ranges exceed their count");
    assert_eq!(said(&[0x22, 2, 1, 0, 0x28, 1]), "nothing");
    assert_eq!(said(&[0x68, 0]), "nothing", "it was undone");
    assert_eq!(said(&[0x68, 0, 0x72, 0]), "the folded segments are still stored after the undo");
    assert_eq!(folded(&[0x0a, 4, 0x08, 1, 0x12, 0]), "nothing");
    assert_eq!(folded(&[0x0a, 2, 0x12, 0]), "a folded segment has the number 0; segments count from 1");
    assert_eq!(folded(&[0x0a, 2, 0x08, 7]), "the rest of a folded segment is missing");
    let twice = [0x0a, 4, 0x08, 7, 0x12, 0].repeat(2);
    assert_eq!(folded(&twice), "a folded segment is not the only one numbered 7");
    let none = [&[18][..], &[0; 20]].concat();
    let error = Record::read(&none, &[]).unwrap_err().to_string();
    assert!(error.ends_with("the key's number is 0; numbers count from 1"), "{error}");
}

#[test]
fn what_is_no_message_is_refused() {
    let said = said_of::<Utterances>(&(stable::LINEAGE, Sequence(1)), &[0xff]);
    assert!(said.starts_with("the payload is not readable: "), "{said}");
    let said = |fields: &[u8]| {
        said_of::<Utterances>(&(stable::LINEAGE, Sequence(1)), &[&[0x28, 2], fields].concat())
    };
    assert!(said(&[0x62, 1, 0xff]).starts_with("the content is not text: "));
    assert_eq!(said(&[0x60, 1]), "the content is a number");
    assert_eq!(said(&[0x1a, 1, 1]), "the turn is not a number");
    assert_eq!(
        said(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x1f]),
        "the turn is 8589934591; expected at most 4294967295"
    );
}

#[test]
fn an_outcome_needs_a_capacity() {
    let body = [&[0x0a, 16][..], &[7; 16]].concat();
    let said = |fields: &[u8]| said_of::<Outcomes>(&stable::name(), &[&body[..], fields].concat());
    assert_eq!(said(&[0x1a, 1, b'c']), "the capacity is missing");
    assert_eq!(said(&[0x1a, 1, b'c', 0x62, 0]), "nothing");
    let cause = said(&[0x1a, 1, b'c', 0x62, 3, 0x42, 1, 7]);
    assert_eq!(cause, "a cause of being over the limit is 7; expected 1 to 4");
    assert!(said(&[0x62, 0]).starts_with("the conversation is empty"));
    assert_eq!(said(&[0x0a, 1, 7]), "the hash of the body has 1 bytes, not 16");
}

#[test]
fn a_share_has_an_id_and_a_digest() {
    let share = |id: &str, digest: usize| {
        let share =
            [&[0x0a, id.len() as u8], id.as_bytes(), &[0x12, digest as u8], &vec![7; digest]].concat();
        said_of::<Descriptions>(&stable::LINEAGE, &[&[0x1a, share.len() as u8], &share[..]].concat())
    };
    assert_eq!(share("x", 32), "nothing");
    assert!(share("", 32).starts_with("a share's id is empty"));
    assert_eq!(share("x", 31), "a share's digest has 31 bytes, not 32");
}
