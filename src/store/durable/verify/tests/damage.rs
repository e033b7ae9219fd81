//! One write that should not be is one problem, and is named.

use std::{ops::Bound, sync::Arc, time::Duration};

use tempfile::TempDir;

use super::super::{MAX_PROBLEMS, verify};
use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, Head, LineageId, Marks, Namespace, Policy, Ranges,
        RecipientId, Role, Sequence, Timestamp, Utterance, UtteranceId, exchange::OpenExchange,
        extractive::Sentence, limits::MAX_SEGMENTS, segment::Segment,
    },
    store::{
        Due, RecipientKey,
        durable::{
            Directory, EngineKind,
            key_value::{Batch, Durability, Key, Value},
            records::{
                self, Active, ConversationName, Descriptions, Dues, GivenIds, HeadRecord, Heads, Kind,
                ListPlace, Listed, Meta, Metas, OutcomeAges, OutcomeName, Outcomes, Policies, Segments,
                Utterances,
            },
            test_conversation::{TestConversation, TestStore, calls, named, result, said, user},
        },
    },
};

/// A store with two conversations in which nothing is wrong:
///
/// | sequence | `demo` |
/// |---|---|
/// | 1 | an instruction, in the window |
/// | 2 | archived, with the id `first` |
/// | 3 to 5 | two calls and their results, archived |
/// | 6 | forgotten, archived |
/// | 7 to 12 | archived, 8 with the id `second` |
/// | 13 | pinned, in the window |
/// | 14 to 17 | in the window |
/// | 18 | two calls, in the window |
/// | 19 | the result of one of them |
pub(super) struct Good {
    directory: Directory,
    pub(super) demo: Arc<Conversation>,
    files: TempDir,
}

pub(super) const DEMO: LineageId = LineageId([1; 16]);
const OTHER: LineageId = LineageId([2; 16]);

impl Good {
    pub(super) fn new() -> Self {
        Self::made(demo)
    }

    /// A store with the conversation `demo` that is made so, and another.
    pub(super) fn made(demo: impl FnOnce(&TestStore) -> Arc<Conversation>) -> Self {
        let files = tempfile::tempdir().unwrap();
        let test_store = TestStore::open(EngineKind::Fjall, files.path());
        let demo = demo(&test_store);
        let mut other = TestConversation::new(&test_store, "other", 2, Policy::ROLLING);
        other.say(vec![user("The port of the other is 80.")]);
        drop(test_store);
        let directory = Directory::open(EngineKind::Fjall, files.path(), 1 << 20).unwrap();
        let good = Self { directory, demo, files };
        assert_eq!(good.problems(), [""; 0]);
        good
    }

    /// The files, at rest.
    pub(super) fn close(self) -> TempDir {
        self.files
    }

    fn problems(&self) -> Vec<String> {
        let report = verify(&self.directory, &mut |_| {}).unwrap();
        report.problems.iter().map(ToString::to_string).collect()
    }

    /// What is wrong once the pair is written, which is undone afterwards.
    fn with(&self, key: Key, value: Option<Value>) -> Vec<String> {
        let pairs = self.directory.pairs();
        let before = pairs.get(&key).unwrap();
        assert_ne!(before, value, "it is a damage");
        let write = |value| pairs.apply(Batch { writes: vec![(key.clone(), value)] }, Durability::Process);
        write(value).unwrap();
        let problems = self.problems();
        write(before).unwrap();
        problems
    }

    pub(super) fn put<K: Kind>(&self, key: K::Key, value: K::Value) -> Vec<String> {
        let (key, value) = records::pair::<K>(&key, &value);
        self.with(key, Some(value))
    }

    pub(super) fn edit<K: Kind>(&self, key: K::Key, edit: impl FnOnce(&mut K::Value)) -> Vec<String> {
        let stored = records::key::<K>(&key);
        let value = self.directory.pairs().get(&stored).unwrap().expect("the record is there");
        let (_, mut value) = records::decode::<K>(&stored, &value).unwrap();
        edit(&mut value);
        self.put::<K>(key, value)
    }

    pub(super) fn without<K: Kind>(&self, key: K::Key) -> Vec<String> {
        self.with(records::key::<K>(&key), None)
    }

    pub(super) fn head(&self, edit: impl FnOnce(&mut Head)) -> Vec<String> {
        self.edit::<Heads>(DEMO, |record| edit(&mut record.head))
    }

