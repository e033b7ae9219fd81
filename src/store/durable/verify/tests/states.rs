//! An inconsistent conversation is reported.

use std::sync::Arc;

use super::good::*;
use crate::{
    domain::{
        Marks, Policy, Ranges, Role, Sequence, Utterance,
        exchange::OpenExchange,
        extractive::{LineKind, Sentence},
        limits::MAX_SEGMENTS,
        segment::Segment,
    },
    store::durable::{
        key_value::{Batch, Durability},
        records::{self, HeadRecord, Heads, Policies, Segments, Utterances},
    },
};

#[test]
fn counts_that_are_wrong_are_named() {
    let good = Good::new();
    let stored = good.demo.head.stored;
    assert_eq!(stored, 19);
    let tokens =
        format!("its head counts 1 tokens in the window, but there are {}", good.demo.window.tokens());
    let bytes = good.demo.head.stored_bytes;
    let bytes = format!("its head counts 1 bytes of utterances, but there are {bytes}");
    expect([
        (good.head(|head| head.stored_bytes = 1), &*bytes),
        (good.head(|head| head.stored += 1), "its head counts 20 utterances, but there are 19"),
        (good.head(|head| head.stored -= 1), "its head counts 18 utterances, but there are 19"),
        (good.head(|head| head.window_tokens = 1), &tokens),
        (good.without::<Utterances>((DEMO, Sequence(7))), "utterances are missing: 7"),
        (good.without::<Utterances>((DEMO, Sequence(4))), "utterances are missing: 4"),
        (good.without::<Utterances>((DEMO, Sequence(3))), "utterances are missing: 3"),
        (good.without::<Utterances>((DEMO, Sequence(14))), "utterances are missing: 14"),
        (good.without::<Utterances>((DEMO, Sequence(18))), "utterances are missing: 18"),
        (good.without::<Utterances>((DEMO, Sequence(19))), "utterances are missing: 19"),
        (
            good.put::<Utterances>((DEMO, Sequence(30)), (**good.demo.window.at(0).unwrap()).clone()),
            "utterance 30 is stored, but the next sequence is 20",
        ),
        (
            good.head(|head| {
                Arc::make_mut(&mut head.archived).remove(Sequence(7), Sequence(7));
                head.stored -= 1;
            }),
            "utterance 7 is stored, but is neither in the window nor archived",
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
            &*format!("its head is in turn {}, but the newest utterance is in turn {turn}", turn + 1),
        ),
        (good.utterance(7, |utterance| utterance.turn = 1), "utterance 7 is of turn 1, after one of turn 2"),
        (
            good.utterance(1, |utterance| utterance.role = Role::User),
            "utterance 1 is an instruction, but not a system utterance in the window",
        ),
        (
            good.utterance(1, |utterance| utterance.instruction = false),
            "utterance 1 is a system utterance at the head, but not an instruction",
        ),
        (
            good.head(|head| head.awaits_answer = true),
            "its head awaits an answer, but the newest utterance does not",
        ),
        (
            good.head(|head| head.only_instructions = true),
            "its head says that only instructions were said, but utterance 2 is not one",
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
    let mut kept_aside = good.utterance(5, |utterance| utterance.aside = true);
    let quoted = kept_aside.pop();
    let expected = "conversation default/demo: a segment has text from utterance 5, which is forgotten";
    assert_eq!(quoted.as_deref(), Some(expected), "its call's line quotes it");
    let wrong_head = r#"its head waits for the results of ["x"], but no utterance does"#;
    expect([
        (good.head(|head| head.open = waits(&["x"], 18)), wrong_head),
        (good.head(|head| head.open = waits(&["x"], 17)), wrong_head),
        (good.utterance(4, |utterance| utterance.unit = Sequence(4)), "result 4 has no call that waits"),
        (
            good.utterance(10, |utterance| utterance.unit = Sequence(9)),
            "utterance 10 is in the unit of 9, in which no call waits",
        ),
        (
            good.utterance(10, |utterance| utterance.unit = Sequence(8)),
            "utterance 10 is in the unit of 8, but the one before it is not",
        ),
        (
            good.utterance(4, |utterance| utterance.role = Role::User),
            "utterance 4 is a user's, but in the unit of 3",
        ),
        (good.utterance(5, |utterance| call_id(utterance, "c")), "result 5 has no call that waits"),
        (kept_aside, "result 5 is kept aside, but its call waits"),
        (
            good.utterance(6, |utterance| utterance.aside = true),
            "utterance 6 is kept aside, but is not a result",
        ),
        (
            good.utterance(4, |utterance| utterance.pinned = true),
            "the unit of utterance 3 is only partly pinned or forgotten: up to 4",
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
            "its window has 8 utterances; its policy allows 7, and the unit of utterance 14 could leave",
        ),
        (
            policy(|policy| policy.tokens = Some(Marks::of(3))),
            &*format!(
                "its window has {tokens} tokens; its policy allows 3, and the unit of utterance 14 could leave"
            ),
        ),
        (
            policy(|policy| policy.turns = Some(Marks::of(1))),
            "its window has 5 turns; its policy allows 1, and the unit of utterance 14 could leave",
        ),
        (policy(|policy| policy.archive_limit = 5), "11 utterances are archived; its policy allows 5"),
        (
            policy(|policy| policy.summary_token_limit = Some(3)),
            &*format!("its summary has {summary} tokens; its policy allows 3"),
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
    let tell = |sequence| Sentence::plain(LineKind::Said, sequence, "User: …\n".into(), 1, 1);
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
            &*format!("segment {number} has text from what it does not cover: {elsewhere}"),
        ),
        (
            edit(&|segment| (segment.covers, segment.sentences) = Default::default()),
            &*format!("segment {number} covers nothing"),
        ),
        (
            good.without::<Segments>((DEMO, newest)),
            &*format!("it has {1} segments instead of {0}", segments.len(), segments.len() - 1),
        ),
        (
            good.edit::<Heads>(DEMO, |record| record.next_segment = newest),
            &*format!("segment {newest} has a number that was not given out yet: the next is {newest}"),
        ),
        (
            good.utterance(2, |utterance| utterance.forgotten = true),
            "a segment has text from utterance 2, which is forgotten",
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
    let expected = format!("its summary has {count} segments; accepted: at most {MAX_SEGMENTS}");
    let problems = good.problems();
    assert!(problems.iter().any(|problem| problem.ends_with(&expected)), "{problems:?}");
}

fn call_id(utterance: &mut Utterance, id: &str) {
    if let Some(more) = &mut utterance.more {
        more.tool_call_id = Some(id.into());
    }
}
