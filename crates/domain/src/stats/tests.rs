//! Statistics of a few utterances, counted by hand.

use super::*;
use crate::{More, ToolCall, testing::said};

fn at(mut utterance: Utterance, turn: u32, day: i64, tokens: u32) -> Utterance {
    utterance.turn = turn;
    utterance.tokens = tokens;
    utterance.create_time = Timestamp(day * 86_400_000_000 + 7);
    utterance
}

fn calling(sequence: u64, calls: &[(&str, &str)]) -> Utterance {
    let call = |(id, name): &(&str, &str)| ToolCall {
        id: (*id).into(),
        name: (*name).into(),
        arguments_json: "{}".into(),
    };
    let more = More { tool_calls: calls.iter().map(call).collect(), ..More::default() };
    Utterance { more: Some(Box::new(more)), ..said(sequence, Role::Assistant, "") }
}

fn answering(sequence: u64, id: &str) -> Utterance {
    let more = More { tool_call_id: Some(id.into()), ..More::default() };
    Utterance { more: Some(Box::new(more)), ..said(sequence, Role::Tool, "done") }
}

fn counted(utterances: &[Utterance]) -> Stats {
    let mut stats = Stats::by(Bucket::Day);
    utterances.iter().for_each(|utterance| stats.add(utterance));
    stats
}

fn count(utterances: u64, tokens: u64, turns: u64) -> Count {
    Count { utterances, tokens, turns }
}

#[test]
fn utterances_tokens_and_turns_are_counted_by_role_and_by_day() {
    let mut forgotten = at(said(6, Role::Assistant, "no"), 2, 1, 50);
    forgotten.forgotten = true;
    let stats = counted(&[
        at(said(1, Role::System, "be brief"), 0, 0, 3),
        at(said(2, Role::User, "one"), 1, 0, 5),
        at(said(3, Role::Assistant, "two"), 1, 0, 7),
        at(said(4, Role::Assistant, "three"), 1, 1, 11),
        at(said(5, Role::User, "four"), 2, 1, 13),
        forgotten,
    ]);
    assert_eq!(stats.counts.all, count(5, 39, 2));
    let [system, user, assistant, tool] = stats.counts.by_role;
    assert_eq!((system, user), (count(1, 3, 0), count(2, 18, 2)));
    assert_eq!((assistant, tool), (count(2, 18, 1), count(0, 0, 0)));
    assert_eq!((stats.forgotten, stats.aside), (1, 0));

    let days: Vec<_> = stats.spans.iter().map(|(start, counts)| (start.0, counts.all)).collect();
    assert_eq!(days, [(0, count(3, 15, 1)), (86_400_000_000, count(2, 24, 1))]);
    assert_eq!(stats.spans[&Timestamp(86_400_000_000)].by_role[2], count(1, 11, 0));
}

/// Ids recur, and a user utterance abandons open calls, as in all pairing of exchanges.
#[test]
fn results_are_counted_with_the_calls_that_they_answer() {
    let stats = counted(&[
        calling(1, &[("a", "find"), ("b", "book")]),
        at(answering(2, "b"), 1, 0, 100),
        at(answering(3, "a"), 1, 0, 10),
        calling(4, &[("a", "book")]),
        said(5, Role::User, "never mind"),
        at(answering(6, "a"), 2, 0, 1_000),
        calling(7, &[("a", "find")]),
    ]);
    let uses: Vec<_> = stats.tools.iter().map(|(name, used)| (name, *used)).collect();
    let used = |calls, answered, result_tokens| ToolUse { calls, answered, result_tokens, mentions: 0 };
    assert_eq!(uses, [("book", used(2, 1, 100)), ("find", used(2, 1, 10))]);
}

#[test]
fn a_tool_that_is_only_named_is_mentioned() {
    let more = More { tools_used: vec!["write_file".into()], ..More::default() };
    let told = Utterance { more: Some(Box::new(more)), ..said(1, Role::Assistant, "Done.") };
    let uses: Vec<_> = counted(&[told]).tools.iter().map(|(name, used)| (name.to_owned(), *used)).collect();
    assert_eq!(uses, [("write_file".to_owned(), ToolUse { mentions: 1, ..ToolUse::default() })]);
}
