//! The inspector in a real browser: `inspector/checks.mjs` next to this file.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    clients::{Checked, Client, server::directory},
    support::binary::{CREDENTIALS, Outcome, Process, token, utterd},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/inspector/checks.mjs");

/// A check of the script, against a server of its own.
macro_rules! checks {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), |_| check(stringify!($name)))),*] };
}

/// The browser and its checks.
pub const CLIENT: Client = Client {
    name: "chromium",
    probe: &["node", SCRIPT, "--probe"],
    install: "apt-get install chromium, npm install playwright-core axe-core, and NODE_PATH",
    optional: false,
    checks: checks![
        the_newest_conversation_first,
        titles_and_texts_in_one_search,
        little_on_each_card,
        a_conversation,
        what_was_said_is_only_text,
        changes_as_they_happen,
        a_change_while_it_is_read,
        a_context_at_any_budget,
        segments_and_what_they_cover,
        recall_with_highlighted_matches,
        forks_as_a_tree,
        ten_thousand_utterances,
        forgetting_with_a_preview,
        an_utterance,
        a_tool_call_and_its_result,
        state,
        every_part_of_the_policy,
        a_prepared_history,
        a_conversation_s_life,
        exports_and_imports,
        shares,
        every_view_for_a_screen_reader,
        the_words_of_the_interface,
        everything_by_the_keyboard,
        a_phone,
        light_and_dark,
        with_a_token,
    ],
};

/// Runs a check against a server that asks for credentials if the check signs in.
fn check(name: &str) -> Checked {
    let directory = directory();
    let mut server = utterd(directory.path());
    server.args(["serve", "--listen", "127.0.0.1:0", "--inspector", "127.0.0.1:0", "--announce", "json"]);
    let mut tokens = Vec::new();
    if name == "with_a_token" {
        for role in ["read-write", "read-only", "admin"] {
            tokens.push(token(directory.path(), role, role, &[]));
        }
        server.args(["--credentials", CREDENTIALS]);
    }
    let mut server = Process(server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts"));
    let mut announced = String::new();
    let stdout = server.0.stdout.take().expect("stdout is piped");
    BufReader::new(stdout).read_line(&mut announced).expect("it announces itself");
    let announced: Value = serde_json::from_str(&announced).expect("an announcement is JSON");
    let page = announced["inspector"].as_str().expect("the inspector is served");
    let output = Outcome::of(Command::new("node").args([SCRIPT, name, page]).args(tokens));
    match output.code {
        Some(0) => Ok(()),
        _ => Err((output.stdout + &output.stderr).into()),
    }
}
