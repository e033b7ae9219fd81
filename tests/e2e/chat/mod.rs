//! `utterd chat`: over a pipe, and typed in a real terminal, a pty.

mod commands;
mod compaction;
mod leaving;
mod model;
mod replies;
mod terminal;

use std::fs::File;

use crate::support::binary::{Outcome, Server};

/// A server without limits, which therefore advises compaction.
fn server() -> Server {
    Server::start(&["--preset", "session"])
}

/// A chat that gets these lines over stdin; the key of the model in [`model`] is in its environment.
fn piped(server: &Server, arguments: &[&str], lines: &[&str]) -> Outcome {
    server.file("lines", &lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let stdin = File::open(server.directory.path().join("lines")).expect("the lines");
    let mut command = server.command(&["chat"]);
    Outcome::of(command.args(arguments).env("OPENAI_API_KEY", "secret").stdin(stdin))
}

/// Stores this many alternating messages of user and assistant in a conversation; the newest is the
/// assistant's.
fn stored(server: &Server, conversation: &str, messages: usize) {
    let line = |number: usize| {
        let role = if (messages - number).is_multiple_of(2) { "assistant" } else { "user" };
        format!(
            "{{\"role\":\"{role}\",\"content\":\"In message {number} we decided to change src/part_{number}.rs, \
             because the build failed there with error E{number:04}. Thanks, that is all for now. It would \
             be good to look at the logs again before anything else is touched, as we said earlier today.\"}}\n"
        )
    };
    server.file("before.jsonl", &(1..=messages).map(line).collect::<String>());
    server.run(&["import", "--into-existing", "--as", conversation, "before.jsonl"]).worked();
}
