//! No command repeats the password in an address, however the address is misspelled and wherever it stands.

use std::{fs, path::Path, process::Command};

use crate::support::binary::{Outcome, utterd};

const PASSWORD: &str = "hunter2xyz";

/// Addresses with a password. Nobody listens on port 1.
const ADDRESSES: [&str; 14] = [
    "postgres://ann:hunter2xyz@127.0.0.1:1/talk",
    "postgres://ann@127.0.0.1:1/talk?password=hunter2xyz",
    "postgres:/ann:hunter2xyz@127.0.0.1",
    "postgres//ann:hunter2xyz@127.0.0.1",
    "postgres:ann:hunter2xyz@127.0.0.1/talk",
    "postgres://ann:hunter2xyz/talk",
    "postgres://ann:s@hunter2xyz@127.0.0.1:1/talk",
    "postgres://ann@127.0.0.1:1/talk?pasword=hunter2xyz",
    "mysql://ann:hunter2xyz@127.0.0.1/talk",
    "fjall://ann:hunter2xyz@127.0.0.1/talk",
    "host=127.0.0.1 user=ann password=hunter2xyz",
    "ann:hunter2xyz@127.0.0.1:5432",
    "https://ann:hunter2xyz@127.0.0.1:1/v1",
    "https://127.0.0.1:1/v1?key=hunter2xyz",
];

/// Settings, those of addresses first. A directory is shown, unless it can only be an address.
const SETTINGS: [&str; 7] = [
    "database_url",
    "llm_base_url",
    "embedding_base_url",
    "traces_endpoint",
    "backend",
    "inspector",
    "data_dir",
];

#[track_caller]
fn keeps_the_secret(command: &mut Command) {
    let Outcome { stdout, stderr, .. } = Outcome::of(command.env("UTTERD_LOG", "trace"));
    assert!(!stdout.contains(PASSWORD) && !stderr.contains(PASSWORD), "{command:?}:\n{stdout}{stderr}");
}

/// Commands that read the settings, with a setting that is given as a flag, and one with it as a variable.
fn settings(directory: &Path, key: &str, value: &str) -> Vec<Command> {
    let (flag, variable) = (format!("--{}", key.replace('_', "-")), format!("UTTERD_{}", key.to_uppercase()));
    let commands = [&["config"][..], &["serve", "--check"], &["migrate"]];
    let mut by_flag = Vec::from(commands.map(|words| {
        let mut command = utterd(directory);
        command.args(words).args([&flag, value]);
        command
    }));
    let mut by_variable = utterd(directory);
    by_variable.arg("config").env(&variable, value);
    by_flag.push(by_variable);
    by_flag
}

#[test]
fn no_setting_with_a_password_is_repeated() {
    let directory = tempfile::tempdir().expect("a directory");
    for address in ADDRESSES {
        for key in SETTINGS {
            if key == "data_dir" && !address.contains("://") && !address.starts_with("postgres:") {
                continue;
            }
            for mut command in settings(directory.path(), key, address) {
                keeps_the_secret(&mut command);
                if key == "database_url" {
                    keeps_the_secret(command.env("UTTERD_BACKEND", "postgres"));
                }
            }
        }
    }
}

#[test]
fn no_line_of_a_file_with_a_password_is_repeated() {
    let directory = tempfile::tempdir().expect("a directory");
    for address in ADDRESSES {
        for line in [
            format!("database_url = \"{address}\""),
            format!("database_url = {address}"),
            format!("database_url = \"{address}"),
            format!("database_url = [\"{address}\"]"),
            format!("database_url \"{address}\""),
            format!("[database_url]\nurl = \"{address}\""),
            format!("database_uri = \"{address}\""),
            format!("\"{address}\" = 1"),
            address.to_owned(),
            format!("log = \"{address}\""),
        ] {
            fs::write(directory.path().join("utterd.toml"), format!("backend = \"postgres\"\n{line}\n"))
                .expect("it is written");
            for words in [&["config"][..], &["verify", "postgres"]] {
                keeps_the_secret(utterd(directory.path()).args(words));
            }
        }
    }
}

#[test]
fn no_argument_with_a_password_is_repeated() {
    let directory = tempfile::tempdir().expect("a directory");
    for address in ADDRESSES {
        let flagged = format!("--databse-url={address}");
        for words in [
            &["backup", "new", "--from", address][..],
            &["restore", "old", "--to", address],
            &["verify", address],
            &["verify", "postgres", address],
            &["verify", address, "--json"],
            &["scrub", address],
            &["migrate", address],
            &["serve", "--check", &flagged],
            &["capacity", "--server", address],
            &["capacity", address],
            &["mcp", "--server", address],
            &[address],
        ] {
            keeps_the_secret(utterd(directory.path()).args(words));
        }
        keeps_the_secret(utterd(directory.path()).arg("health").env("UTTERD_SERVER", address));
    }
}

/// What can be shown, is: a person must see what to correct.
#[test]
fn what_holds_no_password_is_repeated() {
    let directory = tempfile::tempdir().expect("a directory");
    for (words, expected) in [
        (&["verify", "rocks:data"][..], "there is no backend `rocks`"),
        (&["serve", "--check", "--backend", "rocks"], "backend is `rocks`"),
        (&["capacity", "--server", "ftp://example.org"], "--server \"ftp://example.org\""),
    ] {
        let told = Outcome::of(utterd(directory.path()).args(words)).failed(2);
        assert!(told.contains(expected), "{told}");
    }
}
