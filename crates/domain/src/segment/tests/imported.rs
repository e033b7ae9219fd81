//! Imported summaries.

use super::*;

fn period(start: i64, text: &str) -> ImportedSummary {
    let of = Imported { start: Timestamp(start), end: Timestamp(start + 1), conversations: 2 };
    ImportedSummary { of, text: text.into() }
}

#[test]
fn what_was_imported_stands_first_and_covers_nothing() {
    let with = summary_context(DEFAULT);
    let before = Summary::default().write(&utterances(1..=9), &[], &with);
    let periods = [period(20, "They met in Oslo. Anna paid $250."), period(10, "It began.")];
    let summary = before.import(&periods, &with);
    assert_eq!(summary.covers(), before.covers());
    let imported: Vec<_> = summary.segments()[..2].iter().map(|segment| segment.text()).collect();
    assert_eq!(imported, ["It began.\n", "They met in Oslo.\nAnna paid $250.\n"]);
    assert!(
        summary.segments()[..2].iter().all(|segment| segment.covers.is_empty() && segment.awaits.is_none())
    );
    assert_eq!(before.import(&[period(1, " \n")], &with), before, "an empty summary adds nothing");
}

/// Imported segments are folded with one another, and dropped when nothing else helps.
#[test]
fn what_was_imported_keeps_to_the_limit_beside_what_was_said() {
    let with = summary_context(Some(300));
    let texts: Vec<String> =
        (0..30).map(|n| format!("In week {n} they decided on INV-{n}. It cost ${n}50.")).collect();
    let periods: Vec<_> = texts.iter().zip(0..).map(|(text, n)| period(n, text)).collect();
    let mut summary = Summary::default().import(&periods, &with);
    assert!(!summary.imported().is_empty() && summary.tokens() <= 300, "{}", summary.tokens());
    let folded = summary.segments()[0].imported.unwrap();
    assert_eq!(folded.start, Timestamp(0));
    assert!(folded.conversations > 2, "it includes what was folded into it");
    for start in (0..300).step_by(5) {
        summary = summary.write(&utterances(start + 1..=start + 5), &[], &with);
        assert!(summary.tokens() <= 300);
        assert_eq!(summary.covered_count(), start + 5);
        assert!(summary.segments().is_sorted_by_key(|segment| segment.imported.is_none()));
        for segment in summary.segments() {
            assert!(segment.stands() && (segment.imported.is_none() || segment.covers.is_empty()));
        }
    }
}

#[test]
fn an_imported_sentence_can_be_erased() {
    let with = summary_context(DEFAULT);
    let periods =
        [period(1, "The code is zanzibar. They met in Oslo."), period(2, "Zanzibar it is: zanzibar.")];
    let summary = Summary::default().import(&periods, &with);
    let rest = summary.erase_imported(|text| text.to_lowercase().contains("zanzibar"), &with);
    assert_eq!((rest.text().as_str(), rest.segments().len()), ("They met in Oslo.\n", 1));
    assert_eq!(rest.segments()[0].imported, Some(periods[0].of));
    assert!(rest.erase_imported(|_| true, &with).segments().is_empty());
}

/// Chosen again, the sentences that fit still stand on lines of their own.
#[test]
fn what_is_left_of_an_import_is_told_sentence_by_sentence() {
    let with = summary_context(DEFAULT);
    let text = "They met in Oslo. The code is zanzibar. Anna paid $250. The parcel is late.";
    let summary = Summary::default().import(&[period(1, text)], &with);
    let rest = summary.erase_imported(|text| text.contains("zanzibar"), &with);
    assert_eq!(rest.text(), "They met in Oslo.\nAnna paid $250.\nThe parcel is late.\n");
}
