//! How matches are quoted.

use std::sync::Arc;

use super::{super::*, talk::*};
use crate::{
    Role, TokenCounter, Utterance,
    testing::{Talk, needed, o200k},
};

/// The message that quotes the matches in a context of the last turn, within this many tokens.
fn quote(talk: &Talk, found: &[u64], budget: u32) -> (String, Vec<u64>) {
    let at = |place: &u64| talk.found(talk.said().nth(*place as usize - 1).unwrap());
    let found: Vec<_> = found.iter().map(at).collect();
    let archived = Archived { recalled: &found, ..Archived::default() };
    let recall = Some(RecallLimits::default());
    let request = Request { budget: Some(budget), max_turns: Some(1), recall, ..Request::default() };
    let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
    assert!(context.tokens <= budget, "{}", context.tokens);
    let message = context.messages.iter().find(|message| message.how == How::Recalled);
    if let Some(message) = message {
        assert_eq!(message.tokens, 4 + o200k().count(message.text()));
    }
    let recalled = context.recalled.iter().map(|found| found.utterance.sequence.get()).collect();
    (message.map_or_else(String::new, |message| message.text().to_owned()), recalled)
}

/// Results come with their calls, and calls with their results.
#[test]
fn an_exchange_is_recalled_whole() {
    let mut talk = Talk::session();
    talk.say(Role::User, &"Where are the lamps that I ordered for the hall? ".repeat(6));
    talk.call("Let me look.", &["a", "b"]).answer("a", "In Lyon.").answer("b", "In Oslo.");
    talk.say(Role::Assistant, "They are on their way.").say(Role::User, "And now?");
    let wanted = "[Recalled from earlier in this conversation]\n\
         On Thu 1970-01-01:\n\
         Assistant: Let me look. [called lookup_order({\"order\": 7})] [called lookup_order({\"order\": 7})]\n\
         Result of lookup_order: In Lyon.\n\
         Result of lookup_order: In Oslo.\n\
         [End of what was recalled]";
    for found in [2, 3, 4] {
        assert_eq!(quote(&talk, &[found], 400), (wanted.to_owned(), vec![2, 3, 4]), "{found}");
    }
    assert_eq!(quote(&talk, &[4, 2, 3], 400).1, [2, 3, 4], "once");
}

/// Of long companions of a match, the beginning is quoted, and more of it if the budget has room; the whole
/// exchange is there.
#[test]
fn long_results_are_shortened() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Look.").call("", &["a", "b"]);
    talk.answer("a", &"The lamp is late. ".repeat(300)).answer("b", "In Oslo.");
    talk.say(Role::User, "And now?");
    for (budget, least, most) in [(600, 100, 400), (1_400, 900, 1_300), (9_000, 1_500, 2_000)] {
        let (text, recalled) = quote(&talk, &[4], budget);
        assert_eq!(recalled, [1, 2, 3, 4], "the question is short too");
        assert!(text.contains("Result of lookup_order: The lamp is late."), "{text}");
        assert_eq!(text.contains(" late. […]\n"), budget < 9_000, "{text}");
        assert!(text.contains("Result of lookup_order: In Oslo.\n"));
        let tokens = o200k().count(&text);
        assert!((least..most).contains(&tokens), "{tokens} of {budget}");
    }
}

/// A short answer means little without its question.
#[test]
fn a_short_match_comes_with_what_stands_before_it() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Which colour do you like best?").say(Role::Assistant, "Green.");
    talk.say(Role::User, &"I have thought about this for a long time. ".repeat(10));
    talk.say(Role::Assistant, "Blue, then.").say(Role::User, "And now?");
    let (text, recalled) = quote(&talk, &[2], 600);
    assert_eq!(recalled, [1, 2]);
    assert!(text.contains("User: Which colour do you like best?\nAssistant: Green.\n"), "{text}");
    assert_eq!(quote(&talk, &[4], 600).1, [4], "what comes before is long");
    assert_eq!(quote(&talk, &[1], 600).1, [1], "nothing comes before");
    talk.forget("sequence:1");
    assert_eq!(quote(&talk, &[2], 600).1, [2]);
}

/// Of a long match a passage is quoted, so that shorter ones after it fit too.
#[test]
fn a_long_match_leaves_room_for_others() {
    let mut talk = Talk::session();
    talk.say(Role::User, &"The kettle is late. ".repeat(400));
    for turn in 2..30 {
        talk.say(Role::User, &format!("Kettle {turn} goes to Lyon, and then on to Oslo by train."));
    }
    talk.say(Role::User, "And now?");
    let (text, recalled) = quote(&talk, &(1..30).collect::<Vec<_>>(), 1_000);
    assert!(text.contains("User: The kettle is late. ") && text.contains(" […]\n"), "{text}");
    assert!(recalled.len() > 20, "{recalled:?}");
    let (text, _) = quote(&talk, &[1], 9_000);
    assert!(!text.contains("[…]"), "there is room for all of it");
}

/// Whatever is recalled, the recent units begin where they do without recall, or where they do beside a whole share:
/// a prompt cache has nothing of a context that begins elsewhere with each prompt.
#[test]
fn where_a_context_begins_does_not_follow_the_prompt() {
    let talk = turns(60);
    let said: Vec<_> = talk.said().take(60).cloned().collect();
    let first = |found: &[Arc<Utterance>], stable_steps| {
        let recall = Some(RecallLimits::default());
        let request = Request { recall, stable_steps, ..within(1_000) };
        let context = build(&talk.0, found, &request, o200k()).unwrap();
        let mut recent = context.messages.iter().filter(|message| message.how != How::Recalled);
        recent.find_map(|message| message.utterance.as_ref()).unwrap().sequence
    };
    for steps in [None, Some(false)] {
        let (without, whole) = (first(&[], steps), first(&said, steps));
        assert!(without < whole, "{without} {whole}");
        let firsts: Vec<_> = (1..60).map(|matches| first(&said[..matches], steps)).collect();
        assert!(firsts.iter().all(|first| [without, whole].contains(first)), "{firsts:?}");
        assert!(firsts.is_sorted());
    }
    assert_eq!(first(&said[..2], None), first(&[], None), "two short matches fit beside");
}

/// Utterances that the limits of a context leave out when everything possible is recalled can be recalled
/// too.
#[test]
fn what_leaves_for_the_recalled_may_be_recalled() {
    let talk = turns(60);
    let missing = |recall| {
        let request = Request { recall, stable_steps: Some(false), ..within(1_000) };
        recallable(&talk.0, Archived::default(), &request, o200k()).unwrap()
    };
    let (without, with) = (missing(None), missing(Some(RecallLimits::default())));
    assert!(with.holds(&without) && with.count() > without.count() + 20, "{without} {with}");
    let tight = Request { recall: Some(RecallLimits::default()), ..within(10) };
    assert!(needed(&recallable(&talk.0, Archived::default(), &tight, o200k()).unwrap_err()) > 10);
}
