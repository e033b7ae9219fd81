//! `openssl`, by which the README makes certificates: what it shows of TLS and of Unix sockets is done as it stands there.

use std::{path::Path, process::Command};

use tempfile::TempDir;

use crate::{
    Checked, Client,
    server::{Server, directory, within},
};

/// The client and its checks.
pub const CLIENT: Client = Client {
    name: "openssl",
    probe: &["openssl", "version"],
    install: "apt-get install openssl",
    optional: true,
    checks: &[("the_readmes_tls", the_readmes_tls), ("the_readmes_unix_socket", the_readmes_unix_socket)],
};

const README: &str = include_str!("../../README.md");
/// Where the README's servers listen unless they are told otherwise.
const ADDRESS: &str = "127.0.0.1:50051";

fn the_readmes_tls(_: &Server) -> Checked {
    let [certificates, tls, mutual] = scripts("### TLS")[..] else { return Err("three scripts".into()) };
    let files = directory();
    done(shell(files.path(), certificates));
    serve_and_call(files.path(), tls);
    serve_and_call(files.path(), mutual);
    let (_server, address) = served(files.path(), mutual);
    let (_, without_certificate) = halves(tls);
    assert!(!ran(files.path(), &without_certificate.replace(ADDRESS, &address)), "it shows no certificate");
    Ok(())
}

fn the_readmes_unix_socket(_: &Server) -> Checked {
    let [script] = scripts("### A Unix socket")[..] else { return Err("one script".into()) };
    serve_and_call(directory().path(), script);
    Ok(())
}

/// The scripts of a section.
fn scripts(heading: &str) -> Vec<&'static str> {
    let (_, section) = README.split_once(heading).expect("the README has the section");
    let section = section.split("\n##").next().unwrap_or_default();
    let fenced = section.split("```sh\n").skip(1);
    fenced.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// The command that serves, and the one that calls.
fn halves(script: &'static str) -> (&'static str, &'static str) {
    script.split_once("\n\n").expect("a server and a call")
}

fn serve_and_call(files: &Path, script: &'static str) {
    let (_server, address) = served(files, script);
    let (_, call) = halves(script);
    assert!(ran(files, &call.replace(ADDRESS, &address)), "{call}");
}

/// Its server, on a port that is free where the README does not say where, and where it listens.
fn served(files: &Path, script: &'static str) -> (Server, String) {
    let (serve, _) = halves(script);
    let mut command = format!("exec {}", serve.trim());
    if !command.contains("--listen") {
        command.push_str(" --listen 127.0.0.1:0");
    }
    let server = Server::of(shell(files, &command), TempDir::new().expect("a directory"));
    let address = server.address.clone();
    (server, address)
}

/// A shell that finds the binary.
fn shell(files: &Path, script: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_utterd")).parent().expect("a directory").to_owned();
    let before = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(binary).chain(std::env::split_paths(&before));
    let mut shell = within(files, "sh");
    shell.args(["-ec", script]).env("PATH", std::env::join_paths(paths).expect("paths"));
    shell
}

fn done(mut command: Command) {
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn ran(files: &Path, script: &str) -> bool {
    shell(files, script).output().expect("a shell").status.success()
}
