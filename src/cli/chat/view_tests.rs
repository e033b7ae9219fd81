//! What a chat looks like.

use ratatui::{Terminal, backend::TestBackend, style::Color};

use super::{
    event::Event,
    model::{
        Chat,
        tests::{ADVICE, chat, enter, stored},
    },
    view::{self, Palette},
};
use crate::{
    cli::chat::event::{Draft, Opening},
    proto::Role,
};

fn draw(chat: &mut Chat, columns: u16, rows: u16, colours: bool) -> Terminal<TestBackend> {
    chat.update(Event::Resized(columns, rows));
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| view::draw(frame, chat, Palette { colours })).unwrap();
    terminal
}

fn rows(chat: &mut Chat, columns: u16, rows: u16) -> Vec<String> {
    let drawn = draw(chat, columns, rows, true).backend().to_string();
    // After a row comes what its wide characters hide.
    let shown = |row: &str| row.split("\" Hidden").next().unwrap().trim_matches('"').trim_end().to_owned();
    drawn.lines().map(shown).collect()
}

#[test]
fn a_chat_fills_the_screen_from_below() {
    let mut chat = chat(3, Some("gpt-4o-mini"));
    enter(&mut chat, "漢字");
    let expected = [
        "",
        "user       message 1",
        "assistant  message 2",
        "user       message 3",
        "· hello",
        "user       漢字",
        " [3 messages] 1,234 tokens",
        &format!("{:<51}storing…", " model gpt-4o-mini · demo"),
        ">",
    ];
    assert_eq!(rows(&mut chat, 60, 9), expected);
}

#[test]
fn what_is_typed_wraps_and_the_cursor_follows() {
    let mut chat = chat(0, None);
    chat.update(Event::Pasted("one\ntwo 漢字 three four five six".into()));
    let mut terminal = draw(&mut chat, 20, 10, true);
    let cursor = terminal.get_cursor_position().unwrap();
    assert_eq!((cursor.x, cursor.y), (12, 9));
}

fn advised(model: Option<&str>) -> Chat {
    let mut chat = chat(50, model);
    enter(&mut chat, "hi");
    let draft = Draft { role: Role::User, text: "hi".into(), attempt: 1, ..Draft::default() };
    chat.update(stored(51, &draft, Some(ADVICE)));
    chat
}

#[test]
fn the_question_whether_to_compact_stands_above_the_status() {
    let expected = [
        "user       hi",
        "📦 The conversation has 51 messages, 1,234 tokens in all. Compact the older ones",
        "into a summary, as /compact does?",
        "[Y] Yes, keep the last 15  [N] Not now  [V] Never in this session",
        " [51 messages] 1,234 tokens",
        &format!("{:<59}Y, N or V, and Enter", " no model replies: your messages are stored · demo"),
        ">",
    ];
    assert_eq!(rows(&mut advised(None), 80, 24)[17..], expected);
}

#[test]
fn help_and_status_are_whole_on_a_narrow_screen() {
    let mut chat = chat(0, Some("gpt-4o-mini"));
    enter(&mut chat, "/help");
    let drawn = rows(&mut chat, 40, 60);
    let place = drawn.iter().position(|row| row == "  /restore [NUMBER]").unwrap();
    let expected = ["      bring back the last forgotten", "      messages, or one"];
    assert_eq!(drawn[place + 1..place + 3], expected);
    assert_eq!(drawn[57..59], [" [0 messages] 1,234 tokens", " model gpt-4o-mini · demo         /help"]);
    enter(&mut chat, "hi");
    assert_eq!(rows(&mut chat, 40, 60)[58], " model gpt-4o-mini · demo      storing…");
}

#[test]
fn help_fits_the_usual_screen() {
    let mut chat = chat(0, None);
    enter(&mut chat, "/help");
    let drawn = rows(&mut chat, 80, 24);
    assert!(drawn[0].starts_with("· /compact [N]  "), "{drawn:#?}");
}

#[test]
fn emoji_sequences_and_flags_are_drawn_whole() {
    let mut chat = chat(0, None);
    chat.update(Event::Pasted("👩‍🚀🇩🇪👍🏽❤️x".into()));
    let mut terminal = draw(&mut chat, 20, 6, true);
    let row: Vec<_> = (2..11).map(|x| terminal.backend().buffer()[(x, 5)].symbol().to_owned()).collect();
    assert_eq!(row, ["👩‍🚀", " ", "🇩🇪", " ", "👍🏽", " ", "❤️", " ", "x"]);
    assert_eq!(terminal.get_cursor_position().unwrap().x, 11);
}

#[test]
fn any_size_can_be_drawn() {
    let mut advised = advised(Some("m"));
    let mut empty = Chat::new(Opening::default(), None, (1, 1));
    empty.update(Event::Pasted("long ".repeat(500)));
    for (columns, rows) in [(1, 1), (2, 3), (10, 2), (30, 5), (80, 24), (300, 100)] {
        draw(&mut advised, columns, rows, true);
        draw(&mut empty, columns, rows, true);
    }
}

#[test]
fn without_colours_there_are_none() {
    let mut chat = chat(3, None);
    enter(&mut chat, "/nothing");
    let colours = |chat: &mut Chat, on| {
        let terminal = draw(chat, 60, 12, on);
        let cells = terminal.backend().buffer().content().to_vec();
        cells.into_iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colours(&mut chat, false), 0);
    assert!(colours(&mut chat, true) > 0);
}
