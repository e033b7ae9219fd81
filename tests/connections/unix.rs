//! Unix sockets.

use std::{fs, os::unix::net::UnixListener, path::Path, process::Stdio};

use crate::binary::{Outcome, Server, assert_holds, utterd};

fn start(path: &Path) -> Server {
    let directory = tempfile::tempdir().expect("a directory");
    Server::start_at(&format!("unix:{}", path.display()), directory, &[])
}

/// What a server says that cannot listen on `path`.
fn refused(path: &Path) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    command.args(["serve", "--listen", &format!("unix:{}", path.display())]).stdout(Stdio::piped());
    Outcome::of(&mut command).failed(1)
}

#[test]
fn calls_go_over_a_unix_socket_which_is_removed_at_the_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    let server = start(&path);
    assert_eq!(server.address, format!("unix:{}", path.display()));
    server.run(&["memorize", "hello"]).worked();
    assert_holds(&server.run(&["show"]).worked(), &["hello"]);
    assert_holds(&refused(&path), &["socket", "in use"]);
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
    assert_holds(&refused(&file), &["no socket"]);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "mine");
}
