//! The REST interface of motorhead.

use std::{
    io::{BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    process::Stdio,
};

use serde_json::{Value, json};

use crate::support::binary::{CREDENTIALS, Outcome, Process, Server, assert_holds, line_with, token, utterd};

/// A server with motorhead's interface on the Unix socket `rest` in its directory.
fn start(flags: &[&str]) -> Server {
    Server::start(&[&["--motorhead-listen", "unix:rest"], flags].concat())
}

/// Sends a request; returns the status and the body.
fn send(server: &Server, method: &str, path: &str, head: &str, body: &str) -> (u16, Value) {
    let mut stream = UnixStream::connect(server.directory.path().join("rest")).expect("a connection");
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: utterd\r\nconnection: close\r\ncontent-length: {length}\r\n{head}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("a request is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    assert!(head.contains("x-request-id: "), "the log can be searched for the answer: {head}");
    (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer}")))
}

fn get(server: &Server, path: &str) -> Value {
    let (status, body) = send(server, "GET", path, "", "");
    assert_eq!(status, 200, "{body}");
    body
}

fn post(server: &Server, path: &str, body: &Value) -> Value {
    let (status, answer) =
        send(server, "POST", path, "content-type: application/json\r\n", &body.to_string());
    assert_eq!(status, 200, "{answer}");
    answer
}

fn said(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

#[test]
fn a_session_is_written_read_and_deleted() {
    let server = start(&[]);
    let nothing = json!({"messages": [], "context": null, "tokens": 0});
    assert_eq!(get(&server, "/sessions/ana%2F1/memory"), nothing);
    let messages = [said("Human", "Where is Bogotá?"), said("AI", "In Colombia.")];
    let answer = post(&server, "/sessions/ana%2F1/memory", &json!({"messages": messages}));
    assert_eq!(answer, json!({"status": "Ok"}));
    post(
        &server,
        "/sessions/ana%2F1/memory",
        &json!({"messages": [said("user", "Thanks"), said("critic", "Short")]}),
    );
    let memory = get(&server, "/sessions/ana%2F1/memory/");
    let newest_first =
        [said("critic", "Short"), said("user", "Thanks"), messages[1].clone(), messages[0].clone()];
    assert_eq!((&memory["messages"], &memory["context"]), (&json!(newest_first), &Value::Null));
    assert!(memory["tokens"].as_i64() > Some(0), "{memory}");
    assert_holds(&server.run(&["show", "ana/1"]).worked(), &["user", "Where is Bogotá?", "assistant"]);
    assert_eq!(get(&server, "/sessions"), json!(["ana/1"]));
    for _ in 0..2 {
        assert_eq!(
            send(&server, "DELETE", "/sessions/ana%2F1/memory", "", ""),
            (200, json!({"status": "Ok"}))
        );
    }
    assert_eq!(get(&server, "/sessions/ana%2F1/memory"), nothing);
    assert!(get(&server, "/health")["now"].is_i64());
}

#[test]
fn what_left_the_window_is_in_the_context() {
    let server = start(&["--buffer-size", "4"]);
    post(&server, "/sessions/s/memory", &json!({"messages": [], "context": "Ana plans a trip."}));
    assert_eq!(get(&server, "/sessions/s/memory")["context"], "Ana plans a trip.");
    for turn in 0..6 {
        let messages = [
            said("Human", &format!("Day {turn}: where to?")),
            said("AI", "To the Salt Cathedral of Zipaquirá."),
        ];
        post(&server, "/sessions/s/memory", &json!({"messages": messages}));
    }
    let memory = get(&server, "/sessions/s/memory");
    let context = memory["context"].as_str().expect("a context");
    assert!(context.starts_with("Ana plans a trip.\n") && context.contains("Zipaquirá"), "{context}");
    assert!(memory["messages"].as_array().is_some_and(|messages| messages.len() <= 4), "{memory}");
    post(&server, "/sessions/s/memory", &json!({"messages": [], "context": "Ana is back."}));
    let context = get(&server, "/sessions/s/memory")["context"].clone();
    assert!(context.as_str().is_some_and(|context| context.starts_with("Ana is back.\n")), "{context}");
}

#[test]
fn a_search_finds_the_nearest_first() {
    let server = start(&[]);
    let messages = [
        said("Human", "The salt cathedral is in Zipaquirá"),
        said("AI", "I like salsa"),
        said("Human", "And rain"),
    ];
    post(&server, "/sessions/s/memory", &json!({"messages": messages}));
    let found = post(&server, "/sessions/s/retrieval", &json!({"text": "salt cathedral"}));
    assert_eq!((&found[0]["role"], &found[0]["content"]), (&messages[0]["role"], &messages[0]["content"]));
    assert!(found[0]["dist"].as_f64().is_some_and(|dist| (0.0..1.0).contains(&dist)), "{found}");
    assert_eq!(post(&server, "/sessions/none/retrieval", &json!({"text": "salt"})), json!([]));
}

#[test]
fn sessions_are_listed_in_pages() {
    let server = start(&[]);
    for session in ["a", "b", "c"] {
        post(&server, &format!("/sessions/{session}/memory"), &json!({"messages": [said("Human", "hi")]}));
    }
    let pages = [1, 2, 3].map(|page| get(&server, &format!("/sessions?page={page}&size=2")));
    assert_eq!(pages, [json!(["c", "b"]), json!(["a"]), json!([])]);
}

#[test]
fn bad_requests_are_refused() {
    let server = start(&["--max-message-bytes", "200KiB", "--max-content-bytes", "100KiB"]);
    let long = format!("{{\"messages\":[{}]}}", "1,".repeat(110_000));
    for (method, path, body, status, part) in [
        ("GET", "/", "", 404, "accepted: /sessions"),
        ("PUT", "/sessions/s/memory", "{}", 405, "accepted: GET, POST, DELETE"),
        ("GET", "/sessions/s/retrieval", "", 405, "accepted: POST"),
        ("POST", "/sessions/s/memory", "[]", 400, "not as expected"),
        ("POST", "/sessions/s/memory", "{\"messages\":[{\"role\":\"AI\"}]}", 400, "missing field `content`"),
        ("POST", "/sessions/s/memory", &long, 413, "at most 204800 bytes"),
        ("GET", "/sessions/%ff/memory", "", 400, "not UTF-8"),
        ("GET", "/sessions/%0a/memory", "", 400, "conversation_id"),
        ("GET", "/sessions?size=0", "", 400, "size is \"0\""),
    ] {
        let (found, answer) = send(&server, method, path, "", body);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(found == status && error.contains(part), "{method} {path}: {found} {answer}");
    }
}

#[test]
fn callers_need_their_credentials() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = [
        "token",
        "new",
        "--name",
        "shop",
        "--namespace",
        "shop",
        "--role",
        "read-write",
        "--append",
        "c.toml",
    ];
    let token = Outcome::of(utterd(directory.path()).args(token)).worked();
    let server = Server::start_in(directory, &["--motorhead-listen", "unix:rest", "--credentials", "c.toml"]);
    let (status, answer) = send(&server, "GET", "/sessions/s/memory", "", "");
    assert_eq!(status, 401, "{answer}");
    let head = format!("authorization: Bearer {}\r\n", token.trim());
    assert_eq!(send(&server, "GET", "/sessions/s/memory", &head, "").0, 200);
    let (status, answer) =
        send(&server, "GET", "/sessions", &format!("{head}utterd-namespace: other\r\n"), "");
    assert_eq!(status, 403, "{answer}");
}

#[test]
fn others_are_let_in_only_on_purpose() {
    let directory = tempfile::tempdir().expect("a directory");
    let check = |flags: &[&str]| {
        let arguments = [&["serve", "--check", "--motorhead-listen", "0.0.0.0:8080"], flags].concat();
        Outcome::of(utterd(directory.path()).args(arguments))
    };
    assert_holds(&check(&[]).failed(2), &["motorhead_listen", "no TLS", "127.0.0.1:8080"]);
    check(&["--allow-insecure", "true"]).worked();
}

#[test]
fn pages_of_others_are_kept_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--motorhead-listen", "127.0.0.1:0"]);
    let mut server =
        Process(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts"));
    let mut log = BufReader::new(server.0.stderr.take().expect("stderr is piped"));
    let line = line_with(&mut log, "motorhead's clients are served on ");
    let (_, address) = line.trim_end().split_once("served on ").expect("just found");
    let status_of = |target: &str, head: &str| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        let request = format!("GET {target} HTTP/1.1\r\nconnection: close\r\n{head}\r\n");
        stream.write_all(request.as_bytes()).expect("a request is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer.split(' ').nth(1).map(str::to_owned)
    };
    let status = |head: &str| status_of("/sessions", head);
    assert_eq!(status("host: localhost\r\n").as_deref(), Some("200"));
    assert_eq!(status("host: evil.example\r\n").as_deref(), Some("403"));
    assert_eq!(status("host: localhost\r\norigin: https://evil.example\r\n").as_deref(), Some("403"));
    assert_eq!(status("host: localhost\r\nsec-fetch-site: cross-site\r\n").as_deref(), Some("403"));
    assert_eq!(status("host: localhost\r\nsec-fetch-site: same-origin\r\n").as_deref(), Some("200"));
    assert_eq!(status("").as_deref(), Some("400"), "no host");
    assert_eq!(status("host: localhost\r\nhost: localhost\r\n").as_deref(), Some("400"), "two hosts");
    let of_target = |target: &str| status_of(target, "host: localhost\r\n");
    assert_eq!(of_target("http://evil.example/sessions").as_deref(), Some("403"));
    assert_eq!(of_target("http://127.0.0.1/sessions").as_deref(), Some("200"));
}

/// Sends the head of a request that announces 16 MB, and a part of its body.
fn announce(server: &Server, head: &str, part: &[u8]) -> UnixStream {
    let mut stream = UnixStream::connect(server.directory.path().join("rest")).expect("a connection");
    let request =
        format!("POST /sessions/s/memory HTTP/1.1\r\nhost: utterd\r\ncontent-length: 16000000\r\n{head}\r\n");
    stream.write_all(&[request.as_bytes(), part].concat()).expect("it is sent");
    stream
}

#[test]
fn bodies_that_do_not_come_and_silent_connections_keep_nobody_waiting() {
    let server = start(&[]);
    let _announced: Vec<_> = (0..8).map(|_| announce(&server, "", b"{")).collect();
    let messages = json!({"messages": [said("Human", "hello")]});
    post(&server, "/sessions/s/memory", &messages);
    let connect = || UnixStream::connect(server.directory.path().join("rest")).expect("a connection");
    let _silent: Vec<_> = (0..100).map(|_| connect()).collect();
    post(&server, "/sessions/s/memory", &messages);
}

/// Nothing of the body is read before its caller is known.
#[test]
fn a_body_needs_its_callers_credential_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = token(directory.path(), "a", "read-write", &[]);
    let flags = ["--motorhead-listen", "unix:rest", "--credentials", CREDENTIALS];
    let server = Server::start_in(directory, &flags);
    for head in ["", "authorization: Bearer wrong\r\n"] {
        let mut answer = [0; 12];
        announce(&server, head, b"").read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 401");
    }
    let head = format!("authorization: Bearer {token}\r\n");
    let body = json!({"messages": [said("Human", "hello")]}).to_string();
    assert_eq!(send(&server, "POST", "/sessions/s/memory", &head, &body).0, 200);
}