    pub(super) fn utterance(&self, sequence: u64, edit: impl FnOnce(&mut Utterance)) -> Vec<String> {
        self.edit::<Utterances>((DEMO, Sequence(sequence)), edit)
    }
}

fn demo(test_store: &TestStore) -> Arc<Conversation> {
    let policy = Policy {
        utterances: Marks::with_keep(8, 6),
        summary_token_limit: Some(400),
        archive_limit: 20,
        expire_after: Some(Duration::from_secs(3_600)),
        ..Policy::ROLLING
    };
    let mut demo = TestConversation::new(test_store, "demo", 1, policy);
    demo.say(vec![said(Role::System, "Be brief."), named("first", "Which port has the server 10.0.0.1?")]);
    demo.say(vec![calls(&["a", "b"]), result("b"), result("a")]);
    demo.say(vec![user("The key of room 6 is R-6."), user("The key of room 7 is R-7.")]);
    demo.say(vec![named("second", "The file is /etc/8.conf.")]);
    demo.say((9..=12).map(|number| user(&format!("The key of room {number} is R-{number}."))).collect());
    let mut pinned = user("The key of room 13 is R-13.");
    pinned.pinned = true;
    demo.say(vec![pinned]);
    demo.say((14..=17).map(|number| user(&format!("The key of room {number} is R-{number}."))).collect());
    demo.say(vec![calls(&["x", "y"]), result("x")]);
    demo.forget("sequence:6", false);
    demo.call();
    let head = &demo.state.head;
    assert_eq!((head.archived.to_string(), head.next), ("2-12".to_owned(), Sequence(20)));
    assert_eq!(demo.state.window.len(), 8);
    assert_eq!(demo.state.summary.covers(), *head.left);
    demo.state.clone()
}

/// Each damage with what is said of it, after the name of the conversation.
pub(super) fn expect<const N: usize>(damages: [(Vec<String>, &str); N]) {
    for (problems, expected) in damages {
        assert_eq!(problems, [format!("conversation default/demo: {expected}")]);
    }
}

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
        let expected = format!(
            "record with the key {name}: a newer version of utterd wrote it: kind {kind} is not known"
        );
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
        [
            "conversation default/new: has the same lineage as conversation default/demo",
            "conversation default/new: it is not in the list of friend of demo",
        ]
    );
    identity.lineage = LineageId([3; 16]);
    assert_eq!(
        good.put::<ConversationName>(name, identity),
        [
            "conversation default/new: it has no head",
            "conversation default/new: it is not in the list of friend of demo"
        ]
    );
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
        assert_eq!(problems, [format!("lineage {stray}: of no conversation: 1 of the kind {kind:?}")]);
    }
    let other =
        ConversationKey { namespace: Namespace::default(), id: ConversationId::new("other").unwrap() };
    let problems = good.without::<ConversationName>(other);
    let kinds = ["head", "policy", "utterance"];
    let mut expected =
        kinds.map(|kind| format!("lineage {OTHER}: of no conversation: 1 of the kind {kind:?}")).to_vec();
    expected.push(
        "list entry default/other of friend of other at 1772366400000000 µs: there is no such conversation"
            .to_owned(),
    );
    assert_eq!(problems, expected);
}

#[test]
fn counts_that_are_wrong_are_named() {
    let good = Good::new();
    let stored = good.demo.head.stored;
    assert_eq!(stored, 19);
    let tokens =
        format!("its head counts 1 tokens of the window, and {} are there", good.demo.window.tokens());
    expect([
        (good.head(|head| head.stored += 1), "its head counts 20 utterances, and 19 are there"),
        (good.head(|head| head.stored -= 1), "its head counts 18 utterances, and 19 are there"),
        (good.head(|head| head.window_tokens = Some(1)), &tokens),
        (good.without::<Utterances>((DEMO, Sequence(7))), "utterances are missing: 7"),
        (good.without::<Utterances>((DEMO, Sequence(4))), "utterances are missing: 4"),
        (good.without::<Utterances>((DEMO, Sequence(3))), "utterances are missing: 3"),
        (good.without::<Utterances>((DEMO, Sequence(14))), "utterances are missing: 14"),
        (good.without::<Utterances>((DEMO, Sequence(18))), "utterances are missing: 18"),
        (good.without::<Utterances>((DEMO, Sequence(19))), "utterances are missing: 19"),
        (
            good.put::<Utterances>((DEMO, Sequence(30)), (**good.demo.window.at(0).unwrap()).clone()),
            "utterance 30 is stored, and the next one to be said is 20",
        ),
        (
            good.head(|head| {
                Arc::make_mut(&mut head.archived).remove(Sequence(7), Sequence(7));
                head.stored -= 1;
            }),
            "utterance 7 is stored, and it is neither in the window nor archived",
        ),
    ]);
}

