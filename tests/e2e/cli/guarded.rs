//! A guarded server and the command line: tokens are created, shown, and kept secret.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
};

use tempfile::TempDir;

use crate::support::binary::{CREDENTIALS, Outcome, Process, Server, assert_holds, line_with, token, utterd};

fn run(directory: &Path, arguments: &[&str]) -> Outcome {
    Outcome::of(utterd(directory).args(arguments))
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn a_token_opens_what_its_entry_says() {
    let directory = directory();
    let writer = token(directory.path(), "shop", "read-write", &["--namespace", "shop"]);
    let reader = token(directory.path(), "desk", "read-only", &["--namespace", "shop", "--expires", "1h"]);
    let admin = token(directory.path(), "ops", "admin", &[]);
    fs::write(directory.path().join("writer"), format!("{writer}\n")).expect("it is written");
    let server = Server::start_in(directory, &["--credentials", CREDENTIALS]);

    let error = server.run(&["memorize", "hello"]).failed(1);
    assert_holds(&error, &["[MISSING_CREDENTIALS]", "--token-file FILE", "UTTERD_TOKEN"]);
    server.run(&["memorize", "--to", "a", "hello", "--token-file", "writer"]).worked();
    let with =
        |token: &str, arguments: &[&str]| Outcome::of(server.command(arguments).env("UTTERD_TOKEN", token));
    assert_holds(&with(&reader, &["show", "a"]).worked(), &["hello"]);
    assert_holds(&with(&reader, &["memorize", "x"]).failed(1), &["[ROLE_FORBIDS]", "read-write"]);
    assert_holds(&with("utterd_token_x", &["show"]).failed(1), &["[INVALID_CREDENTIALS]"]);
    assert_holds(&with(&admin, &["show", "a"]).failed(3), &["[CONVERSATION_NOT_FOUND]"]);
    assert_holds(&with(&admin, &["show", "a", "--namespace", "shop"]).worked(), &["hello"]);
    let other = with(&writer, &["show", "--namespace", "other"]).failed(1);
    assert_holds(&other, &["[NAMESPACE_FORBIDDEN]", "utterd-namespace"]);

    let by_file = Outcome::of(server.command(&["show", "a"]).env("UTTERD_TOKEN_FILE", "writer"));
    assert_holds(&by_file.worked(), &["hello"]);
    let mut named = server.command(&["show", "a", "--token-file", "writer"]);
    let named = Outcome::of(named.env("UTTERD_TOKEN", "utterd_token_x"));
    assert_holds(&named.worked(), &["hello"]);
    let missing = server.run(&["show", "--token-file", "nowhere"]).failed(2);
    assert_holds(&missing, &["--token-file nowhere: No such file"]);
}

#[test]
fn a_file_that_everybody_can_write_to_is_refused() {
    let directory = directory();
    token(directory.path(), "shop", "read-write", &[]);
    for name in [CREDENTIALS, "utterd.toml", "shop.token"] {
        let path = directory.path().join(name);
        fs::OpenOptions::new().create(true).append(true).open(&path).expect("the file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
    }
    for (arguments, file) in [
        (&["serve", "--check"][..], "utterd.toml"),
        (&["serve", "--check", "--config", "/dev/null", "--credentials", CREDENTIALS], CREDENTIALS),
        (&["show", "--token-file", "shop.token"], "shop.token"),
    ] {
        let run = |allowed| {
            Outcome::of(utterd(directory.path()).args(arguments).env("UTTERD_ALLOW_WORLD_WRITABLE", allowed))
        };
        let refused = run("");
        assert_ne!(refused.code, Some(0), "{arguments:?}");
        assert_holds(&refused.stderr, &[file, "everybody can write to it: run `chmod o-w`"]);
        assert!(!run("true").stderr.contains("everybody"), "{arguments:?}");
    }
}

#[test]
fn a_file_of_credentials_is_made_and_listed() {
    let directory = directory();
    let first = token(directory.path(), "first", "admin", &["--calls-per-second", "50"]);
    token(directory.path(), "second", "read-only", &["--namespace", "tests", "--expires", "90d"]);
    let path = directory.path().join(CREDENTIALS);
    let mode = fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&path).expect("it is text");
    assert_holds(&text, &["calls_per_second = 50", "role = \"admin\"", "expires = "]);
    assert!(!text.contains(&first));

    let check = ["serve", "--check", "--credentials", CREDENTIALS];
    run(directory.path(), &check).worked();
    let twice = ["token", "new", "--name", "first", "--role", "admin", "--append", CREDENTIALS];
    assert_holds(
        &run(directory.path(), &twice).failed(2),
        &["credentials.toml: name: is used by another entry"],
    );
    assert_eq!(fs::read_to_string(&path).expect("it is text"), text);

    let printed =
        run(directory.path(), &["token", "new", "--name", "third", "--role", "read-write"]).worked();
    let (token, entry) = printed.split_once("\n\n").expect("the token, and the entry");
    assert!(token.starts_with("utterd_token_") && entry.starts_with("[[credentials]]\nname = \"third\"\n"));
    fs::write(&path, "[[credentials]]\nname = 7\n").expect("it is written");
    assert_holds(
        &run(directory.path(), &check).failed(2),
        &["line 2: cannot be read; accepted: entries that begin with [[credentials]]"],
    );
}

#[test]
fn a_server_does_not_listen_in_the_open_unless_it_is_told_to() {
    let directory = directory();
    let open = ["serve", "--listen", "0.0.0.0:0"];
    let error = run(directory.path(), &open).failed(2);
    assert_holds(
        &error,
        &["--listen: listen is `0.0.0.0:0`", "127.0.0.1", "credentials", "TLS", "allow_insecure"],
    );
    token(directory.path(), "first", "admin", &[]);
    let guarded = run(directory.path(), &[&open[..], &["--credentials", CREDENTIALS]].concat()).failed(2);
    assert_holds(&guarded, &["TLS", "allow_insecure"]);

    let mut command = utterd(directory.path());
    command.args(open).args(["--allow-insecure", "true"]).stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Process(command.spawn().expect("it starts"));
    let stdout = process.0.stdout.take().expect("stdout is piped");
    line_with(&mut std::io::BufReader::new(stdout), "listening on 0.0.0.0:");
    let stderr = process.0.stderr.take().expect("stderr is piped");
    line_with(&mut std::io::BufReader::new(stderr), "guarded by nothing");
}

/// The address is in a network that does not exist: nothing must be sent there.
#[test]
fn a_token_is_not_sent_in_the_clear() {
    let directory = directory();
    fs::write(directory.path().join("t"), "utterd_token_x").expect("it is written");
    let arguments = ["show", "--server", "192.0.2.1:50051", "--token-file", "t"];
    assert_holds(
        &run(directory.path(), &arguments).failed(2),
        &["http://192.0.2.1:50051", "https://", "--insecure"],
    );
}

#[test]
fn a_wrong_file_of_credentials_is_a_wrong_configuration() {
    let directory = directory();
    fs::write(directory.path().join(CREDENTIALS), "[[credentials]]\n").expect("it is written");
    let error = run(directory.path(), &["serve", "--credentials", CREDENTIALS]).failed(2);
    assert_holds(&error, &["credentials: credentials.toml: line 1: name: is missing"]);
}

#[test]
fn no_token_is_logged_at_any_level() {
    let directory = directory();
    let good = token(directory.path(), "first", "admin", &[]);
    let log = directory.path().join("log");
    let mut command = utterd(directory.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "trace", "--credentials", CREDENTIALS]);
    command.stdout(Stdio::piped()).stderr(File::create(&log).expect("a file"));
    let mut process = Process(command.spawn().expect("it starts"));
    let mut stdout = std::io::BufReader::new(process.0.stdout.take().expect("stdout is piped"));
    let line = line_with(&mut stdout, "listening on ");
    let address = line.split_once("listening on ").expect("just found").1.trim().to_owned();

    let secrets = [&good, "utterd_token_planted", "planted.planted.planted", "Basic-planted"];
    for token in secrets {
        let mut command = utterd(directory.path());
        command.args(["show", "--server", &address]).env("UTTERD_TOKEN", token);
        let outcome = Outcome::of(&mut command);
        for secret in secrets {
            let told = [&outcome.stdout, &outcome.stderr];
            assert!(told.iter().all(|text| !text.contains(secret)), "{told:?}");
        }
    }
    drop(process);
    let text = String::from_utf8_lossy(&fs::read(log).expect("the log")).into_owned();
    assert_holds(&text, &["refused an unknown caller", "INVALID_CREDENTIALS", "guarded by 1 credential"]);
    for secret in secrets {
        assert!(!text.contains(secret), "the log holds {secret}");
    }
}
