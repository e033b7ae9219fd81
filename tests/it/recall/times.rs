//! Times in a prompt.

use utterd::domain::{
    Timestamp,
    recall::{Query, Said},
};

use crate::recall::support::{of, said, score};

const DAY: i64 = 24 * 60 * 60 * 1_000_000;
/// Noon of Friday, 15 March 2024.
const NOW: Timestamp = Timestamp(19_797 * DAY + DAY / 2);

/// How many days ago the first of otherwise equal utterances was said.
fn first(prompt: &str) -> i64 {
    let days = [430, 300, 70, 33, 9, 3, 1, 0];
    let minute = |days: i64| Timestamp(NOW.0 - days * DAY).minute();
    let index = of((1..).zip(days).map(|(sequence, days)| Said {
        minute: minute(days),
        ..said(sequence, "We talked about the garden")
    }));
    let hits = score(&Query::new(prompt).at(NOW.minute()), &[&index], |_| true, 0..1);
    days[hits[0].sequence as usize - 1]
}

#[test]
fn a_named_time_counts() {
    for (prompt, days) in [
        ("the garden, yesterday", 1),
        ("What did we say about the garden today?", 0),
        ("the garden on Tuesday", 3),
        ("the garden last week", 9),
        ("the garden in May", 300),
        ("the garden in January 2023", 430),
        ("the garden on 5 January 2024", 70),
        ("Was haben wir gestern über the garden gesagt?", 1),
        ("il y a 3 jours, the garden", 3),
        ("the garden 3 days ago", 3),
        ("the garden, our last session", 1),
        ("garden 昨天", 1),
        ("I may want the garden", 300),
    ] {
        assert_eq!(first(prompt), days, "{prompt}");
    }
}
