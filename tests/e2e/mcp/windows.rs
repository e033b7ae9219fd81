//! Several processes on the same files, as clients start one for each window.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};

use crate::{
    mcp::client::Client,
    support::binary::{Outcome, Server, assert_holds, utterd},
};

const FLAGS: [&str; 2] = ["--data-dir", "memory"];

fn window(directory: &Path) -> Client {
    Client::start_in(directory, &FLAGS)
}

fn count(client: &mut Client) -> Value {
    client.call("get_capacity_info", json!({})).0["utteranceCount"].clone()
}

#[test]
fn windows_share_what_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let [mut first, mut second] = [(); 2].map(|()| window(directory.path()));
    let id = first.memorize("The train leaves at nine.");
    let (found, _) = second.call("remember", json!({ "prompt": "train" }));
    assert_eq!(found["matches"][0]["conversationId"], json!(id));
    assert_eq!(second.memorize("The bus leaves at ten."), id);
    assert_eq!(count(&mut first), 2);
    let socket = fs::metadata(directory.path().join("memory/mcp.sock")).expect("a socket");
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
}

/// The process with the store ends when its client closes it.
#[test]
fn a_window_that_is_closed_takes_nothing_with_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut windows = [(); 3].map(|()| window(directory.path())).into_iter();
    let (mut first, mut second, mut third) =
        (windows.next().expect("one"), windows.next().expect("two"), windows.next().expect("three"));
    first.memorize("One.");
    second.memorize("Two.");
    first.close();
    assert!(first.rest().1.success());
    third.memorize("Three.");
    assert_eq!((count(&mut second), count(&mut third)), (json!(3), json!(3)));
    for mut client in [third, second] {
        client.memorize("More.");
        client.close();
        assert!(client.rest().1.success());
    }
    assert!(!directory.path().join("memory/mcp.sock").exists());
    assert_eq!(count(&mut window(directory.path())), 5);
}

/// The answers to calls in flight are those of calls that took effect, once each.
#[test]
fn a_killed_window_loses_nothing_of_the_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut first = window(directory.path());
    let mut others = [(); 2].map(|()| window(directory.path()));
    let mut stored = BTreeSet::new();
    for round in 0..3 {
        let asked: Vec<u64> = (0..30)
            .flat_map(|number| {
                let ask = |client: &mut Client| {
                    let messages = json!([{ "role": "user", "content": format!("Part {round}.{number}.") }]);
                    client.ask(
                        "tools/call",
                        json!({ "name": "memorize", "arguments": { "messages": messages } }),
                    )
                };
                others.iter_mut().map(ask).collect::<Vec<_>>()
            })
            .collect();
        for number in 0..asked.len() / 2 {
            if number == 3 {
                first.process.0.kill().expect("it runs");
            }
            for client in &mut others {
                let answer = client.read();
                let result = &answer["result"];
                assert_eq!(result["isError"], false, "{answer}");
                let sequence = result["structuredContent"]["memorized"][0]["sequence"].as_i64();
                assert!(stored.insert(sequence.expect("a number")), "{answer}");
            }
        }
        // the next to be killed is one of those that called, and a new one joins
        let [next, other] = others;
        first = next;
        others = [other, window(directory.path())];
    }
    let (last, total) = (stored.last().copied().expect("messages"), stored.len());
    assert_eq!((total, last), (180, 180), "each is stored once, and nothing else");
    let (capacity, _) = others[1].call("get_capacity_info", json!({}));
    let number = |name: &str| capacity[name].as_i64().expect("a number");
    assert_eq!(number("utteranceCount") + number("archivedUtteranceCount"), 180);
}

#[test]
fn resources_and_prompts_are_read_after_a_kill() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut first = window(directory.path());
    let id = first.memorize("The train leaves at nine.");
    let prompt = json!({ "type": "ref/prompt", "name": "continue_conversation" });
    let argument = json!({ "name": "conversation_id", "value": "" });
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": format!("utterd://conversations/{id}") })),
        ("prompts/get", json!({ "name": "continue_conversation" })),
        ("completion/complete", json!({ "ref": prompt, "argument": argument })),
    ] {
        let mut second = window(directory.path());
        first.process.0.kill().expect("it runs");
        let result = second.request(method, params);
        assert_holds(&result.to_string(), &[&id]);
        first = second;
    }
}

#[test]
fn files_that_another_program_uses_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start_in(directory, &["--backend", "fjall", "--data-dir", "memory"]);
    let refused = Outcome::of(utterd(server.directory.path()).arg("mcp").args(FLAGS));
    assert_holds(&refused.failed(1), &["the store in memory is in use by process "]);
    assert!(!server.directory.path().join("memory/mcp.sock").exists());
}

/// A path that is too long for a socket: the first process has the files alone.
#[test]
fn where_no_socket_can_be_the_files_belong_to_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let long = "d".repeat(120);
    let mut first = Client::start_in(directory.path(), &["--data-dir", &long]);
    first.memorize("One.");
    let second = Outcome::of(utterd(directory.path()).args(["mcp", "--data-dir", &long]));
    assert_holds(&second.failed(1), &["is in use by process ", "the path of a Unix socket has "]);
    assert_eq!(count(&mut first), 1);
}
