//! The tables are sorted, and say one thing of a word.

use std::collections::HashSet;

use crate::calls::{
    programs::{PROGRAMS, entries},
    signs::{SIGNS, TABLE},
    verbs::{Does, VERBS},
};

#[test]
fn the_verbs_are_sorted_and_each_is_there_once() {
    let words: Vec<&str> = VERBS.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
    assert!(
        words.is_sorted_by(|one, next| one < next),
        "{:?}",
        words.windows(2).find(|two| two[0] >= two[1])
    );
    for line in VERBS.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_known =
            matches!(Does::of(fields[1]), Some(Does::Reads | Does::Changes | Does::Checks | Does::Runs));
        assert!(is_known && matches!(&fields[2..], [] | ["weak"]), "{line}");
    }
}

#[test]
fn the_programs_are_sorted_and_each_part_is_there_once() {
    let lines: Vec<&str> = PROGRAMS.lines().collect();
    assert!(lines.is_sorted(), "{:?}", lines.windows(2).find(|two| two[0] > two[1]));
    let mut seen = HashSet::new();
    for line in lines {
        assert!(!entries(line).is_empty(), "{line}");
        for (program, part, _) in entries(line) {
            assert!(seen.insert((program, part)), "{program} {part} twice");
        }
    }
}

#[test]
fn every_sign_can_be_searched() {
    let kinds: HashSet<&str> = TABLE.lines().filter_map(|line| Some(line.split_once('\t')?.0)).collect();
    assert!(kinds.iter().all(|kind| SIGNS.get(kind).is_some()), "{kinds:?}");
}
