//! Titles and closing summaries of whole conversations.

use proptest::prelude::*;

use super::*;
use crate::{
    Conversation, Policy, Role,
    end::{End, end},
    limits::MAX_TITLE_BYTES,
    test_life::{Life, said},
    testing::{Talk, o200k},
    update::{Update, update},
};

fn talk(lines: &[(Role, &str)]) -> Conversation {
    let mut talk = Talk::session();
    for (role, text) in lines {
        talk.say(*role, text);
    }
    talk.0
}

/// Seed 000's example: a request, what was done, how it ended.
#[test]
fn a_request_and_what_came_of_it() {
    let meeting = talk(&[
        (Role::User, "Hi! Can you please create meeting notes for today's planning session? Thanks!"),
        (Role::Assistant, "Sure! Which folder should they go to?"),
        (Role::User, "Put them into the Journal folder."),
        (Role::Assistant, "I created 'Meeting Notes.md' in the Journal folder."),
        (Role::User, "Great, thank you!"),
        (Role::Assistant, "You're welcome! Let me know if you need anything else."),
    ]);
    let title = title(&meeting).expect("something was asked for");
    assert_eq!(&*title, "Create meeting notes for today's planning session");
    let summary = summary(&meeting).expect("something was said");
    for told in ["create meeting notes", "Journal folder", "Assistant: I created 'Meeting Notes.md'"] {
        assert!(summary.contains(told), "{told}: {summary}");
    }
    assert!(!summary.contains("welcome"), "{summary}");
}

#[test]
fn where_nothing_was_said_there_is_nothing_to_tell() {
    assert_eq!((title(&talk(&[])), summary(&talk(&[]))), (None, None));
}

/// A long window is read at both ends.
#[test]
fn of_a_long_conversation_both_ends_are_told() {
    let mut lines = vec![(Role::User, "Please plan the garden party."), (Role::Assistant, "When is it?")];
    for _ in 0..500 {
        lines.extend([(Role::User, "Let me think about it."), (Role::Assistant, "Take your time.")]);
    }
    lines.push((Role::Assistant, "The garden party is planned for the ninth of June."));
    let long = talk(&lines);
    assert_eq!(title(&long).as_deref(), Some("Plan the garden party"));
    assert!(summary(&long).is_some_and(|told| told.contains("ninth of June")));
}

fn set_title(life: &mut Life, title: Option<&str>) -> Option<String> {
    let command = Update { title: Some(title.map(Into::into)), ..Update::default() };
    life.apply(life.decide(|before, context| update(before, &command, context)).unwrap());
    shown_title(life)
}

fn shown_title(life: &Life) -> Option<String> {
    life.state.head.shown_title().map(|title| title.to_string())
}

#[test]
fn a_title_is_made_on_demand_and_forgets_too() {
    let mut life = Life::new(Policy::SESSION);
    assert_eq!(set_title(&mut life, None), None, "nothing was said");
    life.say(vec![said(Role::User, "Please send the parcel to Roswitha Quandt in Hamburg tomorrow.")]);
    life.say(vec![said(Role::User, "And remind me to water the garden in the evening.")]);
    assert_eq!(shown_title(&life), None, "nobody asked for it");
    assert!(set_title(&mut life, None).is_some_and(|title| title.contains("Roswitha")));
    assert_eq!(set_title(&mut life, Some("My own")).as_deref(), Some("My own"));
    assert!(set_title(&mut life, None).is_some_and(|title| title.contains("Roswitha")));
    life.forget(1, false);
    assert!(shown_title(&life).is_some_and(|title| title.contains("garden")));
    life.restore(1);
    assert!(shown_title(&life).is_some_and(|title| title.contains("Roswitha")));
    life.forget(1, true);
    let made = shown_title(&life);
    assert!(made.as_ref().is_some_and(|title| title.contains("garden")));
    let command = End { reason: "".into(), expected: None };
    life.apply(life.decide(|before, context| Ok(end(before, &command, context)?)).unwrap());
    assert_eq!((shown_title(&life), &life.state.head.made_title), (made, &None));
}

#[test]
fn what_a_model_tells_is_read() {
    let read =
        |text: &str| told(text, o200k()).map(|told| (told.title.to_string(), told.summary.to_string()));
    let plain = ("Pump of T-7 replaced".to_owned(), "It failed. It was replaced.".to_owned());
    assert_eq!(read("Title: Pump of T-7 replaced\nSummary: It failed. It was replaced."), Ok(plain.clone()));
    let marked =
        "Sure:\n\n**Title:** \"Pump of T-7 replaced.\"\n\n**Summary:** It failed.\n It was  replaced.\n";
    assert_eq!(read(marked), Ok(plain));
    assert_eq!(read("It was about a pump."), Err(Unfit::Missing("Title:")));
    assert_eq!(read("Title: A pump\nIt failed."), Err(Unfit::Missing("Summary:")));
    assert_eq!(read("Title: \"\"\nSummary: It failed."), Err(Unfit::Missing("Title:")));
    let long = format!("Title: {}\nSummary: x", "word ".repeat(9));
    assert_eq!(read(&long), Err(Unfit::LongTitle { words: 9 }));
    let long = format!("Title: A pump\nSummary: {}", "It failed. ".repeat(99));
    assert!(matches!(read(&long), Err(Unfit::LongSummary { tokens }) if tokens > 160));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_title_of_at_most_eight_words(texts in proptest::collection::vec("\\PC{0,120}", 1..6)) {
        let roles = [Role::User, Role::Assistant].into_iter().cycle();
        let lines: Vec<_> = roles.zip(texts.iter().map(String::as_str)).collect();
        let talk = talk(&lines);
        let title = title(&talk).unwrap_or_default();
        let summary = summary(&talk).unwrap_or_default();
        prop_assert!(utterd_summary::title::size(&title) <= 8, "{title}");
        prop_assert!(title.len() <= MAX_TITLE_BYTES);
        prop_assert!(!title.chars().chain(summary.chars()).any(char::is_control));
        prop_assert_eq!(title.trim(), &*title);
    }
}
