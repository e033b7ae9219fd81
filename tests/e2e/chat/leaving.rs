//! The start and end of a chat: the terminal is restored, and a server that disappears loses nothing.

use std::net::TcpListener;

use crate::{
    chat::{server, terminal::Terminal},
    support::binary::{Outcome, Server, assert_holds, utterd},
};

#[test]
fn every_way_out_gives_the_terminal_back() {
    let server = server();
    for way in ["/quit\r", "\x03", "\x04"] {
        let mut chat = Terminal::open(&server, &["left"]);
        chat.shows(&["[0 messages]"]);
        assert!(chat.screen(|screen| screen.alternate_screen()), "a chat has a screen of its own");
        chat.keys(way);
        let (status, left) = chat.ended();
        assert!(status.success(), "{way:?}");
        assert!(!left.contains("messages"), "{left}");
    }
    let mut chat = Terminal::open(&server, &["left"]);
    chat.shows(&["[0 messages]"]);
    chat.terminate();
    assert!(chat.ended().0.success());
}

#[test]
fn without_a_server_or_a_terminal_the_screen_is_not_taken() {
    let mut server = server();
    let without_terminal = server.run(&["chat"]).failed(2);
    assert_holds(&without_terminal, &["error: chat needs a terminal"]);
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    server.address = free.expect("a free port").to_string();
    let mut chat = Terminal::open(&server, &[]);
    chat.shows(&["error: no server answers at", "utterd serve"]);
    let (status, _) = chat.ended();
    assert_eq!(status.exit_code(), 4);
    let without_key = ["chat", "--model", "m"];
    let mut chat = Terminal::open(&server, &without_key[1..]);
    chat.shows(&["error: --model needs --api-key-file, OPENAI_API_KEY"]);
    assert_eq!(chat.ended().0.exit_code(), 2);
    let error =
        Outcome::of(utterd(server.directory.path()).args(["chat", "--base-url", "http://x"])).failed(2);
    assert_holds(&error, &["--model <NAME>"]);
}

#[test]
fn a_server_that_comes_back_gets_the_message_once() {
    let flags = ["--preset", "session", "--backend", "fjall"];
    let server = Server::start(&flags);
    let address = server.address.clone();
    let mut chat = Terminal::open(&server, &["patient"]);
    let screen = chat.shows(&["[0 messages]"]);
    assert!(!screen.contains("in memory"), "{screen}");
    chat.line("before");
    chat.shows(&["[1 message]"]);
    let directory = server.kill();
    chat.line("after");
    chat.shows(&["! the server does not answer: trying again…"]);
    chat.shows(&["! not stored: ", "> after"]);
    let server = Server::start_at(&address, directory, &flags);
    chat.keys("\r");
    chat.shows(&["user       after", "[2 messages]"]);
    let shown = server.run(&["show", "patient"]).worked();
    assert_eq!(shown.matches("after").count(), 1, "{shown}");
}

#[test]
fn a_server_that_lost_its_memory_is_noticed() {
    let server = server();
    let address = server.address.clone();
    let mut chat = Terminal::open(&server, &["lost"]);
    chat.shows(&["the server keeps it in memory only: it is lost when the server ends"]);
    chat.line("before");
    chat.shows(&["[1 message]"]);
    let directory = server.kill();
    let server = Server::start_at(&address, directory, &["--preset", "session"]);
    chat.line("after");
    chat.shows(&[
        "user       before",
        "! the server was restarted, and had the messages above in memory only",
        "user       after",
        "[1 message]",
    ]);
    let shown = server.run(&["show", "lost"]).worked();
    assert!(shown.contains("after"), "{shown}");
}
