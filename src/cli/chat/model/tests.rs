//! Chats without a terminal: events in, effects out.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Chat;
use crate::cli::chat::{
    event::{Done, Draft, Effect, Event, Opening, Reply, Stored, Task, Window},
    transcript::{Entry, last_rows},
};
use crate::proto::{
    Capacity, CompactionAdvice, CompactionAnswer, Role, SummaryCapacity, ToolCall, Utterance,
};

/// A chat in a conversation of this many utterances, in a terminal of 80 by 24.
pub fn chat(utterances: i64, model: Option<&str>) -> Chat {
    let opening =
        Opening { conversation_id: "demo".into(), window: window(1, utterances), note: "hello".into() };
    Chat::new(opening, model.map(str::to_owned), (80, 24))
}

/// A window of the utterances from `first` to `last`, alternately the user's and the assistant's; what came
/// before them is summarised.
pub fn window(first: i64, last: i64) -> Window {
    let role = |sequence| if sequence % 2 == 1 { Role::User } else { Role::Assistant };
    let utterances: Vec<_> = (first..=last)
        .map(|sequence| said(sequence, role(sequence), &format!("message {sequence}")))
        .collect();
    let covered = i32::try_from(first - 1).unwrap();
    Window { capacity: capacity(utterances.len(), covered), utterances, in_memory: false }
}

fn capacity(utterances: usize, covered: i32) -> Capacity {
    let summary = SummaryCapacity { covered_utterance_count: Some(covered), ..Default::default() };
    Capacity {
        utterance_count: Some(i32::try_from(utterances).unwrap()),
        total_token_count: Some(1_234),
        summary: Some(summary),
        ..Default::default()
    }
}

pub fn said(sequence: i64, role: Role, content: &str) -> Utterance {
    Utterance { sequence, role: role.into(), content: content.into(), ..Default::default() }
}

fn press(chat: &mut Chat, code: KeyCode) -> Vec<Effect> {
    chat.update(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn control(chat: &mut Chat, letter: char) -> Vec<Effect> {
    chat.update(Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)))
}

/// Types text and Enter.
pub fn enter(chat: &mut Chat, text: &str) -> Vec<Effect> {
    for character in text.chars() {
        assert_eq!(press(chat, KeyCode::Char(character)), []);
    }
    press(chat, KeyCode::Enter)
}

fn draft(role: Role, text: &str, attempt: u64) -> Draft {
    Draft { role, text: text.into(), attempt, ..Draft::default() }
}

fn reply(text: &str) -> Event {
    Event::Reply(Reply { text: text.into(), calls: Vec::new() })
}

/// The server has stored a draft as the utterance `sequence`.
pub fn stored(sequence: i64, draft: &Draft, advice: Option<CompactionAdvice>) -> Event {
    let count = usize::try_from(sequence).unwrap();
    Event::Stored(Box::new(Stored {
        utterance: Utterance { tool_calls: draft.calls.clone(), ..said(sequence, draft.role, &draft.text) },
        evicted: Vec::new(),
        capacity: Capacity { compaction_advice: advice, ..capacity(count, 0) },
        started_anew: false,
    }))
}

pub const ADVICE: CompactionAdvice =
    CompactionAdvice { threshold: Some(50), utterance_count: Some(51), keep_recent: Some(15) };

/// A chat whose user was just advised to compact.
fn advised(model: Option<&str>) -> Chat {
    let mut chat = chat(50, model);
    enter(&mut chat, "one more");
    let effects = chat.update(stored(51, &draft(Role::User, "one more", 1), Some(ADVICE)));
    assert_eq!((effects, asks(&chat)), (vec![], true));
    chat
}

/// Whether the question whether to compact is on the screen.
fn asks(chat: &Chat) -> bool {
    chat.panel().iter().any(|row| row.contains("[Y] Yes"))
}

/// A chat whose model has begun to reply.
fn replying(piece: &str) -> Chat {
    let mut chat = chat(0, Some("m"));
    enter(&mut chat, "hi");
    chat.update(stored(1, &draft(Role::User, "hi", 1), None));
    chat.update(Event::Piece(piece.into()));
    chat
}

