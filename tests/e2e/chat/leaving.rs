//! The start and end of a chat: the terminal is restored, and a server that disappears loses nothing.

use std::net::TcpListener;

use crate::{
    chat::{piped, server, terminal::Terminal},
    support::binary::{Outcome, Server, assert_holds, utterd},
};

#[test]
fn every_way_out_gives_the_terminal_back() {
    let server = server();
    for way in ["/quit\r", "\x04"] {
        let mut chat = Terminal::open(&server, &["left"]);
        chat.waits();
        chat.keys(way);
        assert!(chat.ended().success(), "{way:?}");
    }
}

#[test]
fn a_chat_without_a_server_or_a_key_says_so() {
    let mut server = server();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    server.address = free.expect("a free port").to_string();
    let error = piped(&server, &[], &["Hello?"]).failed(4);
    assert_holds(&error, &["error: no server answers at", "utterd serve"]);
    let mut without_key = server.command(&["chat", "--model", "m"]);
    let error = Outcome::of(without_key.env_remove("OPENAI_API_KEY")).failed(2);
    assert_holds(&error, &["error: --model needs --api-key-file, OPENAI_API_KEY"]);
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
    let opened = chat.waits();
    assert!(!opened.contains("in memory"), "{opened}");
    chat.line("before");
    chat.shows(&["[1 message]"]);
    chat.waits();
    let directory = server.kill();
    chat.line("after");
    chat.shows(&["! the server does not answer: trying again…"]);
    chat.shows(&["your message is not stored: send it again"]);
    let server = Server::start_at(&address, directory, &flags);
    chat.line("\x1b[A");
    chat.shows(&["[2 messages]"]);
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
    chat.waits();
    let directory = server.kill();
    let server = Server::start_at(&address, directory, &["--preset", "session"]);
    chat.line("after");
    chat.shows(&["! the server no longer has the earlier messages"]);
    chat.waits();
    assert_holds(&server.run(&["show", "lost"]).worked(), &["after"]);
}
