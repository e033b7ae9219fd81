//! Unreadable, missing and unowned records are reported.

use std::ops::Bound;

use super::{
    super::{MAX_PROBLEMS, verify},
    good::*,
};
use crate::{
    domain::{
        ConversationId, ConversationKey, LineageId, Namespace, Policy, Revision, Sequence,
        state::{StateContent, StateValue},
    },
    store::durable::{
        key_value::{Batch, Durability},
        records::{
            self, ConversationName, Descriptions, GivenIds, HeadRecord, Heads, Meta, Metas, Outcomes,
            Policies, Segments, StateName, StateValues, Utterances,
        },
    },
};

#[test]
fn a_good_store_is_counted() {
    let good = Good::new();
    let mut told = Vec::new();
    let report = verify(&good.directory, &mut |records| told.push(records)).unwrap();
    assert!(report.is_clean());
    assert_eq!((report.conversations, report.utterances, report.outcomes), (2, 20, 1));
    assert_eq!(report.segments, good.demo.summary.segments().len() as u64);
    let pairs = good.directory.pairs().range(Bound::Unbounded, Bound::Unbounded);
    assert_eq!(report.records, pairs.count() as u64);
    assert_eq!(told, [report.records]);
}

#[test]
fn no_more_problems_are_told_than_can_be_read() {
    let good = Good::new();
    let stray = |number: u32| {
        records::pair::<Policies>(
            &LineageId([number; 4].map(u32::to_be_bytes).concat().try_into().unwrap()),
            &Policy::ROLLING,
        )
    };
    let writes = (0..MAX_PROBLEMS as u32 + 7).map(stray).map(|(key, value)| (key, Some(value))).collect();
    good.directory.pairs().apply(Batch { writes }, Durability::Process).unwrap();
    let report = verify(&good.directory, &mut |_| {}).unwrap();
    assert_eq!((report.problems.len(), report.more_problems), (MAX_PROBLEMS, 7));
}

#[test]
fn an_unreadable_record_is_named_once() {
    let good = Good::new();
    let name = ConversationKey { namespace: Namespace::default(), id: ConversationId::new("demo").unwrap() };
    let outcome = outcome_name();
    for key in [
        records::key::<ConversationName>(&name),
        records::key::<Heads>(&DEMO),
        records::key::<Policies>(&DEMO),
        records::key::<Segments>(&(DEMO, segment(&good))),
        records::key::<Utterances>(&(DEMO, Sequence(1))),
        records::key::<Utterances>(&(DEMO, Sequence(2))),
        records::key::<Utterances>(&(DEMO, Sequence(4))),
        records::key::<Utterances>(&(DEMO, Sequence(18))),
        records::key::<Utterances>(&(DEMO, Sequence(19))),
        records::key::<GivenIds>(&(DEMO, "first".into())),
        records::key::<Outcomes>(&outcome),
    ] {
        let mut value = good.directory.pairs().get(&key).unwrap().unwrap();
        value[1] ^= 1;
        let problems = good.with(key, Some(value));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].ends_with("the checksum is wrong: the value is damaged, or belongs to another key")
        );
    }
}

#[test]
fn a_record_of_an_unknown_kind_is_named() {
    let good = Good::new();
    for (key, name) in [(vec![0, 7], "0x0007"), (vec![200], "0xc8")] {
        let kind = key[0];
        let expected =
            format!("record with the key {name}: a newer version of utterd wrote it: kind {kind} is unknown");
        assert_eq!(good.with(key, Some(vec![1])), [expected]);
    }
    let broken = [&records::all_of::<Heads>().start[..], b"short"].concat();
    let expected = "head with the key 0x0373686f7274: the key is cut short";
    assert_eq!(good.with(broken, Some(vec![1])), [expected]);
}

#[test]
fn heads_and_policies_that_are_missing_are_named() {
    let good = Good::new();
    expect([
        (good.without::<Heads>(DEMO), "it has no head"),
        (good.without::<Policies>(DEMO), "it has no policy"),
    ]);
    let name = ConversationKey { namespace: Namespace::default(), id: ConversationId::new("new").unwrap() };
    let mut identity = (*good.demo.head.identity).clone();
    identity.key = name.clone();
    assert_eq!(
        good.put::<ConversationName>(name.clone(), identity.clone()),
        ["conversation default/new: has the same lineage as conversation default/demo"]
    );
    identity.lineage = LineageId([3; 16]);
    assert_eq!(good.put::<ConversationName>(name, identity), ["conversation default/new: it has no head"]);
}

#[test]
fn what_is_of_no_conversation_is_named() {
    let good = Good::new();
    let stray = LineageId([3; 16]);
    let head = HeadRecord::of(&good.demo.head, &good.demo.summary);
    let first = good.demo.window.at(0).unwrap();
    let segment = &good.demo.summary.segments()[0];
    for (problems, kind) in [
        (good.put::<Heads>(stray, head), "head"),
        (good.put::<Policies>(stray, Policy::ROLLING), "policy"),
        (good.put::<Descriptions>(stray, Default::default()), "description"),
        (good.put::<Segments>((stray, 5), (**segment).clone()), "segment"),
        (good.put::<Utterances>((stray, Sequence(1)), (**first).clone()), "utterance"),
        (good.put::<GivenIds>((stray, "first".into()), Sequence(1)), "given id"),
    ] {
        assert_eq!(problems, [format!("lineage {stray}: without a conversation: 1 of the kind {kind:?}")]);
    }
    let other =
        ConversationKey { namespace: Namespace::default(), id: ConversationId::new("other").unwrap() };
    let problems = good.without::<ConversationName>(other);
    let kinds = ["head", "policy", "utterance"];
    let mut expected =
        kinds.map(|kind| format!("lineage {OTHER}: without a conversation: 1 of the kind {kind:?}")).to_vec();
    let other = "default/other at 1772366400000000 µs: nothing stored calls for it";
    let others = "default/other of friend of other at 1772366400000000 µs: nothing stored calls for it";
    expected.extend([
        format!("list entry {others}"),
        format!("entry of the namespace's list {other}"),
        format!("entry of the namespace's list by update {other}"),
        format!("entry of the recipient's list by update {others}"),
    ]);
    assert_eq!(problems, expected);
}

#[test]
fn what_is_unscrubbed_was_removed_in_a_group_that_there_is() {
    let good = Good::new();
    let group = good.directory.group();
    assert_eq!(
        good.put::<Metas>(Meta::Unscrubbed, group + 5),
        [format!("number of the last unscrubbed group: is {}, but the last group is {group}", group + 5)]
    );
}

#[test]
fn an_unfinished_copy_is_refused() {
    let good = Good::new();
    let (key, value) = records::pair::<Metas>(&Meta::Copying, &1);
    good.directory.pairs().apply(Batch { writes: vec![(key, Some(value))] }, Durability::Process).unwrap();
    let refused = verify(&good.directory, &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("is an unfinished copy; finish it: utterd copy"), "{refused}");
}

#[test]
fn state_values_are_those_that_are_told_of() {
    let good = Good::new();
    let lineage = good.demo.head.identity.lineage;
    let value =
        StateValue { name: "stray".into(), version: Revision(1), content: StateContent::Json("1".into()) };
    let problems = good.put::<StateValues>((lineage, StateName("stray".into())), value);
    assert_eq!(problems, ["conversation default/demo: its 1 state values are not the 0 in its description"]);
}