/// The rows that the transcript shows.
fn shown(chat: &Chat) -> Vec<String> {
    let rows = last_rows(&chat.entries(), usize::MAX, 80);
    rows.into_iter().map(|row| format!("{}{}", row.speaker, row.text)).collect()
}

fn last_row(chat: &Chat) -> String {
    shown(chat).pop().unwrap()
}

#[test]
fn what_is_said_is_stored_before_the_model_is_asked_and_the_reply_after_it() {
    let mut chat = chat(2, Some("m"));
    let question = draft(Role::User, "and now?", 1);
    assert_eq!(enter(&mut chat, "and now? "), [Effect::Memorize(question.clone())]);
    assert_eq!(chat.update(stored(3, &question, None)), [Effect::Ask]);
    chat.update(Event::Piece("That ".into()));
    chat.update(Event::Piece("is all.".into()));
    assert_eq!(last_row(&chat), "assistant  That is all.");
    let answer = draft(Role::Assistant, "That is all.", 2);
    assert_eq!(chat.update(reply("That is all.")), [Effect::Memorize(answer.clone())]);
    assert_eq!(chat.update(stored(4, &answer, None)), []);
    assert_eq!(shown(&chat)[3..], ["user       and now?", "assistant  That is all."]);
}

#[test]
fn without_a_model_what_is_said_is_only_stored() {
    let mut chat = chat(0, None);
    enter(&mut chat, "hi");
    assert_eq!(chat.update(stored(1, &draft(Role::User, "hi", 1), None)), []);
    enter(&mut chat, "/retry");
    assert_eq!(last_row(&chat), "! no model is named: start the chat with --model");
}

#[test]
fn the_question_comes_before_the_model_and_each_answer_is_passed_on() {
    let answers = [
        ("y", CompactionAnswer::CompactNow),
        ("N", CompactionAnswer::NotNow),
        ("v", CompactionAnswer::NeverThisSession),
    ];
    for (line, answer) in answers {
        let mut chat = advised(Some("m"));
        assert_eq!(enter(&mut chat, line), [Effect::Do(Task::Answer(answer))]);
        assert_eq!((asks(&chat), chat.input().text()), (false, ""));
        assert_eq!(chat.update(Event::Done(Done::default())), [Effect::Ask]);
    }
    let not_now = Effect::Do(Task::Answer(CompactionAnswer::NotNow));
    assert_eq!(press(&mut advised(None), KeyCode::Esc), [not_now]);
}

#[test]
fn the_question_takes_no_key_of_what_is_typed() {
    let mut chat = advised(Some("m"));
    for character in "yes, no, very".chars() {
        assert_eq!(press(&mut chat, KeyCode::Char(character)), []);
    }
    assert!(asks(&chat));
    let not_now = Effect::Do(Task::Answer(CompactionAnswer::NotNow));
    assert_eq!(press(&mut chat, KeyCode::Enter), [not_now]);
    assert_eq!(chat.input().text(), "yes, no, very");
    assert_eq!(chat.update(Event::Done(Done::default())), [Effect::Ask]);
    let reply_draft = draft(Role::Assistant, "ho", 2);
    assert_eq!(chat.update(reply("ho")), [Effect::Memorize(reply_draft.clone())]);
    let next = draft(Role::User, "yes, no, very", 3);
    assert_eq!(chat.update(stored(52, &reply_draft, None)), [Effect::Memorize(next)]);
}

#[test]
fn what_was_typed_ahead_is_no_answer() {
    let mut chat = chat(50, Some("m"));
    enter(&mut chat, "one more");
    assert_eq!(enter(&mut chat, "y"), []);
    assert_eq!(chat.update(stored(51, &draft(Role::User, "one more", 1), Some(ADVICE))), []);
    assert_eq!((asks(&chat), chat.input().text()), (true, "y"));
}

#[test]
fn a_command_that_compacts_answers_the_question() {
    let mut chat = advised(Some("m"));
    assert_eq!(enter(&mut chat, "/summary"), [Effect::Do(Task::Summary)]);
    assert_eq!(chat.update(Event::Done(Done::default())), []);
    assert!(asks(&chat));
    enter(&mut chat, "/compact");
    let done = Done { window: Some(window(38, 51)), ..Done::default() };
    assert_eq!(chat.update(Event::Done(done)), [Effect::Ask]);
    assert!(!asks(&chat));
}

