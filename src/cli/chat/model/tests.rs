//! Chats without a terminal: events in, effects out.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Chat;
use crate::cli::chat::{
    event::{Done, Draft, Effect, Event, Opening, Stored, Task, Window},
    transcript::{Entry, last_rows},
};
use crate::proto::{Capacity, CompactionAdvice, CompactionAnswer, Role, SummaryCapacity, Utterance};

/// A chat in a conversation of so many utterances, in a terminal of 80 by 24.
pub fn chat(utterances: i64, model: Option<&str>) -> Chat {
    let opening =
        Opening { conversation_id: "demo".into(), window: window(1, utterances), note: "hello".into() };
    Chat::new(opening, model.map(str::to_owned), (80, 24))
}

/// A window of the utterances from `first` to `last`, by turns the user's and the assistant's; what is
/// before them is summarised.
pub fn window(first: i64, last: i64) -> Window {
    let role = |sequence| if sequence % 2 == 1 { Role::User } else { Role::Assistant };
    let utterances: Vec<_> = (first..=last)
        .map(|sequence| said(sequence, role(sequence), &format!("message {sequence}")))
        .collect();
    let covered = i32::try_from(first - 1).unwrap();
    Window { capacity: capacity(utterances.len(), covered), utterances }
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
    Draft { role, text: text.into(), attempt }
}

/// The server has stored a draft as the utterance `sequence`.
pub fn stored(sequence: i64, draft: &Draft, advice: Option<CompactionAdvice>) -> Event {
    let count = usize::try_from(sequence).unwrap();
    Event::Stored(Box::new(Stored {
        utterance: said(sequence, draft.role, &draft.text),
        evicted: Vec::new(),
        capacity: Capacity { compaction_advice: advice, ..capacity(count, 0) },
    }))
}

pub const ADVICE: CompactionAdvice =
    CompactionAdvice { threshold: Some(50), utterance_count: Some(51), keep_recent: Some(15) };

/// A chat whose user was just advised to compact.
fn advised(model: Option<&str>) -> Chat {
    let mut chat = chat(50, model);
    enter(&mut chat, "one more");
    let effects = chat.update(stored(51, &draft(Role::User, "one more", 1), Some(ADVICE)));
    assert_eq!((effects, chat.dialog()), (vec![], Some(ADVICE)));
    chat
}

/// What the transcript shows, a row each.
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
    let reply = draft(Role::Assistant, "That is all.", 2);
    assert_eq!(chat.update(Event::Reply("That is all.".into())), [Effect::Memorize(reply.clone())]);
    assert_eq!(chat.update(stored(4, &reply, None)), []);
    assert_eq!(shown(&chat)[3..], ["user       and now?", "assistant  That is all."]);
}

#[test]
fn without_a_model_what_is_said_is_only_stored() {
    let mut chat = chat(0, None);
    enter(&mut chat, "hi");
    assert_eq!(chat.update(stored(1, &draft(Role::User, "hi", 1), None)), []);
    enter(&mut chat, "/retry");
    assert_eq!(last_row(&chat), "! no model is attached: start the chat with --model");
}

#[test]
fn the_dialog_comes_before_the_model_and_each_answer_is_passed_on() {
    let answers = [
        ('y', CompactionAnswer::CompactNow),
        ('N', CompactionAnswer::NotNow),
        ('v', CompactionAnswer::NeverThisSession),
    ];
    for (key, answer) in answers {
        let mut chat = advised(Some("m"));
        assert_eq!(press(&mut chat, KeyCode::Char('x')), []);
        assert_eq!(press(&mut chat, KeyCode::Enter), []);
        assert_eq!(press(&mut chat, KeyCode::Char(key)), [Effect::Do(Task::Answer(answer))]);
        assert_eq!((chat.dialog(), chat.input().text()), (None, ""));
        assert_eq!(chat.update(Event::Done(Done::default())), [Effect::Ask]);
    }
}

#[test]
fn a_compaction_that_is_refused_does_not_keep_the_reply_away() {
    let mut chat = advised(Some("m"));
    press(&mut chat, KeyCode::Char('y'));
    assert_eq!(chat.update(Event::Refused("it would save nothing [IRREDUCIBLE]".into())), [Effect::Ask]);
    assert_eq!(last_row(&chat), "! it would save nothing [IRREDUCIBLE]");
}

