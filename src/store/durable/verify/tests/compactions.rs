//! Problems with compactions, and with waiting summaries, are reported.

use std::{sync::Arc, time::Duration};

use super::good::{DEMO, Good, expect};
use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, LineageId, Marks, Policy, Revision, Sequence,
        Timestamp,
        compaction::Compaction,
        policy::PolicyUpdate,
        segment::{LlmText, Segment},
    },
    store::durable::{
        records::{Compactions, Segments, Waiting},
        tests::conversation::{TestConversation, TestStore, user},
    },
};

/// Says `count` utterances that a summary mentions.
fn say(conversation: &mut TestConversation<'_>, count: u64) {
    let first = conversation.state.head.next.get();
    let key = |number| user(&format!("The key of room {number} is R-{number}."));
    conversation.say((first..first + count).map(key).collect());
}

/// Returns a conversation compacted four times; the third compaction folded the segments before it. A model
/// wrote the oldest segment, the newest waits for one.
fn compacted(test_store: &TestStore) -> Arc<Conversation> {
    let policy = Policy { summary_token_limit: Some(90), llm_summaries: Some(true), ..Policy::SESSION };
    let mut demo = TestConversation::new(test_store, "demo", 1, policy);
    for _ in 0..3 {
        say(&mut demo, 40);
        demo.now = demo.now.plus(Duration::from_secs(1));
        demo.compact(15);
    }
    demo.limit(PolicyUpdate { summary_token_limit: Some(1_000), ..PolicyUpdate::default() });
    demo.tell(Some("- the keys"));
    say(&mut demo, 40);
    demo.compact(15);
    assert_eq!(demo.state.compactions.len(), 4);
    assert!(demo.state.summary.awaits_since().is_some());
    demo.state.clone()
}

/// Changes the first segment that a compaction folded.
fn refold(compaction: &mut Compaction, change: impl FnOnce(&mut Segment)) {
    let mut folded = compaction.folded.as_ref().unwrap().to_vec();
    change(Arc::make_mut(&mut folded[0]));
    compaction.folded = Some(folded.into());
}

#[test]
fn compactions_that_are_missing_are_named() {
    let good = Good::made(compacted);
    let newest = good.demo.compactions[3].clone();
    expect([
        (good.without::<Compactions>((DEMO, 3)), "compaction 3 is missing"),
        (good.without::<Compactions>((DEMO, 4)), "compaction 4 is missing"),
        (
            good.put::<Compactions>((DEMO, 5), Compaction { number: 5, ..(*newest).clone() }),
            "compaction 5 has a number that was not given out yet: the next is 5",
        ),
    ]);
    let stray = LineageId([3; 16]);
    assert_eq!(
        good.put::<Compactions>((stray, 3), (*newest).clone()),
        [format!("lineage {stray}: without a conversation: 1 of the kind \"compaction\"")]
    );
}

#[test]
fn compactions_that_are_wrong_are_named() {
    let good = Good::made(compacted);
    let edit = |change: &dyn Fn(&mut Compaction)| good.edit::<Compactions>((DEMO, 3), change);
    let live = good.demo.head.newest();
    let revision = good.demo.head.revision.0;
    let folded = good.demo.compactions[2].folded.as_ref().unwrap();
    let (number, covers) = (folded[0].number, folded[0].covers.clone());
    let name = format!("segment {number} that compaction 3 folded");
    let told = folded[0].sentences[0].sequence;
    expect([
        (
            edit(&|compaction| compaction.revision = Revision(99)),
            &*format!("compaction 3 was made by revision 99, but its head is at revision {revision}"),
        ),
        (
            edit(&|compaction| {
                compaction.compacted.add(live);
                compaction.count += 1;
            }),
            &*format!("compaction 3 compacted what did not leave the window: {live}"),
        ),
        (
            edit(&|compaction| refold(compaction, |segment| segment.covers.add(live))),
            &*format!("{name} covers what did not leave the window: {live}"),
        ),
        (
            edit(&|compaction| refold(compaction, |segment| segment.covers.remove(told, told))),
            &*format!("{name} has text from what it does not cover: {told}"),
        ),
        (
            edit(&|compaction| {
                let twice = Segment { number: 900, sentences: Vec::new(), ..(*folded[0]).clone() };
                let all = folded.iter().cloned().chain([Arc::new(twice)]);
                compaction.folded = Some(all.collect());
            }),
            &*format!(
                "segment 900 that compaction 3 folded covers what another segment covers too: {covers}"
            ),
        ),
    ]);
}

#[test]
fn what_a_folded_segment_tells_of_is_not_forgotten() {
    let good = Good::made(compacted);
    let tells = |segment: &Arc<Segment>| {
        segment.sentences.iter().map(|sentence| sentence.sequence).collect::<Vec<_>>()
    };
    let shown: Vec<Sequence> = good.demo.summary.segments().iter().flat_map(tells).collect();
    let folded = good.demo.compactions.iter().flat_map(|compaction| compaction.folded.iter());
    let mut kept = folded.flat_map(|folded| folded.iter()).flat_map(tells);
    let Sequence(hidden) = kept.find(|sequence| !shown.contains(sequence)).unwrap();
    let expected = format!("a segment has text from utterance {hidden}, which is forgotten");
    expect([(good.utterance(hidden, |utterance| utterance.forgotten = true), &*expected)]);
}

#[test]
fn a_model_told_only_from_what_was_said() {
    let good = Good::made(compacted);
    let segments = good.demo.summary.segments().iter();
    let number = segments.clone().find(|segment| segment.llm_text.is_some()).unwrap().number;
    let problems = good.edit::<Segments>((DEMO, number), |segment| {
        let mut llm_text: LlmText = (**segment.llm_text.as_ref().unwrap()).clone();
        llm_text.from.add(Sequence(999));
        segment.llm_text = Some(Arc::new(llm_text));
    });
    expect([(problems, &*format!("segment {number} was written from what was not said: 999"))]);
}

/// The window may stay above its limits until the next utterance.
#[test]
fn a_window_may_be_above_its_limits_after_an_undo() {
    let good = Good::made(|test_store| {
        let mut demo = TestConversation::new(test_store, "demo", 1, Policy::SESSION);
        say(&mut demo, 40);
        demo.limit(PolicyUpdate { max_utterances: Some(20), ..PolicyUpdate::default() });
        demo.undo();
        assert_eq!(demo.state.window.len(), 40);
        assert_eq!(demo.state.head.policy.utterances.map(Marks::max), Some(20));
        demo.state.clone()
    });
    let wrong = "its window has 40 utterances; its policy allows 20, and the unit of utterance 1 could leave";
    expect([(good.head(|head| head.compacted_at = Sequence(40)), wrong)]);
}

#[test]
fn what_waits_and_is_not_told_so_is_named() {
    let good = Good::made(compacted);
    let since = good.demo.summary.awaits_since().unwrap();
    let key = good.demo.key().clone();
    let Timestamp(micros) = since;
    let expected = format!("there is no waiting summary since {micros} µs: default/demo");
    expect([(good.without::<Waiting>((since, key.clone())), &*expected)]);
    let named = |id| ConversationKey { id: ConversationId::new(id).unwrap(), ..key.clone() };
    for id in ["demo", "other", "gone"] {
        let expected = format!("waiting summary since 5 µs: default/{id}: nothing stored calls for it");
        assert_eq!(good.put::<Waiting>((Timestamp(5), named(id)), ()), [expected]);
    }
}
