//! Texts by models.

use super::*;

#[test]
fn a_models_text_is_accepted_line_by_line() {
    let summary = Summary::default().write(&utterances(1..=40), &[], &summary_context(DEFAULT));
    let segment = &summary.segments()[0];
    let lines = segment
        .accept("  INV-7, Paris:\r\n\n\t- a bug in \u{7}src/main.rs  \n/etc is read-only\n", o200k())
        .unwrap();
    let text: String = lines.iter().map(|line| &*line.text).collect();
    assert_eq!(text, "INV-7, Paris:\n- a bug in  src/main.rs\n- /etc is read-only\n");
    assert_eq!(lines.iter().map(|line| line.tokens).sum::<u32>(), o200k().count(&text));
    assert_eq!(segment.accept(" \n\u{0}\n", o200k()), Err(Unfit::Empty));
    let long = "- invoice INV-7\n".repeat(400);
    assert!(
        matches!(segment.accept(&long, o200k()), Err(Unfit::TooLong { most, .. }) if most == segment.room())
    );
}

#[test]
fn what_models_told_is_kept_for_the_one_that_tells_a_fold() {
    let with = summary_context(Some(150));
    let mut summary = Summary::default();
    for at in 0..12 {
        summary = summary.write(&utterances(at * 5 + 1..=at * 5 + 5), &[], &with);
        let oldest = &summary.segments()[0];
        if let Some(awaits) = oldest.awaits.as_ref().filter(|_| oldest.level > 0) {
            assert!(awaits.told.contains("<1>"), "{oldest:?}");
            assert!(awaits.from.holds(&oldest.covers));
            return;
        }
        let newest = summary.segments().last().unwrap().clone();
        if newest.awaits.is_some() {
            summary = told_by_model(&summary, &newest, &BTreeSet::new(), &with);
        }
    }
    panic!("no fold awaits a model: {summary:?}");
}

#[test]
fn a_model_is_not_awaited_for_what_is_as_short_as_a_summary() {
    let short = said(1, Role::User, "the invoice is INV-7");
    let summary = Summary::default().write(&[Arc::new(short)], &[], &summary_context(DEFAULT));
    assert_eq!((summary.provisional(), summary.awaits_since()), (0, None));
    let summary = summary.write(&utterances(2..=9), &[], &summary_context(DEFAULT));
    assert_eq!((summary.provisional(), summary.awaits_since()), (1, Some(Timestamp(1))));
}
