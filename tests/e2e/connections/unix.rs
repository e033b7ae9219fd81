//! Unix sockets.

use std::{
    fs,
    io::BufReader,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::Path,
    process::{Command, Stdio},
};

use crate::support::binary::{Outcome, Process, Server, UTTERD, assert_holds, line_with, utterd};

fn start(path: &Path) -> Server {
    let directory = tempfile::tempdir().expect("a directory");
    Server::start_at(&format!("unix:{}", path.display()), directory, &[])
}

/// The error of a server that cannot listen on `path`.
fn refused(path: &Path) -> String {
    run(&["serve", "--listen", &format!("unix:{}", path.display())]).failed(1)
}

fn run(arguments: &[&str]) -> Outcome {
    let directory = tempfile::tempdir().expect("a directory");
    Outcome::of(utterd(directory.path()).args(arguments).stdout(Stdio::piped()))
}

/// The permissions of the socket of a server started with `flags` under the umask `umask`.
fn mode(umask: &str, flags: &str) -> u32 {
    let directory = tempfile::tempdir().expect("a directory");
    let script = format!("umask {umask}; exec {UTTERD} serve --listen unix:socket --announce json {flags}");
    let command = utterd(directory.path());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(directory.path()).stdin(Stdio::null()).stdout(Stdio::piped());
    command.get_envs().for_each(|(name, _)| {
        shell.env_remove(name);
    });
    let mut server = Process(shell.spawn().expect("a shell"));
    let mut stdout = BufReader::new(server.0.stdout.take().expect("stdout is piped"));
    line_with(&mut stdout, "unix:");
    fs::metadata(directory.path().join("socket")).expect("a socket").permissions().mode() & 0o777
}

#[test]
fn calls_go_over_a_unix_socket_which_is_removed_at_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    let server = start(&path);
    assert_eq!(server.address, format!("unix:{}", path.display()));
    server.run(&["memorize", "hello"]).worked();
    assert_holds(&server.run(&["show"]).worked(), &["hello"]);
    assert_holds(&refused(&path), &["socket", "the socket is in use by another server"]);
    server.terminate();
    server.ended();
    assert!(!path.exists());
}

#[test]
fn a_socket_that_is_left_over_is_replaced_and_another_file_is_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    drop(UnixListener::bind(&path).expect("it is bound"));
    assert!(path.exists());
    start(&path).run(&["memorize", "hello"]).worked();

    let file = directory.path().join("file");
    fs::write(&file, "mine").expect("it is written");
    assert_holds(&refused(&file), &["not a socket"]);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "mine");
}

#[test]
fn only_the_owner_may_connect_unless_the_socket_is_to_have_other_rights() {
    assert_eq!(mode("000", ""), 0o600);
    assert_eq!(mode("777", ""), 0o600);
    assert_eq!(mode("077", "--socket-mode 666"), 0o666);
}

#[test]
fn a_socket_that_another_server_took_is_left_to_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    let first = start(&path);
    fs::remove_file(&path).expect("it is there");
    let second = start(&path);
    first.terminate();
    first.ended();
    second.run(&["memorize", "hello"]).worked();
}

#[test]
fn a_path_is_relative_to_where_the_process_runs_and_may_be_written_with_slashes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("it is there").join("socket");
    let server = Server::start_at("unix:socket", directory, &[]);
    assert_eq!(server.address, format!("unix:{}", path.display()));
    for address in ["unix:socket".into(), format!("unix://{}", path.display())] {
        server.run(&["memorize", "hello", "--server", &address]).worked();
    }
}

#[test]
fn a_path_that_is_too_long_is_refused() {
    let long = format!("unix:/{}", "x".repeat(200));
    assert_holds(&run(&["serve", "--listen", &long]).failed(1), &["201 bytes; accepted: at most 10"]);
    assert_holds(&run(&["show", "--server", &long]).failed(2), &["201 bytes; accepted: at most 10"]);
}

#[test]
fn a_unix_socket_has_no_tls() {
    let flags = ["--tls-cert", "a.pem", "--tls-key", "a.key"];
    let message = run(&[&["serve", "--listen", "unix:socket"][..], &flags].concat()).failed(2);
    assert_holds(&message, &["--tls-cert: tls_cert is `a.pem`", "a Unix socket has no TLS", "socket_mode"]);
}