#[test]
fn a_compaction_that_is_refused_does_not_keep_the_reply_away() {
    let mut chat = advised(Some("m"));
    enter(&mut chat, "y");
    assert_eq!(chat.update(Event::Refused("it would save nothing [IRREDUCIBLE]".into())), [Effect::Ask]);
    assert_eq!(last_row(&chat), "! it would save nothing [IRREDUCIBLE]");
}

#[test]
fn advice_behind_a_reply_waits_for_the_user() {
    let mut chat = chat(48, Some("m"));
    let question = draft(Role::User, "hi", 1);
    enter(&mut chat, "hi");
    chat.update(stored(49, &question, None));
    chat.update(reply("ho"));
    chat.update(stored(50, &draft(Role::Assistant, "ho", 2), Some(ADVICE)));
    assert!(!asks(&chat));
}

#[test]
fn after_a_compaction_the_window_is_what_the_server_says() {
    let mut chat = advised(None);
    enter(&mut chat, "y");
    let done = Done { note: Some("compacted".into()), window: Some(window(38, 52)), ..Done::default() };
    assert_eq!(chat.update(Event::Done(done)), []);
    let shown = shown(&chat);
    assert_eq!(
        shown[..2],
        ["─── 37 earlier messages in the summary; /summary shows it", "assistant  message 38"]
    );
    assert_eq!(
        shown[13..],
        ["assistant  message 50", "· hello", "user       message 51", "assistant  message 52", "· compacted"]
    );
}