#[test]
fn advice_behind_a_reply_waits_for_the_user() {
    let mut chat = chat(48, Some("m"));
    let question = draft(Role::User, "hi", 1);
    enter(&mut chat, "hi");
    chat.update(stored(49, &question, None));
    chat.update(Event::Reply("ho".into()));
    chat.update(stored(50, &draft(Role::Assistant, "ho", 2), Some(ADVICE)));
    assert_eq!(chat.dialog(), None);
}

#[test]
fn after_a_compaction_the_window_is_what_the_server_says() {
    let mut chat = advised(None);
    press(&mut chat, KeyCode::Char('y'));
    let done = Done { note: Some("compacted".into()), window: Some(window(38, 52)) };
    assert_eq!(chat.update(Event::Done(done)), []);
    let shown = shown(&chat);
    assert_eq!(shown[..2], ["─── 37 messages before: /summary tells of them", "assistant  message 38"]);
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
    let mut chat = chat(0, Some("m"));
    enter(&mut chat, "hi");
    chat.update(stored(1, &draft(Role::User, "hi", 1), None));
    chat.update(Event::Piece("Half a".into()));
    assert_eq!(chat.update(Event::NoReply("the reply was cut off".into())), []);
    let expected =
        ["user       hi", "! no reply: the reply was cut off", "  your message is kept; /retry asks again"];
    assert_eq!(shown(&chat)[1..], expected);
    assert_eq!(enter(&mut chat, "/retry"), [Effect::Ask]);
}

#[test]
fn a_reply_that_was_stopped_is_not_stored() {
    let mut chat = chat(0, Some("m"));
    enter(&mut chat, "hi");
    chat.update(stored(1, &draft(Role::User, "hi", 1), None));
    assert_eq!(press(&mut chat, KeyCode::Esc), [Effect::Stop]);
    assert_eq!(chat.update(Event::Reply("too late".into())), []);
    assert_eq!(chat.update(Event::Piece("too late".into())), []);
    assert_eq!(last_row(&chat), "· stopped: /retry asks again");
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
    chat.update(Event::Reply("ho".into()));
    let reply = draft(Role::Assistant, "ho", 2);
    chat.update(Event::NotStored(reply.clone(), "gone".into()));
    assert_eq!(last_row(&chat), "assistant  ho");
    assert_eq!(enter(&mut chat, "/retry"), [Effect::Memorize(reply.clone())]);
    chat.update(stored(2, &reply, None));
    assert_eq!(shown(&chat).iter().filter(|row| row.ends_with(" ho")).count(), 1);
}

#[test]
fn one_thing_is_done_after_the_other() {
    let mut chat = chat(0, Some("m"));
    enter(&mut chat, "hi");
    assert_eq!(enter(&mut chat, "/help"), []);
    assert_eq!(enter(&mut chat, "more"), []);
    assert_eq!((chat.input().text(), chat.activity()), ("more", "sent as soon as this is done"));
    assert_eq!(chat.update(stored(1, &draft(Role::User, "hi", 1), None)), [Effect::Ask]);
    let reply = draft(Role::Assistant, "ho", 2);
    assert_eq!(chat.update(Event::Reply("ho".into())), [Effect::Memorize(reply.clone())]);
    assert_eq!(chat.update(stored(2, &reply, None)), [Effect::Memorize(draft(Role::User, "more", 3))]);
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
fn leaving_is_ctrl_c_always_and_ctrl_d_on_an_empty_line() {
    let mut chat = advised(None);
    assert_eq!(control(&mut chat, 'c'), [Effect::Quit]);
    assert_eq!(control(&mut chat, 'd'), []);
    press(&mut chat, KeyCode::Char('n'));
    chat.update(Event::Done(Done::default()));
    press(&mut chat, KeyCode::Char('x'));
    assert_eq!(control(&mut chat, 'd'), []);
    press(&mut chat, KeyCode::Backspace);
    assert_eq!(control(&mut chat, 'd'), [Effect::Quit]);
}

#[test]
fn commands_are_done_and_what_they_tell_is_not_said() {
    let mut chat = chat(2, None);
    assert_eq!(
        enter(&mut chat, "/compact 20"),
        [Effect::Do(Task::Compact { keep: Some(20), preview: false })]
    );
    chat.update(Event::Refused("too short [TOO_SHORT_TO_COMPACT]".into()));
    assert_eq!(last_row(&chat), "! too short [TOO_SHORT_TO_COMPACT]");
    assert_eq!(enter(&mut chat, "/cmpact"), []);
    assert_eq!(last_row(&chat), "! there is no command /cmpact; the nearest is /compact");
    assert_eq!(enter(&mut chat, " /etc/hosts"), [Effect::Memorize(draft(Role::User, "/etc/hosts", 1))]);
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
