//! `utterd` stores conversation history for LLM agents. It is a gRPC server that holds each conversation's
//! recent utterances in a rolling, token-counted window, and folds the utterances that leave the window into a
//! summary.
//!
//! # The crates
//!
//! ```text
//! main → cli → server → { rpc, engine, formats, store, models, config, tokenizer, telemetry }
//! ```
//!
//! Each layer is a crate in `crates/`, so a layer cannot use one that is not among its dependencies. This library only
//! gives them together.
//!
//! | crate | what it does | what it may use |
//! |---|---|---|
//! | [`domain`] | the rules, pure and synchronous: how a command changes a conversation | std and small pure crates |
//! | [`store`] | the [`Store`](store::Store) contract, its conformance suite, the memory store, the [durable](store::durable) ones and [PostgreSQL](store::postgres), [backups](store::backup) and [verification](store::verify) of all | domain, telemetry |
//! | [`engine`] | loads, asks the domain, commits, publishes; one file per verb | domain, the store contract, telemetry |
//! | [`rpc`] | the gRPC services: decode, call the engine, encode; the generated messages are in [`proto`] | domain, engine, formats, tokenizer, telemetry |
//! | [`formats`] | the formats in which conversations are imported, exported and sent to models; pure | domain |
//! | `summary` | summaries without a model; pure | text |
//! | `models` | the clients of models that write summaries ([`summarizer`]) and embed ([`embedder`]): one call, one attempt | domain, the engine's traits that it implements |
//! | `text` | reads texts: sentences, words, entities, cues, secrets; pure | small pure crates |
//! | [`tokenizer`] | exact token counts, linear in the input | domain |
//! | [`telemetry`] | metrics for Prometheus, traces for OpenTelemetry, what a terminal gets | nothing here |
//! | [`config`] | settings, and where each one came from | domain, tokenizer |
//! | [`server`] | assembles the server, listens, shuts down cleanly; maintains the files of closed stores | everything but cli |
//! | [`cli`] | the command line: the server, and a client | server, config, formats, the generated client, the clients of models |
//!
//! `tests/it/architecture` reads the imports and fails if files import each other in a cycle, or if one of the pure crates
//! uses a clock, randomness or I/O.
//!
//! The cargo features `fjall`, `sled`, `inspector`, `mcp`, `postgres`, `jwt`, `otel` and `llm` are parts that a build can
//! leave out. A setting or command of a part that is not there is refused by name: see `crates/config/src/part.rs`.
//!
//! # The path of a write
//!
//! 1. **Decoded.** The request becomes a command and an address. The engine asks the store what the address
//!    means (a conversation, or a recipient's active one) and whether the request id already has an outcome.
//! 2. **Queued.** The command is put in its conversation's [queue](engine). The first caller to find the queue
//!    without a run starts one, which answers all of them.
//! 3. **Decided.** In queue order, the domain decides how each command changes the conversation. It returns a
//!    [`Transition`](domain::Transition), or a [`Need`](domain::Need) for archived utterances, which the engine
//!    loads before it asks again. The first decision is based on the last committed state, each later one on
//!    the result of the one before. A [`Change`](domain::Change) states the facts: appended, evicted, dropped,
//!    forgotten, erased, segments written and removed.
//! 4. **Committed.** The changes go to the store as one commit, together with the outcomes of their request ids
//!    and the new value of the recipient's pointer. It is a compare-and-set: the commit names the state it
//!    applies to by its [`ChangeId`](domain::ChangeId). While it is in flight, nothing else is decided for the
//!    conversation; commands that arrive meanwhile wait and share the next commit.
//! 5. **Published, announced, answered**, in this order. Readers copy a pointer to the published state and
//!    never wait for a writer. One [`Change`](domain::Change) has three readers, so they cannot drift apart:
//!    the store persists it, the trace reports it, the response is built from it.
//!
//! A failed commit leaves nothing to undo, because nothing is published before it: after a conflict the state
//! is reloaded and the same commands are decided again; a store error is returned to the callers; if the answer
//! was lost, the store is asked for the [`ChangeId`](domain::ChangeId).
//!
//! A commit over several conversations (one ends and its recipient's next one starts, a fork and its parent, a
//! hard forget of utterances that others share or have copies of) holds them all, taken in key order, and the
//! recipient's own state last; everything is published before anyone is answered. A caller that is dropped stops
//! nothing, so every commit is published. Retention, expiry, scrubbing and models' summaries run in the
//! background; no call waits for them.
//!
//! `tests/simulation` runs all of this from one seed: clients that give up and retry, more callers than the
//! server has room for, a store that is slow, fails and loses answers, engines that are killed, and a second
//! engine over the same store. What took effect, and each answer, is compared with a naive world: the rules in
//! the simplest terms, which share no code with the server.
//!
//! # Five walks, file by file
//!
//! Each path begins with the name of a crate: `rpc/memorize.rs` is `crates/rpc/src/memorize.rs`.
//!
//! | a write | |
//! |---|---|
//! | `rpc/memorize.rs` | decodes the request into drafts and an address, and encodes the reply |
//! | `engine/write/memorize.rs` | counts the tokens of the drafts, and makes a write with the domain's rule |
//! | `engine/write/aim.rs` | finds the conversation that the address means, or the outcome of an earlier attempt |
//! | `engine/lane/run.rs` | puts the write in its conversation's queue; its run takes all that wait |
//! | `engine/lane/batch.rs`, `decide.rs` | let the domain decide each waiting write on the result of the one before |
//! | `engine/lane/commit.rs` | commits the batch, publishes the new state, and reports the events |
//!
//! | a context | |
//! |---|---|
//! | `rpc/build_context.rs` | decodes the request, and writes the messages in the requested format |
//! | `engine/read/context.rs` | reads the published state, and pinned and recalled utterances from the archive |
//! | `domain/context` | shares the budget among instructions, summary, pinned, recent and recalled utterances |
//! | `formats/render` | writes the chosen units as OpenAI's or Anthropic's messages, or as text |
//!
//! | a search | |
//! |---|---|
//! | `engine/search/remember.rs` | reads the states to search, and pages through the matches |
//! | `engine/search/indexing.rs` | completes the index of each conversation from stored blocks and from utterances |
//! | `engine/search/ranked.rs` | ranks by words and, with an embedding model, by meaning |
//! | `domain/recall` | splits texts into terms, looks them up, and scores passages |
//!
//! | a hard forget | |
//! |---|---|
//! | `engine/write/forget.rs` | parses the instruction into a rule, and asks for an erasure |
//! | `engine/write/erase.rs` | holds the conversations, decides all, and commits once; starts over if it reaches more |
//! | `engine/write/reach.rs` | finds the conversations that share the erased utterances or have copies of them |
//! | `domain/forget/erasure.rs` | decides what each of these loses |
//!
//! | a commit in PostgreSQL | |
//! |---|---|
//! | `store/postgres/write/lanes.rs` | makes commits of one conversation take turns in the order of their calls |
//! | `store/delta.rs` | says which records the commit writes and removes: the same for files and for a backup of memory |
//! | `store/postgres/write/plan.rs`, `row.rs` | turn the commit into statements, or into one row of a shared statement |
//! | `store/postgres/write/commit.rs` | runs the statements, and settles a commit whose answer was lost |
//! | `store/postgres/hints.rs` | sends hints of the changes to the other processes |
//!
//! # Long work
//!
//! A worker's thread serves all calls of its connections, so nothing long runs on it. Work that grows with a
//! text, a window or an index (counting, reading JSON, deciding about a large window, summarising, indexing,
//! searching, building contexts, writing exports) is [offloaded](engine::offload()) once it is long: it moves
//! to another thread, with everything that it works on, and its call waits without holding the worker. At most
//! one piece of such work per processor runs at a time; short work stays on the worker's thread, where it is
//! faster. Background work has a thread of its own. `tests/it/rpc/long_work.rs` makes each such call on a
//! single-threaded runtime, and checks that another call is answered meanwhile.
//!
//! # One batch, one flush
//!
//! The durable stores are one implementation over a small trait of ordered keys, with
//! [`fjall`](https://docs.rs/fjall) and [`sled`](https://docs.rs/sled) behind it. The caller's thread turns a
//! commit into checks and records; a single writer thread takes all waiting commits, checks them in order of
//! arrival, and applies them as one batch with one flush. Callers are answered after that flush. If the flush
//! fails, the contents of the disk are unknown: every caller of the batch gets the error, and nothing more is
//! written until the store is reopened. Next to the engine's files, a mark records how far they were flushed,
//! so a store that comes back truncated is refused, not served.
//!
//! # Several processes, one store
//!
//! Over a [`shared`](store::Capabilities::shared) store, such as [PostgreSQL](store::postgres), nothing is
//! answered from memory alone. A read asks the store for a state newer than the known one, unless its caller
//! accepts an older answer and the store was asked recently. A write is decided on the known state, and the
//! store refuses the commit if there is a newer one; an answer without a commit is confirmed first. If no state
//! is known, or other processes have recently been faster, a write asks once for everything it needs.
//! [Hints](store::Sharing::hints) of changes wake the watchers. A hint is never trusted, only the read that
//! follows it, so a hint may be late, duplicated, or lost: at intervals, all watchers read again. Before a model is
//! paid for work, the work is [claimed](store::Sharing::claim) for a limited time; if the worker dies, the claim
//! expires and another worker takes over.
//!
//! # Models come later
//!
//! Utterances that leave a window are summarised in the same commit, without a model, and so is a conversation
//! that ends. If a model is configured, the segment or the ending then waits for it. Each is its own queue
//! entry, and the store keeps an index of them, so the queue survives a restart. A model's answer is decided on
//! like any other command. It is dropped if the segment no longer exists, or if anything was forgotten,
//! restored or edited since the model saw its material. So no write waits for a model, and no answer brings
//! back forgotten text.
//!
//! # A panic ends one piece of work
//!
//! A panic is a bug in this program. The panic hook logs its place, and the code that
//! [catches](telemetry::panics) it counts it. A call or stream ends with INTERNAL. In a queue, the write that
//! panicked fails, and the others are decided without it. If the store panicked in a commit, the commit is
//! looked up as if its answer were lost. Background work begins its next round. A panic in a task is resumed in
//! the code that waits for the task.
//!
//! # Where to find things
//!
//! - consistency checks, run whenever a state is loaded: [`domain::check`]
//! - the window and its eviction: [`domain::Window`]; adding to it: [`domain::memorize`]
//! - tool calls and their results: [`domain::exchange`] (which result answers which call, and late results),
//!   [`domain::exchange::call_ids`] (ids a provider accepts)
//! - limits and presets: [`domain::policy`]; every fixed limit: [`domain::limits`]
//! - the summary: [`domain::segment`] (coverage, folding), [`domain::extract`] (utterances as items, and their
//!   lines), `crates/summary` (what is told, and what no longer holds), `crates/text` (sentences, names, cues,
//!   credentials)
//! - compactions, their undo, and the advice to compact: [`domain::compaction`]
//! - a model's summaries: [`engine::models::llm`] (what it is asked, when, and how failures are handled),
//!   [`domain::compaction::replace_by_llm()`] and [`domain::closing::replace_closing()`] (the rules),
//!   [`summarizer`] (the protocols and prompts)
//! - state, the named values of a conversation and of a recipient: [`domain::state`]
//! - titles and closing summaries: [`domain::closing`]; numbers: [`domain::stats`]; shares:
//!   [`domain::share`]
//! - forks: [`domain::fork`]; where their utterances are stored: [`domain::Trunk`]; where an utterance was
//!   first stored, and its copies: [`domain::fork::origin`]; edits: [`domain::edit`]
//! - forget instructions: [`domain::forgetting`] (the grammar), [`domain::forget`] (the effect)
//! - ranking: [`domain::recall`]
//! - the context for a model: [`domain::context`] (which messages), [`mod@formats::render`] (their text)
//! - a history kept by the caller: [`domain::history`] (the rules), [`formats::history`] (its JSON)
//! - queues, request ids, events, indexes, due work: [`engine`]; long work, off the serving threads:
//!   [`engine::offload()`]
//! - data derived from utterances, stored block by block with them: [`domain::Block`],
//!   [`store::DerivedData::derived`]
//! - the format on disk: [`store::records`], with a table of the record kinds
//! - parts of a provider's format that the domain does not model: [`formats::extras`]
//! - errors on the wire: `crates/rpc/src/convert/status.rs`, the only place that uses gRPC codes, and
//!   `crates/rpc/src/convert/bounded.rs`, which keeps them short enough to arrive
//! - the Model Context Protocol tools (`end_conversation`, `get_conversation` and others): `crates/cli/src/mcp`, a
//!   client like every other command, which can also run against a server in its own process
//! - the page for browsers: `crates/server/src/inspector`, its files in `page/`, and the calls that it makes in JSON
//! - calls of any method by its descriptor: `crates/server/src/dynamic`, for the page and for `crates/cli/src/call`
//! - the chat: `crates/cli/src/chat`, a loop over lines, and its calls to the server and to a model

pub use utterd_cli as cli;
pub use utterd_config as config;
pub use utterd_domain as domain;
pub use utterd_engine as engine;
pub use utterd_formats as formats;
#[cfg(feature = "llm")]
pub use utterd_models::{embedder, summarizer};
pub use utterd_rpc as rpc;
pub use utterd_rpc::proto;
pub use utterd_server as server;
pub use utterd_store as store;
#[cfg(feature = "conformance")]
pub use utterd_store::store_conformance;
pub use utterd_telemetry as telemetry;
pub use utterd_tokenizer as tokenizer;
