//! The grammar of forget instructions: what is accepted and how it is understood, and what is refused.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod composition;
mod conversation;
mod corpus;

use proptest::prelude::*;
use utterd_domain::{
    Role, Timestamp,
    forgetting::{self, Criterion, Instruction, InstructionError, Numbers, Part, Take},
    limits::MAX_INSTRUCTION_BYTES,
};

/// 2026-11-22T12:30:15.25Z, a Sunday: the time of every instruction here.
const NOW: Timestamp = Timestamp(1_795_350_615_250_000);

fn parse(text: &str) -> Result<Instruction, InstructionError> {
    forgetting::parse(text).map(|asked| asked.at(NOW))
}

/// Phrasings, each with the short form that it is understood as.
const ACCEPTED: &[(&str, &str)] = &[
    // The short forms.
    ("oldest", "oldest"),
    ("newest", "newest"),
    ("NEWEST", "newest"),
    ("  oldest\n", "oldest"),
    ("first", "oldest"),
    ("last", "newest"),
    ("oldest:1", "oldest"),
    ("oldest:4", "first:4"),
    ("newest:4", "last:4"),
    ("first:2", "first:2"),
    ("last:3", "last:3"),
    ("Last : 3", "last:3"),
    ("last:2_turns", "last:2_turns"),
    ("first:1_turn", "first:1_turn"),
    ("position:7", "position:7"),
    ("position:3-7", "position:3-7"),
    ("position:3–7", "position:3-7"),
    ("position:7-7", "position:7"),
    ("position:4-", "position:4-"),
    ("before:turn_5", "before:turn_5"),
    ("BEFORE: Turn_5", "before:turn_5"),
    ("after:turn_9", "after:turn_9"),
    ("turn:4", "turn:4"),
    ("turn:2-4", "turn:2-4"),
    ("speaker:user", "speaker:user"),
    ("speaker:assistant", "speaker:assistant"),
    ("Speaker: SYSTEM", "speaker:system"),
    ("name:Alice", "name:Alice"),
    ("name:\"Alice Smith\"", "name:\"Alice Smith\""),
    ("name:“Alice Smith”", "name:\"Alice Smith\""),
    ("name:'Alice'", "name:Alice"),
    (r#"name:"the \"boss\"""#, r#"name:"the \"boss\"""#),
    ("sequence:12", "sequence:12"),
    ("sequence:12-18446744073709551614", "sequence:12-18446744073709551614"),
    ("id:01ARZ3NDEKTSV4RRFFQ69G5FAV-17", "id:01ARZ3NDEKTSV4RRFFQ69G5FAV-17"),
    ("id:\"two words\"", "id:\"two words\""),
    ("about:Paris", "about:Paris"),
    ("about: the trip to Paris, and the hotel", "about:the trip to Paris, and the hotel"),
    ("about:\"anything but Paris\"", "about:\"anything but Paris\""),
    ("about:\"speaker:user\"", "about:\"speaker:user\""),
    ("all", "all"),
    ("ALL", "all"),
    ("speaker:user before:turn_5", "speaker:user before:turn_5"),
    ("before:turn_5, speaker:user", "speaker:user before:turn_5"),
    ("speaker:user and before:turn_5", "speaker:user before:turn_5"),
    ("last:3 speaker:tool", "speaker:tool last:3"),
    ("oldest speaker:tool", "speaker:tool oldest"),
    ("after:turn_2 before:turn_8", "after:turn_2 before:turn_8"),
    ("newest about:Paris", "newest about:Paris"),
    ("speaker:assistant turn:3-5 about:the hotel", "speaker:assistant turn:3-5 about:the hotel"),
    ("forget speaker:user before:turn_5", "speaker:user before:turn_5"),
    ("please remove last:3, thanks", "last:3"),
    // From one end.
    ("forget the oldest message", "oldest"),
    ("delete the oldest utterance", "oldest"),
    ("the newest message", "newest"),
    ("erase the most recent entry", "newest"),
    ("forget the last one", "newest"),
    ("forget the oldest", "oldest"),
    ("forget the last three messages", "last:3"),
    ("Forget the last 3 messages.", "last:3"),
    ("forget the three last messages", "last:3"),
    ("remove the 5 oldest items", "first:5"),
    ("forget the last hundred messages", "last:100"),
    ("forget the last dozen messages", "last:12"),
    ("forget the last couple of messages", "last:2"),
    ("forget the last three", "last:3"),
    ("forget the first two messages of our conversation", "first:2"),
    // Who.
    ("forget my last message", "speaker:user newest"),
    ("forget your last answer", "speaker:assistant newest"),
    ("forget your last two replies", "speaker:assistant last:2"),
    ("forget the last response", "speaker:assistant newest"),
    ("please forget the first two user messages", "speaker:user first:2"),
    ("forget the user's last message", "speaker:user newest"),
    ("forget the last thing I said", "speaker:user newest"),
    ("forget the last two things you told me", "speaker:assistant last:2"),
    ("forget the first message I sent", "speaker:user oldest"),
    ("remove all tool results", "speaker:tool"),
    ("remove the tool outputs", "speaker:tool"),
    ("delete every tool response", "speaker:tool"),
    ("drop the last tool result", "speaker:tool newest"),
    ("forget what the tools returned", "speaker:tool"),
    ("forget the function results", "speaker:tool"),
    ("forget the system prompt", "speaker:system"),
    ("forget the system messages", "speaker:system"),
    ("delete all user messages", "speaker:user"),
    ("delete all of my messages", "speaker:user"),
    ("delete my messages", "speaker:user"),
    ("erase everything from the agent", "speaker:assistant"),
    ("erase everything written by the bot", "speaker:assistant"),
    ("forget everything the model said", "speaker:assistant"),
    ("forget all I said", "speaker:user"),
    ("forget whatever you've said", "speaker:assistant"),
    ("forget what the human said", "speaker:user"),
    ("forget Alice's messages", "name:Alice"),
    ("everything from Alice", "name:Alice"),
    ("forget everything from Alice Smith", "name:\"Alice Smith\""),
    ("forget what Bob said", "name:Bob"),
    ("forget what \"bob the builder\" said", "name:\"bob the builder\""),
    ("forget the last two messages from Bob", "name:Bob last:2"),
    ("forget James' last message", "name:James newest"),
    ("remove the tool results from get_weather", "speaker:tool name:get_weather"),
    // Places.
    ("erase turn 4", "turn:4"),
    ("erase turn four", "turn:4"),
    ("erase the fourth turn", "turn:4"),
    ("forget turn_4", "turn:4"),
    ("forget turns 2 through 4", "turn:2-4"),
    ("forget turns 2 and 3", "turn:2-3"),
    ("forget turns 2, 3 and 4", "turn:2-4"),
    ("forget the last 2 turns", "last:2_turns"),
    ("forget the last turn", "last:1_turn"),
    ("forget the first turn", "first:1_turn"),
    ("forget everything after turn 9", "after:turn_9"),
    ("forget everything between turn 2 and turn 4", "turn:2-4"),
    ("forget everything from turn 2 to turn 4", "turn:2-4"),
    ("forget everything from turn 4 on", "turn:4-"),
    ("forget all messages starting at turn 4", "turn:4-"),
    ("forget everything through turn 4", "before:turn_5"),
    ("forget the conversation before turn 5", "before:turn_5"),
    ("forget everything older than turn 7", "before:turn_7"),
    ("forget the last message of turn 4", "turn:4 newest"),
    ("forget the last three messages before turn 5", "before:turn_5 last:3"),
    ("drop messages 3 to 7", "position:3-7"),
    ("drop messages 3-7", "position:3-7"),
    ("drop messages 3, 4 and 5", "position:3-5"),
    ("drop message number 3", "position:3"),
    ("drop message #3", "position:3"),
    ("forget the 3rd message", "nth:3"),
    ("forget the second message", "nth:2"),
    ("forget the message at position 3", "position:3"),
    ("forget position 3", "position:3"),
    ("forget everything before message 5", "position:1-4"),
    ("forget everything after message 5", "position:6-"),
    ("delete sequence 12", "sequence:12"),
    ("delete sequences 12 to 15", "sequence:12-15"),
    // Topics.
    ("forget everything about Paris", "about:Paris"),
    ("forget about Paris", "about:Paris"),
    ("forget about: Paris", "about:Paris"),
    ("forget all messages mentioning the hotel", "about:the hotel"),
    ("forget everything related to my divorce, please", "about:my divorce"),
    ("forget everything about \"Paris, but not the hotel\"", "about:\"Paris, but not the hotel\""),
    ("forget everything about Paris before turn 5", "before:turn_5 about:Paris"),
    ("forget everything about Paris in this conversation", "about:Paris"),
    ("forget the last message about Paris", "newest about:Paris"),
    // Combinations.
    ("remove everything the user said before turn 5", "speaker:user before:turn_5"),
    ("forget what the assistant said about Paris", "speaker:assistant about:Paris"),
    ("forget what I said about my salary", "speaker:user about:my salary"),
    ("forget what I told you about my salary in turns 2 to 4", "speaker:user turn:2-4 about:my salary"),
    ("forget what Bob said about the budget", "name:Bob about:the budget"),
    ("forget everything said by the assistant after turn 9", "speaker:assistant after:turn_9"),
    ("forget what I said in the last two turns", "speaker:user last:2_turns"),
    // Everything.
    ("forget everything", "all"),
    ("clear the conversation", "all"),
    ("wipe the whole history", "all"),
    ("delete our entire chat history", "all"),
    ("forget all messages", "all"),
    ("erase every message in this conversation", "all"),
    ("clear the session", "all"),
    ("forget everything so far", "all"),
    // Several places.
    ("turn:2,4", "turn:2,4"),
    ("turn:7-,2-3,4", "turn:2-4,7-"),
    ("position:9,1-3", "position:1-3,9"),
    ("sequence:5,5,6", "sequence:5-6"),
    ("forget turn 2 and turn 4", "turn:2,4"),
    ("forget turns 2, 4 and 6 to 8", "turn:2,4,6-8"),
    ("forget messages 1 and 5", "position:1,5"),
    ("forget what I said in turns 2 and 4", "speaker:user turn:2,4"),
    // Several topics.
    ("about:\"Paris\",\"London\"", "about:\"Paris\",\"London\""),
    ("about:“Paris”, 'the hotel'", "about:\"Paris\",\"the hotel\""),
    ("about:\"Paris\",\"Paris\"", "about:Paris"),
    ("forget everything about Paris and London", "about:\"Paris\",\"London\""),
    ("forget everything about Paris, New York and London", "about:\"Paris\",\"New York\",\"London\""),
    ("forget my messages about my salary and my address", "speaker:user about:\"my salary\",\"my address\""),
    ("forget everything about terms and conditions", "about:\"terms\",\"conditions\""),
    ("forget everything about text in the terms of the lease", "about:text in the terms of the lease"),
    ("forget the last message about cats and dogs", "newest about:\"cats\",\"dogs\""),
    // Quoted.
    ("forget \"hunter2\"", "about:hunter2"),
    ("forget \"hunter2\" and \"swordfish\"", "about:\"hunter2\",\"swordfish\""),
    ("forget \"hunter2\" in turn 3", "turn:3 about:hunter2"),
    ("forget \"bob the builder\"'s messages", "name:\"bob the builder\""),
    // Retractions.
    ("scratch that", "speaker:user newest"),
    ("my last message", "speaker:user newest"),
    ("scratch my last two messages", "speaker:user last:2"),
    ("forget what I just said", "speaker:user newest"),
    ("forget what you just told me", "speaker:assistant newest"),
    // Times.
    ("since:2026-11-20", "since:2026-11-20"),
    ("before:2026-11-20T10:00:00Z", "before:2026-11-20T10:00:00Z"),
    ("since:2026-11-20T12:00+02:00, before:2026-11-21", "since:2026-11-20T10:00:00Z before:2026-11-21"),
    ("before:\"2026-11-20 10:00\" before:turn_4", "before:turn_4 before:2026-11-20T10:00:00Z"),
    ("forget today", "since:2026-11-22 before:2026-11-23"),
    ("forget everything I said today", "speaker:user since:2026-11-22 before:2026-11-23"),
    ("forget what I said yesterday", "speaker:user since:2026-11-21 before:2026-11-22"),
    (
        "forget what I said yesterday about Paris",
        "speaker:user since:2026-11-21 before:2026-11-22 about:Paris",
    ),
    ("forget everything from today", "since:2026-11-22 before:2026-11-23"),
    ("forget yesterday's messages", "since:2026-11-21 before:2026-11-22"),
    ("forget today's last message", "since:2026-11-22 before:2026-11-23 newest"),
    ("forget today's conversation", "since:2026-11-22 before:2026-11-23"),
    ("forget everything since yesterday", "since:2026-11-21"),
    ("forget everything from yesterday on", "since:2026-11-21"),
    ("forget everything before today", "before:2026-11-22"),
    ("forget everything after yesterday", "since:2026-11-22"),
    ("clear the conversation before yesterday", "before:2026-11-21"),
    ("forget everything before 5 pm", "before:2026-11-22T17:00:00Z"),
    ("forget everything since 10 am", "since:2026-11-22T10:00:00Z"),
    ("forget everything since 10:15 on November 20", "since:2026-11-20T10:15:00Z"),
    ("forget everything until noon", "before:2026-11-22T12:00:00Z"),
    ("forget everything between 10 am and 11:30", "since:2026-11-22T10:00:00Z before:2026-11-22T11:30:00Z"),
    ("forget everything before 2026-11-20", "before:2026-11-20"),
    ("forget everything before 2026-11-20T10:00:00Z", "before:2026-11-20T10:00:00Z"),
    ("forget all messages since November 20", "since:2026-11-20"),
    ("forget what Bob said on November 20th, 2025", "name:Bob since:2025-11-20 before:2025-11-21"),
    ("forget everything older than a week", "before:2026-11-15T12:30:15Z"),
    ("forget everything newer than 2 days", "since:2026-11-20T12:30:15Z"),
    ("forget everything since an hour ago", "since:2026-11-22T11:30:15Z"),
    ("forget the last hour", "since:2026-11-22T11:30:15Z"),
    ("forget the last 5 minutes", "since:2026-11-22T12:25:15Z"),
    ("forget what you said in the last two hours", "speaker:assistant since:2026-11-22T10:30:15Z"),
    ("forget the last two messages before 10 am", "before:2026-11-22T10:00:00Z last:2"),
    // Politeness.
    ("could you please forget the last message?", "newest"),
    ("FORGET THE LAST THREE MESSAGES", "last:3"),
    // Several, and all but.
    ("turn:2 or oldest", "turn:2 or oldest"),
    ("all except last:3", "all except last:3"),
    ("ALL Except Last:3", "all except last:3"),
    ("forget all except last:3", "all except last:3"),
    (
        "speaker:user or name:Bob last:2 except turn:4 or newest",
        "speaker:user or name:Bob last:2 except turn:4 or newest",
    ),
    ("about:\"Paris\" except about:the hotel", "about:\"Paris\" except about:the hotel"),
    ("about:\"Paris\",\"Rome\" or oldest", "about:\"Paris\",\"Rome\" or oldest"),
    ("about:\"Paris\" last:2 before:turn_5", "before:turn_5 last:2 about:Paris"),
    ("nth:2,5", "nth:2,5"),
    ("speaker:user nth:3-", "speaker:user nth:3-"),
    ("keep only the last two messages", "all except last:2"),
    ("forget message 4 in turn 2", "turn:2 nth:4"),
    ("forget everything mentioning Rex and the vet", "about:Rex the vet"),
    ("forget the message about Paris", "about:Paris"),
    ("forget the user message", "speaker:user"),
    ("forget the third user message", "speaker:user nth:3"),
    ("forget the first and last message", "oldest or newest"),
    ("forget everything about Paris or London", "about:\"Paris\",\"London\""),
    ("forget everything except the last message", "all except newest"),
    ("forget everything but the last two", "all except last:2"),
    ("forget all but the last two messages", "all except last:2"),
    ("forget everything other than turn 3", "all except turn:3"),
    ("forget everything apart from turn 3", "all except turn:3"),
    ("forget everything from Monday", "since:2026-11-16 before:2026-11-17"),
    ("forget everything before Monday", "before:2026-11-16"),
    (
        "forget what I said about Paris yesterday",
        "speaker:user since:2026-11-21 before:2026-11-22 about:Paris",
    ),
];

/// Phrasings that are refused, each with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("", "empty"),
    (" \t\n", "empty"),
    ("banana", "no instruction"),
    ("the", "no object"),
    ("forget", "no object"),
    ("please", "no object"),
    ("could you the last message", "no verb"),
    ("remember the last message", "another verb"),
    ("foo:bar", "unknown form"),
    ("last:0", "counts from 1"),
    ("last:-3", "negative"),
    ("last:", "no value"),
    ("last:three", "digits only"),
    ("last:4294967296", "overflow"),
    ("sequence:18446744073709551616", "overflow"),
    ("sequence:0", "counts from 1"),
    ("position:0", "counts from 1"),
    ("position:7-3", "reversed"),
    ("position:3-x", "not a number"),
    ("position:-3", "not a range"),
    ("turn:0", "counts from 1"),
    ("before:turn_0", "nothing before it"),
    ("before:5", "of what?"),
    ("before:turn_", "no number"),
    ("after:yesterday", "no turn"),
    ("speaker:robot", "unknown role"),
    ("speaker:", "no role"),
    ("name:", "no name"),
    ("name:\"Alice", "open quote"),
    ("name:\"Alice\"Smith", "text after the quote"),
    ("name:Alice Smith", "quotes are missing"),
    ("id:", "no id"),
    ("about:", "no text"),
    ("about:???", "no word"),
    ("about:Paris but not the hotel", "exception"),
    ("about:Paris before:turn_5", "about comes last"),
    ("all:3", "takes no value"),
    ("all speaker:user", "contradiction"),
    ("all, last:3", "contradiction"),
    ("id:x speaker:user", "an id stands alone"),
    ("speaker:user speaker:tool", "nobody is both"),
    ("speaker:user, speaker:user", "twice"),
    ("last:3 first:2", "two counts"),
    ("last:3 or", "dangling"),
    ("last:3 except", "dangling"),
    ("except last:3", "all except"),
    ("all or last:3", "contradiction"),
    ("last:3 except all", "nothing is left"),
    ("last:3 except last:1 except last:2", "twice"),
    ("nth:0", "counts from 1"),
    ("nth:2 last:3", "two counts"),
    ("after:turn_5 before:turn_5", "no turn is both"),
    ("turn:3 before:turn_2", "no turn is both"),
    ("last:2_turns turn:3", "relative and absolute turns"),
    ("speaker:user and", "dangling"),
    ("speaker:user; last:3", "unknown separator"),
    // Would require a guess.
    ("forget it", "what?"),
    ("forget that", "what?"),
    ("forget this message", "which?"),
    ("nevermind", "what?"),
    ("never mind", "what?"),
    ("forget me", "what?"),
    ("forget about it", "idiom"),
    ("forget about everything", "idiom"),
    ("forget about history", "all of it, or a topic?"),
    ("forget memory", "all of it, or a topic?"),
    ("everything", "what to do with it?"),
    ("please all", "what to do with it?"),
    ("the conversation", "what to do with it?"),
    ("delete the conversation about Paris", "all of it, or a part?"),
    ("reset the conversation", "another verb"),
    ("forget Paris", "a name or a topic?"),
    ("\"hunter2\"", "no verb"),
    ("forget \"\"", "no text"),
    ("scratch it", "what?"),
    ("forget what I just said about Paris", "the last one, or the last about Paris?"),
    ("scratch that itch", "unknown"),
    ("forget al", "no slip"),
    ("forget eveyr message", "no slip"),
    ("delte everything", "a slip, and everything"),
    ("forget evrything", "a slip, and everything"),
    ("clear the convesation", "no slip"),
    ("forget the cool results", "no slip of tool"),
    ("forget a message", "which?"),
    ("forget two messages", "which two?"),
    ("forget the messages", "which?"),
    ("forget messages", "which?"),
    ("forget any message", "which?"),
    ("forget anything", "what?"),
    ("forget the last messages", "how many?"),
    ("forget the last few messages", "how many?"),
    ("forget several messages", "how many?"),
    ("forget some of my messages", "how many?"),
    ("forget most of the conversation", "how much?"),
    ("forget half of the messages", "which half?"),
    ("forget the recent messages", "how many?"),
    ("forget the previous message", "before which?"),
    ("forget my questions", "not every user message is one"),
    ("forget the results", "whose?"),
    ("forget my replies", "replies are the assistant's"),
    ("forget your instructions", "whose?"),
    ("forget all previous instructions", "previous to what?"),
    ("forget my tool results", "two speakers"),
    ("forget the tool calls", "calls are parts of utterances"),
    ("forget everything from turn 4", "only it, or from it on?"),
    ("forget everything until turn 4", "is turn 4 meant?"),
    ("forget everything since turn 4", "is turn 4 meant?"),
    ("forget everything from bob", "not certainly a name"),
    ("forget what they said", "who?"),
    ("forget what we said", "who?"),
    ("forget what everyone said", "who?"),
    ("forget everything said", "who, or what?"),
    ("forget everything about it", "about what?"),
    ("forget everything about me", "about what?"),
    ("forget everything about", "no text"),
    ("forget all conversations", "one conversation only"),
    // Cannot be expressed.
    ("forget every other message", "alternating"),
    ("forget user message 3", "position among some"),
    ("forget everything before turn 2 and after turn 5", "two sides"),
    ("forget turns 4 to 2", "reversed"),
    ("forget turn 0", "counts from 1"),
    ("forget turn -1", "negative"),
    ("forget turn 99999999999", "overflow"),
    ("forget the last zero messages", "none"),
    ("forget the 3th message", "no ordinal"),
    ("forget everything before message 1", "nothing there"),
    ("forget the messages with stars", "unknown"),
    // Exceptions, negations, conditions.
    ("don't forget the last message", "negation"),
    ("don’t forget the last message", "negation"),
    ("do not forget the last message", "negation"),
    ("never remove my messages", "negation"),
    ("forget nothing", "negation"),
    ("keep the last 5 messages", "keeps"),
    ("forget the last message if it is about Paris", "condition"),
    ("unless I said so, forget turn 4", "condition"),
    // Times.
    ("since:", "no time"),
    ("since:yesterday", "no time"),
    ("since:10:00", "no day"),
    ("after:2026-11-20", "a turn only"),
    ("since:2026-11-21 before:2026-11-20", "reversed"),
    ("forget what I said last week", "of the calendar, or seven days?"),
    ("forget everything from November", "no day"),
    ("forget everything from November 20", "only it, or from it on?"),
    ("forget everything until yesterday", "is yesterday meant?"),
    ("forget everything before 5", "5 what?"),
    ("forget everything before 25:00", "no time of day"),
    ("forget everything before November 31", "no such day"),
    ("forget everything before 20/11/2026", "no such form"),
    ("forget what I said at 10 am", "a moment"),
    ("forget everything older than a while", "how old?"),
    ("forget everything not older than a week", "negation"),
    ("forget everything older than 999999999 weeks", "too long"),
    ("forget everything between 11 am and 10 am", "reversed"),
    ("forget everything between yesterday and 2026-11-22", "in order on some days only"),
    ("forget everything since 10 am before turn 3 after 9 am", "two times"),
    ("forget everything about Paris since November 20", "said then, or about then?"),
    ("forget everything about the call at 5 pm", "said then, or about then?"),
    ("forget what I said about Paris last week", "time"),
    // Two instructions.
    ("forget the first message and remember this", "two"),
    ("forget the first message. Keep the rest.", "two"),
    ("forget turn 4, then summarize", "two"),
    ("forget everything about Paris and remember London", "two"),
    ("forget everything about Paris. Then start over", "two"),
    ("forget everything about Paris and the last message", "two"),
    ("forget everything about Paris and my messages", "two"),
    ("forget everything about Paris and about it", "about what?"),
    ("forget Paris and London", "names or topics?"),
    // After a topic, an invalid place, or a speaker that could be part of it.
    ("forget everything about Paris before turn", "no number"),
    ("forget everything about Paris before turn zero", "counts from 1"),
    ("forget everything about Paris in the last three messages", "no such place"),
    ("forget everything about Paris until turn 5", "is turn 5 meant?"),
    ("forget everything about Paris from the user", "part of the text?"),
    ("forget everything about turn 3", "a place or a text?"),
    // Other sentences.
    ("did I forget the last message?", "question"),
    ("forget the last message?", "question"),
    ("I forgot the last message", "statement"),
    ("what did I say about Paris?", "question"),
    ("permanently delete the last message", "the mode is not told here"),
    ("forget the last message \"", "open quote"),
    ("forget the last message 🙂", "unknown sign"),
    ("oublie le dernier message", "another language"),
];

