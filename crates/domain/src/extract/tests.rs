//! What is told of utterances.

use std::sync::Arc;

use super::*;
use crate::{
    More, ToolCall,
    testing::{o200k, said},
};

fn calling(sequence: u64, id: &str, tool: &str, arguments: &str) -> Utterance {
    let call = ToolCall { id: id.into(), name: tool.into(), arguments_json: arguments.into() };
    with(said(sequence, Role::Assistant, ""), More { tool_calls: vec![call], ..More::default() })
}

fn answering(sequence: u64, id: &str, result: &str) -> Utterance {
    with(said(sequence, Role::Tool, result), More { tool_call_id: Some(id.into()), ..More::default() })
}

fn with(utterance: Utterance, more: More) -> Utterance {
    Utterance { more: Some(Box::new(more)), ..utterance }
}

fn text(source: Vec<Utterance>, budget: u32) -> String {
    let source: Vec<Arc<Utterance>> = source.into_iter().map(Arc::new).collect();
    let wanted = Wanted { budget, ..Wanted::default() };
    let lines = tell(&items(&source), &wanted, o200k());
    let known: Ranges = source.iter().map(|said| said.sequence).collect();
    assert!(lines.iter().all(|line| !line.from.is_empty() && known.holds(&line.from)), "{lines:?}");
    lines.iter().map(|line| &*line.text).collect()
}

/// Seed 001's scenario.
#[test]
fn the_weather_is_asked_and_forecast() {
    let source = vec![
        said(1, Role::User, "Hi! What's the weather?"),
        said(
            2,
            Role::Assistant,
            "Sure, I can help with that! It is 18 °C in Paris, with light rain until 14:00.",
        ),
        said(3, Role::User, "Okay, thanks! How about tomorrow?"),
        said(4, Role::Assistant, "You're welcome. Tomorrow will be sunny, 24 °C."),
        said(5, Role::User, "Great, thank you."),
    ];
    let told = text(source, 60);
    for wanted in
        ["What's the weather?", "How about tomorrow?", "18 °C in Paris", "Tomorrow will be sunny, 24 °C."]
    {
        assert!(told.contains(wanted), "{wanted}:\n{told}");
    }
    assert!(!told.contains("welcome") && !told.contains("Great"), "{told}");
}

/// Seeds 003 and 004: a call is told with its outcome, the inside of a result is not.
#[test]
fn a_call_that_changes_something_is_told_with_its_outcome() {
    let source = vec![
        said(1, Role::User, "Where is my order AB-77? Pay it by card."),
        calling(2, "c1", "lookup_order", "{\"id\":\"AB-77\"}"),
        answering(
            3,
            "c1",
            "{\"id\":\"AB-77\",\"state\":\"shipped\",\"log\":\"the inside of a long result is not told, since nobody reads it again and it only fills the summary with what was never asked for by anybody in the conversation\"}",
        ),
        calling(4, "c1", "pay_order", "{\"id\":\"AB-77\"}"),
        answering(5, "c1", "Error: card expired"),
        calling(6, "c2", "cancel_order", "{\"id\":\"AB-78\"}"),
        answering(7, "c2", "{\"status\":\"cancelled\"}"),
        calling(8, "c3", "notify_customer", "{\"id\":\"AB-77\"}"),
        said(9, Role::Assistant, "Your order AB-77 was shipped, but the card was refused."),
    ];
    let told = text(source, 300);
    for wanted in [
        "pay_order(AB-77) → failed: card expired",
        "cancel_order(AB-78) → ok",
        "notify_customer(AB-77) → no answer",
        "AB-77: state shipped",
    ] {
        assert!(told.contains(wanted), "{wanted}:\n{told}");
    }
    assert!(!told.contains("lookup_order") && !told.contains("inside of a long result"), "{told}");
}

/// Seed 004: acknowledgements, repetitions and code are left out.
#[test]
fn courtesies_repetitions_and_code_are_left_out() {
    let source = vec![
        said(1, Role::User, "Hello there!"),
        said(2, Role::Assistant, "Hi! How can I help?"),
        said(
            3,
            Role::User,
            "Rename the parser module.\n```\nlet parser = old::parser();\n```\nThanks a lot!",
        ),
        said(
            4,
            Role::Assistant,
            "The importer and its tests use it now. The importer and its tests use it now.",
        ),
    ];
    let told = text(source, 300);
    assert_eq!(told.matches("The importer and its tests").count(), 1, "{told}");
    for unwanted in ["Hello", "let parser", "Thanks"] {
        assert!(!told.contains(unwanted), "{unwanted}:\n{told}");
    }
}

#[test]
fn what_takes_no_part_says_nothing() {
    let instruction = Utterance { instruction: true, ..said(1, Role::System, "Never mention ZX-1.") };
    let forgotten = Utterance { forgotten: true, ..said(2, Role::User, "The code is ZX-2.") };
    let aside = Utterance { aside: true, ..answering(3, "c9", "ZX-3") };
    let source = vec![
        instruction,
        forgotten,
        aside,
        said(4, Role::User, "Which city is the office in?"),
        calling(5, "c1", "pay_order", "{\"id\":\"AB-77\"}"),
        Utterance { forgotten: true, ..answering(6, "c1", "Error: ZX-4") },
    ];
    let told = text(source, 300);
    assert!(told.contains("office") && !told.contains("ZX-"), "{told}");
}

/// A result that came after its call was abandoned is still the result of that call.
#[test]
fn a_late_result_ends_its_call() {
    let source = vec![
        said(1, Role::User, "Start the export of last year's invoices."),
        calling(2, "c1", "start_export", "{\"year\":\"2025\"}"),
        said(3, Role::User, "How far is it?"),
        answering(4, "c1", "export EX-9 finished"),
        said(5, Role::Assistant, "It is finished."),
    ];
    let told = text(source, 300);
    assert!(told.contains("start_export(2025) → ok"), "{told}");
}
