//! Several processes on the same files, as clients start one for each window.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
};

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
    client.call("get_capacity_info", json!({})).0["capacity"]["utteranceCount"].clone()
}

/// Windows find what is said in each other, and neither changes what the other's calls mean.
#[test]
fn each_window_has_a_conversation_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let [mut first, mut second] = [(); 2].map(|()| window(directory.path()));
    let id = first.memorize("The train leaves at nine.");
    let (found, _) = second.call("remember", json!({ "prompt": "train" }));
    assert_eq!(found["matches"][0]["conversationId"], json!(id));
    assert_eq!(count(&mut second), 0, "nothing was said in it");
    let other = second.memorize("The bus leaves at ten.");
    assert_ne!(other, id);
    let (found, _) = first.call("remember", json!({ "prompt": "bus", "scope": "window" }));
    assert_eq!(found["matches"], json!(null));
    let (ended, _) = second.call("end_conversation", json!({}));
    assert_eq!(ended["conversation"]["conversationId"], json!(other));
    let (context, text) = first.call("build_context", json!({}));
    assert_eq!(context["conversationId"], json!(id));
    assert_holds(&text, &["The train leaves at nine.", "bus leaves at ten"]);
    assert_eq!((count(&mut first), count(&mut second)), (json!(1), json!(0)));
    assert_eq!(first.memorize("So I go at eight."), id);
    assert_ne!(second.memorize("And back?"), other);
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
    let mut ids = vec![first.memorize("Number one is red."), second.memorize("Number two is blue.")];
    first.close();
    assert!(first.rest().1.success());
    ids.push(third.memorize("Number three is green."));
    assert_eq!((count(&mut second), count(&mut third)), (json!(1), json!(1)));
    for mut client in [second, third] {
        client.memorize("And that is all.");
        client.close();
        assert!(client.rest().1.success());
    }
    assert!(!directory.path().join("memory/mcp.sock").exists());
    let mut next = window(directory.path());
    let (list, _) = next.call("get_conversation", json!({}));
    let ended =
        |place: usize| (&list["conversations"][place]["id"], &list["conversations"][place]["messageCount"]);
    ids.reverse();
    assert_eq!([ended(0), ended(1), ended(2)].map(|(id, _)| id), [&ids[0], &ids[1], &ids[2]]);
    assert_eq!([ended(0), ended(1), ended(2)].map(|(_, count)| count), [2, 2, 1]);
    assert_holds(&next.call("build_context", json!({})).1, &["red", "blue", "green"]);
}

/// What was idle has ended once the next conversation starts: in the same window, or in one that was killed.
#[test]
fn an_idle_conversation_ends_when_another_starts() {
    let directory = tempfile::tempdir().expect("a directory");
    let start = || {
        let mut command = utterd(directory.path());
        command.arg("mcp").args(FLAGS).env("UTTERD_IDLE_TIMEOUT", "1ms");
        Client::of(command)
    };
    let mut killed = start();
    let first = killed.memorize("The train leaves at nine.");
    killed.process.0.kill().expect("it runs");
    killed.process.0.wait().expect("it ran");
    let mut client = start();
    let second = client.memorize("The bus leaves at ten.");
    let (list, _) = client.call("get_conversation", json!({}));
    assert_eq!(list["conversations"][0]["id"], json!(first), "{list}");
    while client.call("get_capacity_info", json!({})).0["capacity"]["status"] != "CONVERSATION_STATUS_IDLE" {}
    let messages = json!([{ "role": "user", "content": "The tram leaves at eleven." }]);
    let (stored, text) = client.call("memorize", json!({ "messages": messages }));
    assert_eq!(
        (&stored["endedConversationId"], &stored["startedConversation"]),
        (&json!(second), &json!(true))
    );
    assert_holds(&text, &["in the new conversation ", &format!("{second} had been idle and has ended.")]);
}

#[test]
fn a_conversation_is_labelled_with_where_its_window_works() {
    let server = Server::start(&[]);
    let label = |id: &str| {
        let shown: Value = serde_json::from_str(&server.run(&["show", id, "--json"]).worked()).expect("JSON");
        let labels =
            shown.pointer("/conversation/labels").or(shown.get("labels")).cloned().unwrap_or_default();
        (labels["mcp_client"].clone(), labels["cwd"].clone())
    };
    let mut silent = Client::start_in(server.directory.path(), &["--server", &server.address]);
    let own = server.directory.path().canonicalize().expect("a directory");
    assert_eq!(label(&silent.memorize("One.")), (json!("test"), json!(own)));
}

/// A message that is refused leaves no empty conversation.
#[test]
fn what_is_refused_starts_no_conversation() {
    let mut client = Client::start();
    client.fail("memorize", json!({ "messages": [] }));
    assert_eq!(client.call("get_capacity_info", json!({})).0["capacity"]["conversationId"], json!(null));
}

/// The answers to calls in flight are those of calls that took effect, once each.
#[test]
fn a_killed_window_loses_nothing_of_the_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut first = window(directory.path());
    let mut others = [(); 2].map(|()| window(directory.path()));
    let mut stored = BTreeMap::<String, BTreeSet<i64>>::new();
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
                let told = &result["structuredContent"];
                let id = told["conversationId"].as_str().expect("an id").to_owned();
                let sequence =
                    told["memorized"][0]["sequence"].as_str().expect("a number").parse().expect("a number");
                assert!(stored.entry(id).or_default().insert(sequence), "{answer}");
            }
        }
        // the next to be killed is one of those that called, and a new one joins
        let [next, other] = others;
        first = next;
        others = [other, window(directory.path())];
    }
    let counts: BTreeSet<_> = stored.values().map(BTreeSet::len).collect();
    assert_eq!((stored.len(), counts), (4, [30, 60].into()), "one conversation a window that called");
    for (id, sequences) in stored {
        let (capacity, _) = others[1].call("get_capacity_info", json!({ "conversation_id": id }));
        let number = |name: &str| capacity["capacity"][name].as_i64().expect("a number");
        let all = number("utteranceCount") + number("archivedUtteranceCount");
        assert_eq!(sequences, (1..=all).collect(), "each is stored once, and nothing else");
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
