//! `utterd` keeps what was said, for LLM agents: a gRPC server that holds each conversation's
//! recent utterances in a rolling, token-accounted window and folds what leaves it into a
//! summary.
//!
//! # The floors
//!
//! ```text
//! main → cli → server → { rpc, engine, formats, store, summarizer, embedder, config, tokenizer }
//! ```
//!
//! | floor | what it does | what it may know |
//! |---|---|---|
//! | [`domain`] | the rules, pure and synchronous: what a command makes of a conversation | std and small pure crates |
//! | [`store`] | the [`Store`](store::Store) contract, its conformance suite, the memory store, the [durable](store::durable) ones | domain |
//! | [`engine`] | loads, asks the domain, commits, publishes; one verb a file | domain, the store contract |
//! | `rpc` | the gRPC services: decode, call the engine, encode | domain, engine, formats, tokenizer |
//! | [`formats`] | the formats that conversations go to models in, come in and go out in; pure | domain |
//! | [`summarizer`] | the clients of models that make summaries: one call, one attempt | domain, the trait that it implements |
//! | [`embedder`] | the client of a model that embeds: one call, one attempt | domain, the trait that it implements |
//! | `model_server` | what both clients share: one HTTP request and its answer, bounded, with a key | domain |
//! | [`tokenizer`] | exact token counts, linear in the input | domain |
//! | [`config`] | settings, and where each came from | domain, tokenizer |
//! | [`server`] | puts it all together, listens, ends cleanly; looks after the files of stores at rest | everything but cli |
//! | `cli` | the command line: the server, and a client for each call | server, config, formats, the generated client |
//!
//! `tests/architecture.rs` reads the imports and fails when a floor is broken, or files import one another in
//! a circle.
//!
//! # How a write goes
//!
//! 1. **Decoded.** The request becomes a command and an address. The engine asks the store what the address
//!    means, a conversation or a recipient's active one, and whether the request id has an outcome already.
//! 2. **Queued.** The command is put in its conversation's [queue](engine). Whoever finds the queue free
//!    holds it and drives it; the others get their answers from there.
//! 3. **Decided.** The domain is asked, in the order of the queue, what each command makes of the conversation.
//!    It answers with a [`Transition`](domain::Transition), or with a [`Need`](domain::Need) of archived
//!    utterances, which the engine loads before it asks again. The first decision is made on the state that
//!    was committed last, each further one on what the one before makes of that. A
//!    [`Change`](domain::Change) states the facts: appended, evicted, dropped, forgotten, erased, segments
//!    written and removed.
//! 4. **Committed.** The changes go to the store as one commit, with the outcomes of their request ids and what
//!    becomes of the recipient's pointer. It is a compare-and-set: the commit names the state that it applies
//!    to by its [`ChangeId`](domain::ChangeId). While it is out, nothing else is decided for the conversation;
//!    what comes waits, and goes into the next commit together.
//! 5. **Published, told, answered**, in this order. Readers copy a pointer to the published state and never wait
//!    for a writer. One [`Change`](domain::Change) has three readers, so that they cannot drift: the store
//!    persists it, the trace tells of it, the response is built from it.
//!
//! When the commit fails, nothing has to be taken back, because nothing was believed before: after a conflict
//! the state is loaded and the same commands are decided again; an error of the store is their answer; when
//! the answer was lost, the store is asked for the [`ChangeId`](domain::ChangeId).
//!
//! A commit over several conversations (one ends and its recipient's next one starts, a fork and its parent,
//! a hard forget of what forks share) holds all their queues, taken in the order of their keys, and last that of the
//! recipient's own state; all is published before anyone is answered. A caller that goes away leaves what it drove to a task, so that every commit is
//! published. Retention, expiry, scrubbing and models' summaries are work that nobody waits for.
//!
//! `tests/simulation` runs all of this from one number: clients that give up and try again, callers who want more
//! than there is, a store that is slow, fails, and loses answers, engines that are killed, and a second engine over
//! the same store; each answer is compared with what took effect.
//!
//! # One batch, one flush
//!
//! The durable stores are one implementation over a small trait of ordered keys, which
//! [`fjall`](https://docs.rs/fjall) and [`sled`](https://docs.rs/sled) fulfil. A commit is turned
//! into checks and records on the caller's thread; one writing thread takes all commits that wait,
//! checks them in the order in which they came, and applies what they come to as one batch with one
//! flush. A caller is answered after that flush. When it fails, it is not known what is on the
//! disk: every caller of the batch gets the error, and nothing more is written until the store is
//! opened anew. Beside the engine's files a mark keeps how far they were flushed, so that a store
//! which comes back without its end is refused, not served.
//!
//! # Several processes, one store
//!
//! Over a store that says [`shared`](store::Capabilities::shared) nothing is answered from memory alone: the
//! store is asked for a state unless it is the one known, and refuses a write that was decided on an older one.
//! A write asks once for all that it has to know; what others wait for too is read once for all of them.
//! [Hints](store::Store::hints) of what was changed wake those who watch. A hint is never believed, what is read
//! then is; so it does no harm that one is late, doubled, or lost and told as missed. What a model is paid for is
//! [claimed](store::Store::claim) for a time first; when its worker dies, the claim ends and another follows.
//!
//! # Models come behind
//!
//! What leaves a window is summarised in the same commit, without a model; so is a conversation that ends.
//! Where a model is configured, the segment, or the ending, waits for it: it is its own place in the queue, of
//! which the store keeps an index, so that the queue survives a restart. What a model tells of it is a decision
//! like any other. It is dropped when the segment is not there any more, or anything was forgotten, restored or
//! edited since the model was shown it; so no write waits for a model, and nothing forgotten comes back with an
//! answer.
//!
//! # Where things are
//!
//! - what a state owes itself, for whoever loads one: [`domain::check`]
//! - the window and its eviction: [`domain::Window`]; what joins it: [`domain::memorize`]
//! - tool calls and their results: [`domain::exchange`] (which answers which, and what comes late),
//!   [`domain::call_ids`] (ids that a provider accepts)
//! - limits and presets: [`domain::policy`]; every fixed limit: [`domain::limits`]
//! - the summary: [`domain::segment`] (coverage, folding, chunks), [`domain::extractive`] (sentences, the
//!   ledger, the kind of talk)
//! - compactions, their undo, and the advice to compact: [`domain::compaction`]
//! - what a model writes: [`engine::llm`] (what it is asked, when, and what becomes of failures),
//!   [`domain::compaction::replace_by_llm()`] and [`domain::closing::replace_closing()`] (the rules),
//!   [`summarizer`] (its protocols and prompts)
//! - state, the named values beside a conversation and of a recipient: [`domain::state`]
//! - titles and closing summaries: [`domain::closing`]; numbers: [`domain::stats`]; shares:
//!   [`domain::share`]
//! - forks: [`domain::fork`]; where their utterances are stored: [`domain::Trunk`]; edits: [`domain::edit`]
//! - forget instructions: [`domain::forgetting`] (the grammar), [`domain::forget`] (the effect)
//! - ranking: [`domain::recall`]
//! - what goes to a model: [`domain::context`] (which messages), [`mod@formats::render`] (their text)
//! - a history that the caller holds: [`domain::history`] (the rules), [`formats::history`] (its JSON)
//! - queues, request ids, events, indexes, what falls due: [`engine`]
//! - what is derived from utterances, block by block, and kept beside them: [`domain::Block`],
//!   [`store::Store::derived`]
//! - what is written to the disk: [`store::durable::records`], with a table of the kinds of record
//! - what a provider's format holds beyond the model: [`formats::extras`]
//! - errors on the wire: `src/rpc/status.rs`, the only place that knows gRPC codes
//! - the tools of the Model Context Protocol, `end_conversation`, `get_conversation` and others: `src/cli/mcp`, a
//!   client like every command, also of a server in its own process
//! - the chat in the terminal: `src/cli/chat`, a pure model, its view, and what it asks of a server
#![forbid(unsafe_code)]

/// The program's own, for `main.rs` and tests to reach; no public API.
#[doc(hidden)]
pub mod cli;
pub mod config;
pub mod domain;
pub mod embedder;
pub mod engine;
pub mod formats;
mod model_server;
/// The server's own, for tests to reach; no public API.
#[doc(hidden)]
pub mod rpc;
pub mod server;
pub mod store;
pub mod summarizer;
pub mod tokenizer;

/// The generated messages and services of `utterd.v1`.
#[allow(missing_docs, clippy::all)]
pub mod proto {
    tonic::include_proto!("utterd.v1");

    /// The descriptors of every message and service, for reflection.
    pub const FILE_DESCRIPTOR_SET: &[u8] =
        include_bytes!(concat!(env!("OUT_DIR"), "/utterd_descriptors.bin"));
}
