//! `utterd` keeps what was said, for LLM agents: a gRPC server that holds each conversation's
//! recent utterances in a rolling, token-accounted window and folds what leaves it into a
//! summary.
//!
//! # The floors
//!
//! ```text
//! main → cli → server → { rpc, engine, formats, store, summarizer, config, tokenizer }
//! ```
//!
//! | floor | what it does | what it may know |
//! |---|---|---|
//! | [`domain`] | the rules, pure and synchronous: what a command makes of a conversation | std and small pure crates |
//! | [`store`] | the [`Store`](store::Store) contract, its conformance suite, the memory store, the [durable](store::durable) ones | domain |
//! | [`engine`] | loads, asks the domain, commits, publishes; one verb a file | domain, the store contract |
//! | [`rpc`] | the gRPC services: decode, call the engine, encode | domain, engine, formats, tokenizer |
//! | [`formats`] | the formats that conversations go to models in, come in and go out in; pure | domain |
//! | [`summarizer`] | the clients of models that make summaries: one call, one attempt | domain, the trait that it implements |
//! | [`tokenizer`] | exact token counts, linear in the input | domain |
//! | [`config`] | settings, and where each came from | domain, tokenizer |
//! | [`server`] | puts it all together, listens, ends cleanly; looks after the files of stores at rest | everything but cli |
//! | [`cli`] | the command line: the server, and a client for each call | server, config, formats, the generated client |
//!
//! `tests/architecture.rs` reads the imports and fails when a floor is broken, or files import one another in
//! a circle.
//!
//! # One change
//!
//! Data goes one way. A request is decoded; the engine takes the conversation's
//! [lane](engine) and asks the domain to decide on the newest state; the domain answers with a
//! [`Transition`](domain::Transition), or with a [`Need`](domain::Need) of archived utterances,
//! which the engine loads before it asks again. A [`Change`](domain::Change) states the facts:
//! appended, evicted, dropped, forgotten, erased, segments written and removed. It has three
//! readers: the store persists it, the trace publishes it, the response is built from it.
//!
//! A state is immutable once it is published; a reader copies a pointer to it and never waits for a
//! decision or a flush. It is
//! published, and its event goes out, only after its commit has succeeded, in the order of the
//! decisions. While commits wait for their flush the next decisions are already made on the pending
//! state, those of one stream too, so that they share the flush; when one fails, those that were
//! built on it are decided anew, after everything in flight has ended and the state was loaded
//! again. Lanes are a cache with a limit in bytes: one that nobody holds may be evicted, and is
//! loaded again when it is asked for. Every commit is a
//! compare-and-set on the conversation's revision: a conflict means that another process was
//! faster, and the decision is made anew on what it left.
//!
//! Some commits change several conversations: one ends and its recipient's next one starts, a fork
//! and its parent, a hard forget of what forks share. Their lanes are held together, taken in the
//! order of their keys, and all of it is published after one flush.
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
//! # Models come behind
//!
//! What leaves a window is summarised in the same commit, without a model. Where one is configured, the
//! segment is provisional: it is its own place in the queue, of which the store keeps an index, so that
//! the queue survives a restart. What a model tells of it is a decision like any other. It is dropped
//! when the segment is not there any more, or anything was forgotten, restored or edited since the model
//! was shown it; so no write waits for a model, and nothing forgotten comes back with an answer.
//!
//! # Where things are
//!
//! - what a state owes itself, for whoever loads one: [`domain::check`]
//! - the window and its eviction: [`domain::Window`]; what joins it: [`domain::memorize`]
//! - tool calls and their results: [`domain::exchange`] (which answers which), [`domain::call_ids`] (ids that a
//!   provider accepts)
//! - limits and presets: [`domain::policy`]; every fixed limit: [`domain::limits`]
//! - the summary: [`domain::segment`] (coverage, folding, chunks), [`domain::extractive`] (sentences, the
//!   ledger, the kind of talk)
//! - compactions, their undo, and the advice to compact: [`domain::compaction`]
//! - what a model writes: [`engine::llm`] (what it is asked), `src/engine/retelling` (when, and what becomes of
//!   failures), [`domain::compaction::replace_by_llm()`] (the rule), [`summarizer`] (its protocols and prompts)
//! - titles and closing summaries: [`domain::closing`]; numbers: [`domain::stats`]; shares:
//!   [`domain::share`]
//! - forks: [`domain::fork`]; where their utterances are stored: [`domain::Trunk`]; edits: [`domain::edit`]
//! - forget instructions: [`domain::forgetting`] (the grammar), [`domain::forget`] (the effect)
//! - ranking: [`domain::recall`]
//! - what goes to a model: [`domain::context`] (which messages), [`mod@formats::render`] (their text)
//! - a history that the caller holds: [`domain::history`] (the rules), [`formats::history`] (its JSON)
//! - request ids, events, indexes, expiry: [`engine`]
//! - what is written to the disk: [`store::durable::records`], a file for each kind of record
//! - what a provider's format holds beyond the model: [`formats::extras`]
//! - errors on the wire: `src/rpc/status.rs`, the only place that knows gRPC codes
//! - the chat in the terminal: `src/cli/chat`, a pure model, its view, and what it asks of a server
#![forbid(unsafe_code)]

pub mod cli;
pub mod config;
pub mod domain;
pub mod engine;
pub mod formats;
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
