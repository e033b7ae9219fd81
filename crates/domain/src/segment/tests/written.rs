//! Writing and folding summaries of what left the window.

use super::*;
use crate::{
    extract::{Extract, Item, Kind},
    limits::MAX_SEGMENTS,
};

#[test]
fn a_segment_keeps_to_its_share_of_the_source() {
    let evicted = utterances(1..=40);
    let source: u64 = evicted.iter().map(|utterance| u64::from(utterance.tokens)).sum();
    let summary = Summary::default().write(&evicted, &[], &summary_context(DEFAULT));
    let segment = &summary.segments()[0];
    assert_eq!((segment.number, segment.level, segment.source_tokens), (1, 0, source));
    assert!(
        u64::from(segment.tokens) * 100 <= source * 75 && segment.tokens > 40,
        "{} of {source}",
        segment.tokens
    );
}

#[test]
fn what_can_be_told_counts_as_memory() {
    let bytes = |count| {
        let items = vec![Item::new(Kind::Fact, "A1", "blue", 1); count];
        let told = Extract { items, lines: Vec::new() };
        Segment::new(0, Ranges::of(Sequence(1), Sequence(1)), told, 100).memory_bytes()
    };
    assert!(bytes(101) >= bytes(1) + 100 * size_of::<Item>());
}

#[test]
fn an_unchanged_summary_is_the_same_one() {
    let summary = Summary::default().write(&utterances(1..=9), &[], &summary_context(DEFAULT));
    let elsewhere = Ranges::of(Sequence(50), Sequence(60));
    for same in [
        summary.erase(&elsewhere, &summary_context(DEFAULT)),
        summary.silence(&elsewhere, &summary_context(DEFAULT)),
        summary.fit(&summary_context(DEFAULT)),
        summary.write(&[], &[], &summary_context(DEFAULT)),
        summary.restore(&utterances(50..52), &summary_context(DEFAULT)),
    ] {
        assert!(std::ptr::eq(same.segments(), summary.segments()) && same.changed_from(&summary).is_empty());
    }
}

#[test]
fn folds_leave_room_and_levels_grow_slowly() {
    let (mut summary, mut folds) = (Summary::default(), 0);
    for at in 0..400 {
        let before = summary.clone();
        summary = summary.write(&utterances(at * 5 + 1..=at * 5 + 5), &[], &summary_context(DEFAULT));
        let removed = summary.changed_from(&before).removed;
        if !removed.is_empty() {
            folds += 1;
            assert!((400..=750).contains(&summary.tokens()), "{} tokens after a fold", summary.tokens());
        }
    }
    assert!(folds < 100, "{folds} folds in 400 writes");
    let levels: Vec<u32> = summary.segments().iter().map(|segment| segment.level).collect();
    assert!(levels[0] < 16 && levels.len() < 40, "{levels:?}");
    assert_eq!(summary.covered_count(), 2000);
}

#[test]
fn without_a_limit_old_segments_merge_and_lose_nothing() {
    let mut summary = Summary::default();
    let mut told = BTreeSet::new();
    for at in 0..300 {
        summary = summary.write(&utterances([at + 1]), &[], &summary_context(None));
        told.extend(tells(&summary).into_iter().filter(|sequence| *sequence == at + 1));
    }
    assert!(summary.segments().len() <= MAX_SEGMENTS);
    assert_eq!(tells(&summary), told);
    assert_eq!(summary.tokens(), o200k().count(&summary.text()));
}

#[test]
fn long_conversations_are_covered_at_rising_levels() {
    for (count, least_level) in [(50, 0), (200, 1), (1_000, 3), (10_000, 5)] {
        let mut summary = Summary::default();
        for first in (1..=count).step_by(25) {
            summary =
                summary.write(&utterances(first..=(first + 24).min(count)), &[], &summary_context(DEFAULT));
        }
        let mut seen = BTreeSet::new();
        for segment in summary.segments() {
            assert!(segment.covers.sequences().all(|sequence| seen.insert(sequence)), "covered twice");
        }
        assert_eq!(seen.len() as u64, count);
        assert!(summary.segments()[0].level >= least_level, "{count}: {}", summary.segments()[0].level);
        assert!(summary.tokens() <= DEFAULT_SUMMARY_TOKENS);
    }
}