#[test]
fn an_order_that_is_wrong_is_named() {
    let good = Good::new();
    let turn = good.demo.head.turn;
    expect([
        (
            good.head(|head| head.turn += 1),
            &*format!("its head is in turn {}, and the newest utterance in turn {turn}", turn + 1),
        ),
        (good.utterance(7, |utterance| utterance.turn = 1), "utterance 7 is of turn 1, after one of turn 2"),
        (
            good.utterance(1, |utterance| utterance.role = Role::User),
            "utterance 1 is an instruction, and not a system utterance of the window",
        ),
        (
            good.utterance(1, |utterance| utterance.instruction = false),
            "utterance 1 is a system utterance at the head, and no instruction",
        ),
        (
            good.head(|head| head.awaits_answer = true),
            "its head awaits an answer, and the newest utterance does not",
        ),
        (
            good.head(|head| head.only_instructions = true),
            "its head knows of instructions only, and utterance 2 is none",
        ),
    ]);
}

#[test]
fn units_that_are_not_whole_are_named() {
    let good = Good::new();
    let waits = |calls: &[&str], unit| {
        let calls = calls.iter().map(|call| (*call).into()).collect();
        Some(Arc::new(OpenExchange { unit: Sequence(unit), calls }))
    };
    let wrong_head = r#"its head waits for the results of ["x"], which no utterances do"#;
    expect([
        (good.head(|head| head.open = waits(&["x"], 18)), wrong_head),
        (good.head(|head| head.open = waits(&["x"], 17)), wrong_head),
        (good.utterance(4, |utterance| utterance.unit = Sequence(4)), "result 4 has no call that waits"),
        (
            good.utterance(10, |utterance| utterance.unit = Sequence(9)),
            "utterance 10 is of the unit of 9, in which no call waits",
        ),
        (
            good.utterance(10, |utterance| utterance.unit = Sequence(8)),
            "utterance 10 is of the unit of 8, and the one before it is not",
        ),
        (
            good.utterance(4, |utterance| utterance.role = Role::User),
            "utterance 4 is a user's, and of the unit of 3",
        ),
        (good.utterance(5, |utterance| call_id(utterance, "c")), "result 5 has no call that waits"),
        (good.utterance(5, |utterance| utterance.aside = true), "result 5 is kept aside, and its call waits"),
        (
            good.utterance(6, |utterance| utterance.aside = true),
            "utterance 6 is kept aside, and is no result",
        ),
        (
            good.utterance(4, |utterance| utterance.pinned = true),
            "the unit of utterance 3 is only in part pinned or forgotten: up to 4",
        ),
    ]);
}

#[test]
fn limits_that_are_passed_are_named() {
    let good = Good::new();
    let policy = |edit: fn(&mut Policy)| good.edit::<Policies>(DEMO, edit);
    let tokens = good.demo.window.tokens();
    let summary = good.demo.summary.tokens();
    expect([
        (
            policy(|policy| policy.utterances = Some(Marks::of(7))),
            "its window has 8 utterances; its policy lets it have 7, and the unit of utterance 14 could leave",
        ),
        (
            policy(|policy| policy.tokens = Some(Marks::of(3))),
            &*format!(
                "its window has {tokens} tokens; its policy lets it have 3, and the unit of utterance 14 could leave"
            ),
        ),
        (
            policy(|policy| policy.turns = Some(Marks::of(1))),
            "its window has 5 turns; its policy lets it have 1, and the unit of utterance 14 could leave",
        ),
        (policy(|policy| policy.archive_limit = 5), "11 utterances are archived; its policy lets 5 be"),
        (
            policy(|policy| policy.summary_token_limit = Some(3)),
            &*format!("its summary has {summary} tokens; its policy lets it have 3"),
        ),
    ]);
}