#[test]
fn what_leaves_the_window_leaves_the_transcript() {
    let mut chat = chat(3, None);
    enter(&mut chat, "hi");
    let Event::Stored(mut left) = stored(4, &draft(Role::User, "hi", 1), None) else { unreachable!() };
    left.evicted = vec![1, 2];
    chat.update(Event::Stored(left));
    let said = |entry: &Entry| match entry {
        Entry::Said(utterance) => Some(utterance.sequence),
        _ => None,
    };
    assert_eq!(chat.entries().iter().filter_map(said).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn what_others_said_meanwhile_is_read() {
    let mut chat = chat(2, Some("m"));
    enter(&mut chat, "hi");
    let effects = chat.update(stored(5, &draft(Role::User, "hi", 1), None));
    assert_eq!(effects, [Effect::Refresh, Effect::Ask]);
    chat.update(Event::Refreshed(window(1, 5)));
    assert_eq!(shown(&chat)[3..5], ["user       message 3", "assistant  message 4"]);
    let mut newer = window(1, 6);
    newer.capacity.revision = 9;
    chat.update(Event::Refreshed(newer));
    chat.update(Event::Refreshed(window(1, 5)));
    assert_eq!(last_row(&chat), "assistant  message 6");
}

#[test]
fn a_model_that_fails_loses_nothing_and_is_asked_again() {
    let mut chat = replying("");
    assert_eq!(chat.update(Event::NoReply("the reply is empty".into())), []);
    let expected =
        ["user       hi", "! no reply: the reply is empty", "  your message is stored; /retry asks again"];
    assert_eq!(shown(&chat)[1..], expected);
    assert_eq!(enter(&mut chat, "/retry"), [Effect::Ask]);
}

#[test]
fn a_reply_that_was_broken_off_stays_and_is_stored_when_asked() {
    let breaks: [fn(&mut Chat) -> Vec<Effect>; 3] = [
        |chat| press(chat, KeyCode::Esc),
        |chat| control(chat, 'c'),
        |chat| chat.update(Event::NoReply("the reply was cut off".into())),
    ];
    for break_off in breaks {
        let mut chat = replying("Half a");
        break_off(&mut chat);
        assert_eq!(shown(&chat)[2..4], ["assistant  Half a", "           (broken off)"]);
        assert!(last_row(&chat).contains("/keep stores this much of the reply, /retry asks again"));
        assert_eq!(chat.update(reply("too late")), []);
        assert_eq!(chat.update(Event::Piece("too late".into())), []);
        let broken = Draft { broken_off: true, ..draft(Role::Assistant, "Half a", 2) };
        assert_eq!(enter(&mut chat, "/keep"), [Effect::Memorize(broken.clone())]);
        chat.update(stored(2, &broken, None));
        assert_eq!(shown(&chat).iter().filter(|row| row.contains("Half a")).count(), 1);
        enter(&mut chat, "/keep");
        assert_eq!(last_row(&chat), "! there is no reply that is not stored");
    }
}

#[test]
fn a_reply_that_was_broken_off_stays_in_its_place_while_the_talk_goes_on() {
    let mut chat = replying("Half a");
    press(&mut chat, KeyCode::Esc);
    let next = draft(Role::User, "go on", 3);
    assert_eq!(enter(&mut chat, "go on"), [Effect::Memorize(next.clone())]);
    assert_eq!(chat.update(stored(2, &next, None)), [Effect::Ask]);
    let shown = shown(&chat);
    let place = |text: &str| shown.iter().position(|row| row.ends_with(text)).unwrap();
    assert!(place(" hi") < place(" Half a") && place(" Half a") < place(" go on"));
    assert_eq!(enter(&mut chat, "/keep"), []);
}

#[test]
fn a_reply_of_calls_is_stored_and_shown_as_these() {
    let mut chat = replying("");
    let call = ToolCall { id: "c".into(), name: "look_up".into(), arguments_json: "{}".into() };
    let calling = Draft { calls: vec![call.clone()], ..draft(Role::Assistant, "", 2) };
    let reply = Event::Reply(Reply { text: String::new(), calls: vec![call] });
    assert_eq!(chat.update(reply), [Effect::Memorize(calling.clone())]);
    chat.update(stored(2, &calling, None));
    let shown = shown(&chat);
    assert_eq!(shown[2], "assistant  → look_up({})");
    assert!(shown[3].starts_with("· the model calls tools, which a chat does not run"));
}

#[test]
fn a_conversation_that_the_server_lost_stays_on_the_screen_and_starts_anew() {
    let mut chat = chat(2, Some("m"));
    let question = draft(Role::User, "hi", 1);
    enter(&mut chat, "hi");
    let Event::Stored(mut anew) = stored(1, &question, None) else { unreachable!() };
    anew.started_anew = true;
    assert_eq!(chat.update(Event::Stored(anew)), []);
    let expected = [
        "user       message 1",
        "assistant  message 2",
        "· hello",
        "! the server no longer has the messages above: they were deleted",
        "  the conversation starts again with your message; /retry asks the model",
        "user       hi",
    ];
    assert_eq!(shown(&chat), expected);
    assert_eq!(enter(&mut chat, "/retry"), [Effect::Ask]);
}

#[test]
fn what_is_forgotten_leaves_the_screen_and_the_history() {
    let mut chat = chat(0, None);
    enter(&mut chat, "a secret");
    chat.update(stored(1, &draft(Role::User, "a secret", 1), None));
    enter(&mut chat, "/remember it");
    chat.update(Event::Done(Done { note: Some("1 user: a secret".into()), ..Done::default() }));
    enter(&mut chat, "/forget last:1");
    let forgotten =
        Done { note: Some("forgot 1 utterance".into()), window: Some(Window::default()), forgotten: vec![1] };
    chat.update(Event::Done(forgotten));
    assert_eq!(shown(&chat), ["· forgot 1 utterance"]);
    let mut recalled = Vec::new();
    for _ in 0..4 {
        press(&mut chat, KeyCode::Up);
        recalled.push(chat.input().text().to_owned());
    }
    assert_eq!(recalled, ["/forget last:1", "/remember it", "/remember it", "/remember it"]);
    control(&mut chat, 'u');
    assert_eq!(enter(&mut chat, "/restore"), [Effect::Do(Task::Restore(vec![1..=1]))]);
}

#[test]
fn nothing_is_restored_where_nothing_was_forgotten() {
    let mut chat = chat(0, None);
    assert_eq!(enter(&mut chat, "/restore"), []);
    assert!(last_row(&chat).starts_with("! nothing was forgotten in this chat"));
}

#[test]
fn a_message_that_was_not_stored_is_sent_again_as_the_same_attempt() {
    let mut chat = chat(0, None);
    let first = draft(Role::User, "hi", 1);
    assert_eq!(enter(&mut chat, "hi"), [Effect::Memorize(first.clone())]);
    chat.update(Event::Unreachable);
    chat.update(Event::Unreachable);
    assert_eq!(shown(&chat).iter().filter(|row| row.contains("trying again")).count(), 1);
    chat.update(Event::NotStored(first.clone(), "gone".into()));
    assert_eq!(chat.input().text(), "hi");
    assert_eq!(press(&mut chat, KeyCode::Enter), [Effect::Memorize(first.clone())]);
    chat.update(Event::NotStored(first, "gone".into()));
    assert_eq!(enter(&mut chat, "!"), [Effect::Memorize(draft(Role::User, "hi!", 2))]);
}

#[test]
fn a_reply_that_was_not_stored_is_kept_until_it_is() {
    let mut chat = chat(0, Some("m"));
    enter(&mut chat, "hi");
    chat.update(stored(1, &draft(Role::User, "hi", 1), None));
    chat.update(reply("ho"));
    let whole = draft(Role::Assistant, "ho", 2);
    chat.update(Event::NotStored(whole.clone(), "gone".into()));
    assert_eq!(shown(&chat)[2], "assistant  ho");
    assert_eq!(enter(&mut chat, "/retry"), [Effect::Memorize(whole.clone())]);
    chat.update(Event::NotStored(whole.clone(), "gone".into()));
    assert_eq!(shown(&chat).iter().filter(|row| row.ends_with(" ho")).count(), 1);
    assert_eq!(enter(&mut chat, "/keep"), [Effect::Memorize(whole.clone())]);
    chat.update(stored(2, &whole, None));
    assert_eq!(shown(&chat).iter().filter(|row| row.ends_with(" ho")).count(), 1);
}

#[test]
fn one_thing_is_done_after_the_other() {
    let mut chat = chat(0, Some("m"));
    enter(&mut chat, "hi");
    assert_eq!(enter(&mut chat, "/help"), []);
    assert_eq!(enter(&mut chat, "more"), []);
    assert_eq!((chat.input().text(), chat.activity()), ("more", "sent when this is done"));
    assert_eq!(chat.update(stored(1, &draft(Role::User, "hi", 1), None)), [Effect::Ask]);
    let answer = draft(Role::Assistant, "ho", 2);
    assert_eq!(chat.update(reply("ho")), [Effect::Memorize(answer.clone())]);
    assert_eq!(chat.update(stored(2, &answer, None)), [Effect::Memorize(draft(Role::User, "more", 3))]);
    assert_eq!(enter(&mut chat, "/quit"), [Effect::Quit]);
}

#[test]
fn nothing_is_said_unseen_behind_what_failed() {
    let mut chat = chat(0, None);
    let first = draft(Role::User, "hi", 1);
    enter(&mut chat, "hi");
    enter(&mut chat, "more");
    assert_eq!(chat.update(Event::NotStored(first, "gone".into())), []);
    assert_eq!(chat.input().text(), "hi\nmore");
}

#[test]
fn what_is_edited_again_is_not_said_by_itself() {
    let mut chat = chat(0, None);
    enter(&mut chat, "hi");
    enter(&mut chat, "more");
    press(&mut chat, KeyCode::Backspace);
    assert_eq!(chat.update(stored(1, &draft(Role::User, "hi", 1), None)), []);
    assert_eq!(chat.input().text(), "mor");
}

#[test]
fn leaving_is_ctrl_c_or_ctrl_d_on_an_empty_line() {
    for letter in ['c', 'd'] {
        assert_eq!(control(&mut advised(None), letter), [Effect::Quit]);
    }
    let mut chat = chat(0, None);
    press(&mut chat, KeyCode::Char('x'));
    assert_eq!(control(&mut chat, 'd'), []);
}

#[test]
fn ctrl_c_puts_aside_what_is_typed() {
    let mut chat = chat(0, None);
    chat.update(Event::Pasted("half a thought".into()));
    assert_eq!(control(&mut chat, 'c'), []);
    assert_eq!((chat.input().text(), chat.activity()), ("", "put aside; Up brings it back"));
    press(&mut chat, KeyCode::Up);
    assert_eq!((chat.input().text(), chat.activity()), ("half a thought", "/help"));
}

#[test]
fn what_was_said_before_can_be_said_again() {
    let mut chat = chat(4, None);
    press(&mut chat, KeyCode::Up);
    assert_eq!(chat.input().text(), "message 3");
    press(&mut chat, KeyCode::Up);
    assert_eq!(chat.input().text(), "message 1");
}

#[test]
fn a_command_is_completed_and_hinted_at() {
    let mut chat = chat(0, None);
    chat.update(Event::Pasted("/rest".into()));
    assert_eq!(
        chat.panel(),
        [format!("{:<30}bring back the last forgotten messages, or one", "/restore [NUMBER]")]
    );
    press(&mut chat, KeyCode::Tab);
    assert_eq!(chat.input().text(), "/restore ");
    control(&mut chat, 'u');
    chat.update(Event::Pasted("/".into()));
    assert!(chat.panel()[0].starts_with("/compact  /summary  /capacity"), "{:?}", chat.panel());
    chat.update(Event::Pasted("comp".into()));
    chat.update(Event::Resized(40, 24));
    assert_eq!(chat.panel(), ["/compact [N]  /compact --dry-run [N]", "/compact --undo"]);
    assert_eq!(control(&mut chat, 'l'), [Effect::Redraw]);
}

#[test]
fn commands_are_done_and_what_they_tell_is_not_said() {
    let mut chat = chat(2, None);
    assert_eq!(
        enter(&mut chat, "/compact 20"),
        [Effect::Do(Task::Compact { keep: Some(20), dry_run: false })]
    );
    chat.update(Event::Refused("too short [TOO_SHORT_TO_COMPACT]".into()));
    assert_eq!(last_row(&chat), "! too short [TOO_SHORT_TO_COMPACT]");
    assert_eq!(enter(&mut chat, "/cmpact"), []);
    assert!(
        shown(&chat)
            .iter()
            .any(|row| row.starts_with("! there is no command /cmpact; the nearest is /compact."))
    );
    assert_eq!(chat.input().text(), "/cmpact");
    control(&mut chat, 'u');
    assert_eq!(enter(&mut chat, "  /cmpact"), []);
    control(&mut chat, 'u');
    assert_eq!(enter(&mut chat, "\\/etc/hosts"), [Effect::Memorize(draft(Role::User, "/etc/hosts", 1))]);
}

#[test]
fn another_conversation_begins_empty() {
    let mut chat = chat(9, None);
    assert_eq!(enter(&mut chat, "/new"), [Effect::Do(Task::Start)]);
    let opening = Opening { conversation_id: "next".into(), note: "new".into(), ..Default::default() };
    chat.update(Event::Started(Box::new(opening)));
    assert_eq!((chat.conversation_id(), shown(&chat)), ("next", vec!["· new".to_owned()]));
}

#[test]
fn what_is_longer_than_the_screen_is_shown_from_its_start() {
    let mut chat = chat(100, None);
    chat.update(Event::Resized(40, 12));
    enter(&mut chat, "/help");
    let rows = last_rows(&chat.entries(), usize::MAX, 40);
    let first = rows.len() - chat.scroll() - 9;
    assert_eq!(format!("{}{}", rows[first].speaker, rows[first].text), "· /compact [N]");
    assert_eq!(chat.activity(), "more below: PgDn");
}

#[test]
fn scrolling_ends_at_both_ends() {
    let mut chat = chat(100, None);
    for _ in 0..9 {
        press(&mut chat, KeyCode::PageUp);
    }
    assert_eq!(chat.scroll(), 101 - 21);
    chat.update(Event::Resized(80, 40));
    assert_eq!(chat.scroll(), 101 - 37);
    for _ in 0..9 {
        press(&mut chat, KeyCode::PageDown);
    }
    assert_eq!(chat.scroll(), 0);
}
