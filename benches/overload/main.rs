//! What happens to calls when more arrive than can be served.
//!
//! `cargo bench --bench overload` starts a server with one worker as a separate process, for each store,
//! measures its capacity, and offers half of that, then four times as much, then half again. Calls are sent
//! when they are due, whether or not earlier ones have been answered, and their time counts from then. Next
//! come callers that wait as long as they are told to, and one caller that does not next to one that makes
//! few calls. Arguments: the backends to measure (`in-memory`, `fjall`; both by default), and `quick` for a
//! third of the time.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and can panic.

#[allow(dead_code, reason = "other benches look at processor time")]
#[path = "../rpc/child.rs"]
mod child;
#[allow(dead_code, reason = "only the server's side is needed")]
#[path = "../rpc/empty.rs"]
mod empty;
#[allow(dead_code, reason = "other benches send more")]
#[path = "../rpc/load.rs"]
mod load;
mod measures;
mod offered;
#[allow(dead_code, reason = "other benches send more")]
#[path = "../rpc/requests.rs"]
mod requests;

/// The same as in the server's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    match arguments.peek().map(String::as_str) {
        Some(child::SERVE) => child::serve(arguments.skip(1)),
        _ => measures::run(&arguments.filter(|argument| !argument.starts_with('-')).collect::<Vec<_>>()),
    }
}