#[test]
fn segments_that_are_wrong_are_named() {
    let good = Good::new();
    let mut segments = good.demo.summary.segments().to_vec();
    segments.sort_by_key(|segment| segment.number);
    let [first, .., last] = &*segments else { panic!("there are two segments") };
    let (number, newest) = (first.number, last.number);
    let elsewhere = last.covers.last().unwrap();
    let edit = |edit: &dyn Fn(&mut Segment)| good.edit::<Segments>((DEMO, number), edit);
    let tell = |sequence| Sentence { sequence, text: "User: …\n".into(), tokens: 1, weight: 1 };
    expect([
        (
            edit(&|segment| segment.covers.add(elsewhere)),
            &*format!("segment {newest} covers what another segment covers too: {elsewhere}"),
        ),
        (
            edit(&|segment| segment.covers.add(Sequence(13))),
            &*format!("segment {number} covers what did not leave the window: 13"),
        ),
        (
            edit(&|segment| {
                segment.sentences.push(tell(elsewhere));
                segment.sentences.sort_by_key(|sentence| sentence.sequence);
            }),
            &*format!("segment {number} tells of what it does not cover: {elsewhere}"),
        ),
        (
            edit(&|segment| (segment.covers, segment.sentences) = Default::default()),
            &*format!("segment {number} covers nothing"),
        ),
        (
            good.without::<Segments>((DEMO, newest)),
            &*format!("of {} segments {} are there", segments.len(), segments.len() - 1),
        ),
        (
            good.edit::<Heads>(DEMO, |record| record.next_segment = newest),
            &*format!("segment {newest} has a number that the next ones get: from {newest}"),
        ),
        (
            good.utterance(2, |utterance| utterance.forgotten = true),
            "a segment tells of utterance 2, which is forgotten",
        ),
    ]);
}

#[test]
fn too_many_segments_are_named() {
    let good = Good::new();
    let mut record = HeadRecord::of(&good.demo.head, &good.demo.summary);
    record.next_segment = 1_000;
    let (mut covered, mut writes) = (Ranges::new(), Vec::new());
    for number in 500..500 + MAX_SEGMENTS as u32 {
        let mut segment = (*good.demo.summary.segments()[0]).clone();
        let sequence = Sequence(u64::from(number));
        (segment.number, segment.covers, segment.sentences) =
            (number, Ranges::of(sequence, sequence), Vec::new());
        covered.add(sequence);
        writes.push(records::pair::<Segments>(&(DEMO, number), &segment));
    }
    Arc::make_mut(&mut record.head.left).union(&covered);
    record.head.next = Sequence(1_000);
    writes.push(records::pair::<Heads>(&DEMO, &record));
    let writes = writes.into_iter().map(|(key, value)| (key, Some(value))).collect();
    good.directory.pairs().apply(Batch { writes }, Durability::Process).unwrap();
    let count = MAX_SEGMENTS + good.demo.summary.segments().len();
    let expected = format!("its summary has {count} segments; it may have {MAX_SEGMENTS}");
    let problems = good.problems();
    assert!(problems.iter().any(|problem| problem.ends_with(&expected)), "{problems:?}");
}

#[test]
fn ids_that_do_not_lead_to_their_utterances_are_named() {
    let good = Good::new();
    let key = |id: &str| (DEMO, Box::<str>::from(id));
    let give = |id: &str| UtteranceId::Given(id.into());
    expect([
        (
            good.without::<GivenIds>(key("first")),
            r#"the id "first" does not lead to utterance 2, which has it"#,
        ),
        (
            good.put::<GivenIds>(key("never"), Sequence(7)),
            r#"the id "never" leads to utterance 7, which has another id"#,
        ),
        (
            good.put::<GivenIds>(key("never"), Sequence(77)),
            r#"the id "never" leads to utterance 77, which is not stored"#,
        ),
        (
            good.put::<GivenIds>(key("first"), Sequence(7)),
            r#"the id "first" leads to utterance 7, which has another id"#,
        ),
        (
            good.utterance(9, |utterance| utterance.id = give("first")),
            r#"the utterances 2 and 9 have the same id "first""#,
        ),
        (
            good.utterance(9, |utterance| utterance.id = give("third")),
            r#"the id "third" does not lead to utterance 9, which has it"#,
        ),
        (
            good.utterance(2, |utterance| utterance.id = UtteranceId::Assigned(DEMO)),
            r#"the id "first" leads to utterance 2, which has another id"#,
        ),
    ]);
}