#[test]
fn accepted_phrasings_have_their_short_form() {
    let wrong: Vec<_> = ACCEPTED
        .iter()
        .filter_map(|(text, form)| match parse(text) {
            Ok(instruction) if instruction.to_string() == *form => None,
            other => Some(format!("{text:?}: {form}, not {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refused_phrasings_are_refused() {
    let accepted: Vec<_> = REFUSED
        .iter()
        .filter_map(|(text, why)| {
            parse(text).ok().map(|instruction| format!("{text:?} ({why}): {instruction}"))
        })
        .collect();
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

#[test]
fn an_error_names_the_part_and_the_forms() {
    let error = |text: &str| parse(text).err().map(|error| error.to_string()).unwrap_or_default();
    let told = error("forget the last message and sing");
    assert!(told.contains("\"and sing\""), "{told}");
    assert!(told.contains("before:turn_N") && told.contains("speaker:system|user|assistant|tool"), "{told}");
    assert!(!told.contains('\n'), "{told}");
    let told = error("last:2 speaker:robot");
    assert!(
        told.contains("\"speaker:robot\"") && told.contains("system, user, assistant and tool"),
        "{told}"
    );
    let long = error(&format!("forget {}", "x".repeat(4_000)));
    assert!(long.len() < 1_000, "{long}");
}

#[test]
fn an_error_tells_what_may_be_meant() {
    for (text, forms) in [
        ("forget Marco", "perhaps about:Marco or name:Marco"),
        ("Marco", "perhaps about:Marco or name:Marco"),
        ("forget Paris and London", "perhaps about:\"Paris\",\"London\""),
        ("forget everything from bob", "perhaps name:bob"),
        ("forget what bob said", "perhaps name:bob"),
        ("forget everything until turn 4", "perhaps before:turn_4 or before:turn_5"),
        ("forget everything since turn 4", "perhaps turn:4- or after:turn_4"),
    ] {
        let told = parse(text).expect_err(text).to_string();
        assert!(told.contains(forms), "{text}: {told}");
    }
    let hopeless = ["forget it", "forget", "forget the messages", "forget everything but Marco"];
    for text in hopeless.into_iter().chain(["forget what they said", "clear teh conversation"]) {
        let told = parse(text).expect_err(text).to_string();
        assert!(!told.contains("perhaps"), "{text}: {told}");
    }
}

/// Whether an instruction is understood does not depend on the time, but its meaning does.
#[test]
fn a_time_is_told_from_when_it_is_asked_for() {
    let asked = forgetting::parse("forget what I said yesterday").expect("understood");
    assert!(asked.is_english());
    let at = |time: i64| asked.at(Timestamp(time)).to_string();
    assert_eq!(at(0), "speaker:user since:1969-12-31 before:1970-01-01");
    assert_eq!(at(NOW.0 + 86_400_000_000), "speaker:user since:2026-11-22 before:2026-11-23");
    for (text, is_english) in [("forget speaker:user", false), ("speaker:user", false), ("forget all", true)]
    {
        assert_eq!(forgetting::parse(text).expect(text).is_english(), is_english, "{text}");
    }
}

#[test]
fn an_instruction_beyond_the_limit_is_refused() {
    let text = |length: usize| format!("about:{}", "x".repeat(length - "about:".len()));
    assert!(parse(&text(MAX_INSTRUCTION_BYTES)).is_ok());
    assert_eq!(
        parse(&text(MAX_INSTRUCTION_BYTES + 1)),
        Err(InstructionError::TooLong(MAX_INSTRUCTION_BYTES + 1))
    );
}

/// Whether a sentence can mean everything stored: besides where that is, it has only words of a closed list, of which
/// one names the whole.
fn is_sweeping(sentence: &str) -> bool {
    let mut spaced = sentence.replace(['.', ',', '?'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    for place in [" in this chat", " from the conversation"] {
        spaced = spaced.replace(place, "");
    }
    let words = || spaced.split(' ');
    words().all(|word| NAMING_THE_WHOLE.contains(&word) || BESIDE_THE_WHOLE.contains(&word))
        && words().any(|word| NAMING_THE_WHOLE.contains(&word))
}

const NAMING_THE_WHOLE: &[&str] = &["everything", "all", "every", "whole", "conversation", "history", "chat"];

/// The verbs and their parts, politeness, and what can stand beside the words that name the whole.
const BESIDE_THE_WHOLE: &[&str] = &[
    "forget", "remove", "clear", "wipe", "get", "rid", "please", "could", "you", "thanks", "and", "of",
    "the", "our", "message", "messages", "so", "far",
];

/// Pieces of sentences, sensible and not.
const PIECES: &[&str] = &[
    "please",
    "could you",
    "forget",
    "remove",
    "clear",
    "wipe",
    "get rid of",
    "all",
    "all of",
    "everything",
    "anything",
    "every",
    "the",
    "whole",
    "conversation",
    "the conversation",
    "our chat",
    "history",
    "messages",
    "message",
    "the messages",
    "user",
    "tool results",
    "my",
    "your",
    "Alice's",
    "last",
    "first",
    "oldest",
    "three",
    "3",
    "-1",
    "0",
    "turn",
    "turn 4",
    "turns 2 to 4",
    "before",
    "after turn 2",
    "from",
    "from Alice",
    "in",
    "of",
    "in this chat",
    "from the conversation",
    "so far",
    "about",
    "about Paris",
    "about it",
    "Paris",
    "that",
    "I said",
    "what",
    "was said",
    "and",
    "or",
    "then",
    ",",
    ".",
    "?",
    "\"quoted\"",
    "'",
    "\"",
    "(",
    ":",
    "last:2",
    "speaker:user",
    "all:",
    "name:",
    "id:x",
    "about:y",
    "thanks",
    ", thanks",
    "🙂",
    "é",
    "“",
    "\u{0}",
    "turn_",
    "turn_5",
    "hundred",
    "twenty-one",
    "3rd",
    "99999999999999999999",
    "forgt",
    "al",
    "evrything",
    "mesages",
    "today",
    "yesterday",
    "since 10 am",
    "before November 20",
    "older than a week",
    "the last hour",
    "turn:2,4",
    "since:2026-11-20",
    "about Rome and my hotel",
    "scratch that",
];

/// Words that reverse the meaning of a sentence.
const TURNING: [&str; 8] = ["except", "but", "not", "unless", "keep", "don't", "never", "without"];

fn sentence() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..7)
        .prop_map(|pieces| pieces.join(" ").replace(" ,", ","))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-zA-Z0-9 \"'\\\\,:’“”-]{1,24}", sentence()]
}

fn numbers(most: u64) -> impl Strategy<Value = Numbers> {
    let range = prop_oneof![(1..20_u64, 0..20_u64), (1..=most, Just(0)), (1..20_u64, Just(u64::MAX))];
    let range = range.prop_filter_map("is a range", move |(start, more)| match more {
        u64::MAX => Numbers::from(start).ok(),
        more => Numbers::range(start, start.saturating_add(more).min(most)).ok(),
    });
    prop::collection::vec(range, 1..4)
        .prop_map(|ranges| ranges.iter().skip(1).fold(ranges[0].clone(), |all, one| all.and(one)))
}

/// Within the years that are written, to the microsecond.
fn time() -> impl Strategy<Value = Timestamp> {
    let day = 86_400_000_000;
    prop_oneof![0..100_000 * day, (0..100_000_i64).prop_map(move |days| days * day)].prop_map(Timestamp)
}

fn criterion() -> impl Strategy<Value = Criterion> {
    let turn = || prop_oneof![1..20_u32, Just(u32::MAX)];
    prop_oneof![
        Just(Criterion::All),
        text().prop_map(Criterion::Id),
        numbers(u64::MAX).prop_map(Criterion::Sequence),
        numbers(u32::MAX.into()).prop_map(Criterion::Position),
        prop::sample::select(&Role::ALL[..]).prop_map(Criterion::Speaker),
        text().prop_map(Criterion::Name),
        numbers(u32::MAX.into()).prop_map(Criterion::Turn),
        turn().prop_map(Criterion::FirstTurns),
        turn().prop_map(Criterion::LastTurns),
        turn().prop_map(Criterion::AfterTurn),
        turn().prop_map(Criterion::BeforeTurn),
        time().prop_map(Criterion::Since),
        time().prop_map(Criterion::Before),
        prop::collection::vec(text(), 1..4).prop_map(Criterion::About),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let count = || prop_oneof![1..20_u32, Just(u32::MAX)];
    let nth = numbers(u32::MAX.into()).prop_map(Take::Nth);
    let take = prop_oneof![count().prop_map(Take::Oldest), count().prop_map(Take::Newest), nth];
    let parts = (prop::collection::vec(criterion(), 0..4), prop::option::of(take));
    parts.prop_map(|(criteria, take)| Part::new(criteria, take))
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let sound = || {
        part().prop_filter("contradicts itself", |part| Instruction::of(vec![part.clone()], vec![]).is_ok())
    };
    let parts = (prop::collection::vec(sound(), 1..3), prop::collection::vec(sound(), 0..3));
    parts.prop_filter_map("cannot be combined", |(parts, except)| Instruction::of(parts, except).ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_048, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_short_form_reads_back(instruction in instruction()) {
        let form = instruction.to_string();
        prop_assert_eq!(parse(&form), Ok(instruction), "{}", form);
    }

    #[test]
    fn what_a_sentence_means_reads_back(sentence in sentence()) {
        if let Ok(instruction) = parse(&sentence) {
            let form = instruction.to_string();
            prop_assert_eq!(parse(&form), Ok(instruction), "{}", form);
        }
    }

    #[test]
    fn no_input_panics(text in text()) {
        let _ = parse(&text);
        let _ = parse(&format!("forget {text}"));
        let _ = parse(&format!("about:{text}"));
    }

    #[test]
    fn everything_is_meant_by_a_closed_list_only(sentence in sentence()) {
        if let Ok(instruction) = parse(&sentence) && instruction.to_string() == "all" {
            prop_assert!(is_sweeping(&sentence), "{}", sentence);
        }
    }

    /// Whatever letter is wrong, missing or extra in a sentence that means a part, it never means everything.
    #[test]
    fn a_slip_of_the_pen_never_means_everything(
        (phrase, form) in prop::sample::select(ACCEPTED),
        at in any::<prop::sample::Index>(),
        letter in prop::option::of(prop::char::range('a', 'z')),
        keeps in any::<bool>(),
    ) {
        prop_assume!(form != "all" && !phrase.contains([':', '"', '“', '\'']));
        let mut letters: Vec<char> = phrase.chars().collect();
        let at = at.index(letters.len());
        prop_assume!(letters[at].is_ascii_alphabetic());
        let after = at + usize::from(!keeps);
        letters.splice(at..after, letter);
        let slip: String = letters.into_iter().collect();
        if let Ok(instruction) = parse(&slip) {
            prop_assert!(instruction.to_string() != "all", "{}", slip);
        }
    }

    #[test]
    fn a_word_that_turns_the_meaning_is_never_passed_over(
        (phrase, form) in prop::sample::select(ACCEPTED),
        word in prop::sample::select(&TURNING[..]),
        at in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!phrase.contains(['"', '“', '\'']) && !form.contains("except"));
        let mut words: Vec<&str> = phrase.split(' ').collect();
        words.insert(at.index(words.len() + 1), word);
        let turned = words.join(" ");
        // "But", "except" and "keep" can make an exception of what follows them.
        if let Ok(instruction) = parse(&turned) {
            prop_assert!(["but", "except", "keep"].contains(&word) && !instruction.except().is_empty(), "{}", turned);
        }
    }

    #[test]
    fn a_word_that_is_not_known_is_never_passed_over(
        (phrase, form) in prop::sample::select(ACCEPTED),
        word in prop::sample::select(&["banana", "tomorrow", "Tuesday", "otter's", "42", "ago", "hourly"][..]),
        at in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!form.contains("about") && phrase.contains(' ') && !phrase.contains(['"', '“', '\'']));
        let mut words: Vec<&str> = phrase.split(' ').collect();
        let at = at.index(words.len() + 1);
        words.insert(at, word);
        let longer = words.join(" ");
        // A number, a day, or the name of a tool or of the owner of some messages, can fit into a sentence, and then changes its meaning.
        if let Ok(instruction) = parse(&longer) {
            // "Newer than 2 days" and "newer than 2 days ago" mean the same.
            let same = word == "ago" && phrase.contains("than");
            let of_tool = phrase.contains("tool") || phrase.contains("function");
            let named = of_tool || ["42", "otter's", "Tuesday"].contains(&word);
            let other = named && instruction.to_string() != form;
            prop_assert!(same || other, "{}: {}", longer, instruction);
        }
    }
}
