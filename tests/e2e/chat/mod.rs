//! `utterd chat` in a real terminal: a pty, and what a person would see on its screen.

mod commands;
mod compaction;
mod leaving;
mod model;
mod picture;
mod replies;
mod terminal;

use crate::support::binary::Server;

/// A server without limits, which therefore advises compaction.
fn server() -> Server {
    Server::start(&["--preset", "session"])
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