#[test]
fn lists_and_due_work_that_are_wrong_are_named() {
    let good = Good::new();
    let identity = &good.demo.head.identity;
    let listed = || ListPlace::of(identity);
    let expiry = good.demo.head.expire_time().unwrap();
    let due = |time| (time, Due::Expired(identity.key.clone()));
    expect([
        (good.without::<Listed>(listed()), "it is not in the list of friend of demo"),
        (
            good.without::<Dues>(due(expiry)),
            &*format!("it is not among what is due, and expires at {} µs", expiry.0),
        ),
    ]);
    let mut elsewhere = listed();
    elsewhere.recipient.id = RecipientId::new("eve").unwrap();
    let mut nowhere = listed();
    nowhere.conversation = ConversationId::new("gone").unwrap();
    let start = identity.start_time.0;
    assert_eq!(
        good.put::<Listed>(elsewhere, ()),
        [format!(
            "list entry default/demo of eve at {start} µs: the conversation is of friend of demo, at {start} µs"
        )]
    );
    assert_eq!(
        good.put::<Listed>(nowhere, ()),
        [format!("list entry default/gone of friend of demo at {start} µs: there is no such conversation")]
    );
    assert_eq!(
        good.put::<Dues>(due(Timestamp(5)), ()),
        [format!("due work at 5 µs: expiry of default/demo: the conversation expires at {} µs", expiry.0)]
    );
    let other = ConversationKey { id: ConversationId::new("other").unwrap(), ..identity.key.clone() };
    assert_eq!(
        good.put::<Dues>((Timestamp(5), Due::Expired(other)), ()),
        ["due work at 5 µs: expiry of default/other: the conversation never expires"]
    );
    let gone = ConversationKey { id: ConversationId::new("gone").unwrap(), ..identity.key.clone() };
    assert_eq!(
        good.put::<Dues>((Timestamp(5), Due::Expired(gone)), ()),
        ["due work at 5 µs: expiry of default/gone: there is no such conversation"]
    );
}

#[test]
fn active_conversations_that_are_wrong_are_named() {
    let good = Good::new();
    let recipient = |id| RecipientKey { namespace: Namespace::default(), id: RecipientId::new(id).unwrap() };
    let demo = good.demo.key().id.clone();
    assert_eq!(
        good.put::<Active>(recipient("eve"), demo),
        ["active conversation of default/eve: conversation demo is of friend of demo"]
    );
    assert_eq!(
        good.put::<Active>(recipient("eve"), ConversationId::new("gone").unwrap()),
        ["active conversation of default/eve: there is no conversation gone"]
    );
}

#[test]
fn outcomes_and_ages_that_do_not_agree_are_named() {
    let good = Good::new();
    let name = outcome_name();
    let key = records::key::<Outcomes>(&name);
    let value = good.directory.pairs().get(&key).unwrap().unwrap();
    let time = records::decode::<Outcomes>(&key, &value).unwrap().1.time;
    assert_eq!(
        good.without::<OutcomeAges>((time, name.clone())),
        [format!("outcome of Memorize demo 1 of default: it is of {} µs, and has no age", time.0)]
    );
    assert_eq!(
        good.without::<Outcomes>(name.clone()),
        [format!("age {} µs of Memorize demo 1 of default: there is no such outcome", time.0)]
    );
    assert_eq!(
        good.put::<OutcomeAges>((Timestamp(9), name.clone()), ()),
        ["age 9 µs of Memorize demo 1 of default: the outcome is of another time"]
    );
    assert_eq!(
        good.edit::<Outcomes>(name, |outcome| outcome.time = Timestamp(9)),
        ["outcome of Memorize demo 1 of default: it is of 9 µs, and has no age"]
    );
}

#[test]
fn what_is_unscrubbed_was_removed_in_a_group_that_there_is() {
    let good = Good::new();
    let group = good.directory.group();
    assert_eq!(
        good.put::<Metas>(Meta::Unscrubbed, group + 5),
        [format!("number of what is unscrubbed: is {}, and the last group is {group}", group + 5)]
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

/// The number of the first segment.
fn segment(good: &Good) -> u32 {
    good.demo.summary.segments()[0].number
}

fn outcome_name() -> OutcomeName {
    let request = crate::domain::RequestId::new("demo 1").unwrap();
    OutcomeName { namespace: Namespace::default(), rpc: "Memorize".into(), request }
}

fn call_id(utterance: &mut Utterance, id: &str) {
    if let Some(more) = &mut utterance.more {
        more.tool_call_id = Some(id.into());
    }
}
