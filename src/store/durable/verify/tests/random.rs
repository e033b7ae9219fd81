//! A store is clean after any operations on its conversations.

use std::time::Duration;

use proptest::{collection::vec, prelude::*, test_runner::TestRunner};

use super::super::{Report, verify};
use crate::{
    domain::{Marks, Policy, policy::PolicyUpdate},
    store::durable::{
        Directory, EngineKind,
        tests::conversation::{TestConversation, TestStore, calls, named, result, said, user},
    },
};

#[derive(Clone, Copy, Debug)]
enum Step {
    Say { what: u8, with: u8 },
    Forget { first: u64, length: u64, hard: bool },
    ForgetNewest { count: u64, hard: bool },
    Restore { first: u64 },
    Pin { sequence: u64, pinned: bool },
    Limit { utterances: u32, turns: u32, archive: u32, summary: u32, summarize: bool, expire: u64 },
    Compact { keep: u32 },
    Undo,
    Tell { text: bool },
    Call,
    Delete,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..10_u8, any::<u8>()).prop_map(|(what, with)| Step::Say { what, with }),
        2 => (1..80_u64, 0..6_u64, any::<bool>())
            .prop_map(|(first, length, hard)| Step::Forget { first, length, hard }),
        1 => (1..4_u64, any::<bool>()).prop_map(|(count, hard)| Step::ForgetNewest { count, hard }),
        2 => (1..80_u64).prop_map(|first| Step::Restore { first }),
        2 => (1..80_u64, any::<bool>()).prop_map(|(sequence, pinned)| Step::Pin { sequence, pinned }),
        1 => (0..12_u32, 0..4_u32, 0..30_u32, 0..60_u32, any::<bool>(), 0..3_u64).prop_map(
            |(utterances, turns, archive, summary, summarize, expire)| {
                Step::Limit { utterances, turns, archive, summary, summarize, expire }
            }
        ),
        2 => (1..12_u32).prop_map(|keep| Step::Compact { keep }),
        2 => Just(Step::Undo),
        2 => any::<bool>().prop_map(|text| Step::Tell { text }),
        1 => Just(Step::Call),
        1 => prop_oneof![9 => Just(Step::Call), 1 => Just(Step::Delete)],
    ]
}

fn take(conversation: &mut TestConversation<'_>, step: Step, number: usize) {
    conversation.now = conversation.now.plus(Duration::from_secs(1));
    match step {
        Step::Say { what, with } => say(conversation, what, with, number),
        Step::Forget { first, length, hard } => {
            conversation.forget(&format!("sequence:{first}-{}", first + length), hard);
        }
        Step::ForgetNewest { count, hard } => conversation.forget(&format!("last:{count}"), hard),
        Step::Restore { first } => conversation.restore(&[first, first + 1]),
        Step::Pin { sequence, pinned } => conversation.pin(sequence, pinned),
        Step::Limit { utterances, turns, archive, summary, summarize, expire } => {
            conversation.limit(PolicyUpdate {
                max_utterances: Some(utterances),
                max_turns: Some(turns),
                archive_limit: Some(archive),
                summary_token_limit: Some(summary),
                summarization_enabled: Some(summarize),
                expire_after: Some(Duration::from_secs(expire)),
                ..PolicyUpdate::default()
            });
        }
        Step::Compact { keep } => compact(conversation, keep, number),
        Step::Undo => conversation.undo(),
        Step::Tell { text } => conversation.tell(text.then_some("- the ports")),
        Step::Call => conversation.call(),
        Step::Delete => conversation.delete(),
    }
}

/// Compacts a conversation, after making it long enough.
fn compact(conversation: &mut TestConversation<'_>, keep: u32, number: usize) {
    let unlimited = PolicyUpdate {
        max_utterances: Some(0),
        max_turns: Some(0),
        archive_limit: Some(200),
        llm_summaries: Some(keep.is_multiple_of(2)),
        ..PolicyUpdate::default()
    };
    conversation.limit(unlimited);
    conversation
        .say((0..30).map(|part| user(&format!("In step {number}.{part} the port is {part}."))).collect());
    conversation.compact(keep);
}

/// Says something of every kind, including open, answered, abandoned, overlapping and orphaned calls.
fn say(conversation: &mut TestConversation<'_>, what: u8, with: u8, number: usize) {
    let text = format!("In step {number} the port is {with}, and the file is /etc/{number}.conf.");
    conversation.say(match what {
        0 | 1 => vec![user(&text), said(crate::domain::Role::Assistant, &text)],
        2 => vec![named(&format!("id {number}"), &text)],
        3 => vec![calls(&["a", "b"])],
        4 => vec![calls(&["a"]), result("a")],
        5 => vec![result("a")],
        6 => vec![result("b"), said(crate::domain::Role::Assistant, &text)],
        7 => vec![said(crate::domain::Role::System, &text)],
        8 => {
            let mut important = user(&text);
            important.pinned = with.is_multiple_of(2);
            vec![important, calls(&["c"]), calls(&["a"]), result("c")]
        }
        _ => (0..6).map(|part| named(&format!("id {number} {part}"), &text)).collect(),
    });
}

fn a_store_is_clean_after(engine: EngineKind, courses: &[Vec<Step>]) -> Report {
    let directory = tempfile::tempdir().unwrap();
    let test_store = TestStore::open(engine, directory.path());
    let policy = Policy {
        utterances: Marks::with_keep(9, 5),
        summary_token_limit: Some(80),
        archive_limit: 25,
        ..Policy::ROLLING
    };
    for (number, steps) in (1..).zip(courses) {
        let mut conversation =
            TestConversation::new(&test_store, &format!("conversation {number}"), number, policy.clone());
        for (at, step) in steps.iter().enumerate() {
            take(&mut conversation, *step, at);
        }
    }
    drop(test_store);
    let directory = Directory::open(engine, directory.path()).unwrap();
    verify(&directory, &mut |_| {}).unwrap()
}

fn any_steps_leave_a_clean_store(engine: EngineKind, cases: u32) {
    let courses = vec(vec(step(), 0..90), 1..4);
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) });
    let result = runner.run(&courses, |courses| {
        let report = a_store_is_clean_after(engine, &courses);
        prop_assert_eq!(&report.problems, &[]);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn any_steps_leave_a_clean_store_of_fjall() {
    any_steps_leave_a_clean_store(EngineKind::Fjall, 12);
}

#[test]
fn any_steps_leave_a_clean_store_of_sled() {
    any_steps_leave_a_clean_store(EngineKind::Sled, 6);
}
