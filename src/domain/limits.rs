//! Every fixed limit and default, with its unit and where it comes from.

use std::{num::NonZeroU32, time::Duration};

/// Longest identifier, in bytes.
pub const MAX_ID_BYTES: usize = 256;
/// Longest `name` of a speaker or a tool, in bytes.
pub const MAX_NAME_BYTES: usize = 256;
/// Most bytes of one utterance's content, by default. Tool results of 51,000 characters are common.
pub const DEFAULT_MAX_CONTENT_BYTES: usize = 1 << 20;
/// Most bytes of one utterance's content that the setting may allow: what the stores and the calls are tried with.
pub const MOST_CONTENT_BYTES: usize = 16 << 20;
/// Bytes of a message beside its largest content: names, metadata, ids.
pub const BESIDE_CONTENT_BYTES: usize = 1 << 20;
/// Most utterances of one Memorize, by default.
pub const DEFAULT_MAX_BATCH: usize = 1_000;
/// Bytes of the items of one answer, after which a page ends: a gRPC client reads answers of 4 MiB by
/// default, and what stands beside the items has its part of them.
pub const MAX_ANSWER_BYTES: usize = 3 << 20;
/// Bytes of one list of references in an answer; those behind them have only their sequence, in 8 bytes each.
pub const MAX_REFERENCE_BYTES: usize = 1 << 20;
/// Bytes of the warnings of one answer.
pub const MAX_WARNING_BYTES: usize = 1 << 20;
/// What a history in JSON may take once it is read, in bytes: the largest message twice.
pub const MAX_HISTORY_WEIGHT: usize = 32 << 20;
/// Most bytes of one import: it is held in memory, and once more in its parts, until it is stored.
pub const MAX_IMPORT_BYTES: usize = 16 << 20;
/// Bytes of a file of settings, of keys or of credentials.
pub const MAX_SETTINGS_BYTES: usize = 4 << 20;
/// What an import takes beside its bytes at most, in bytes: its texts once more, and some 20,000 messages.
pub const MAX_IMPORT_WEIGHT: usize = 32 << 20;
/// Utterances of an import that are stored in one commit.
pub const IMPORT_BATCH: usize = 1_000;
/// Most tool calls of one utterance.
pub const MAX_TOOL_CALLS: usize = 256;
/// Abandoned calls of a conversation that a late result may answer; of more, the newest.
pub const MAX_ABANDONED_CALLS: usize = 256;
/// Most entries of an utterance's metadata or of a conversation's labels.
pub const MAX_MAP_ENTRIES: usize = 64;
/// Longest key of metadata or labels, in bytes.
pub const MAX_MAP_KEY_BYTES: usize = 128;
/// Longest value of metadata or labels, in bytes.
pub const MAX_MAP_VALUE_BYTES: usize = 4_096;
/// Longest prompt of Remember, in bytes.
pub const MAX_PROMPT_BYTES: usize = 64 << 10;
/// Names of one conversation's state at most.
pub const MAX_STATE_NAMES: usize = 256;
/// Bytes of one conversation's state at most, names and values.
pub const MAX_STATE_BYTES: u64 = 1 << 20;
/// Shares of one conversation at most.
pub const MAX_SHARES: usize = 64;
/// Spans of time that GetStats tells at most: a year of hours, and some.
pub const MAX_SPANS: usize = 10_000;
/// Tools that GetStats tells at most, those called most.
pub const MAX_TOOLS: usize = 1_000;
/// Lists by update look up the conversations last changed within so long together, and the index that leads there is
/// written anew only when a change falls into the next span: seldom where much is said.
pub const UPDATE_SPAN: Duration = Duration::from_secs(64);
/// Conversations whose ids begin alike, up to which a list looks at each of them: of more, at its index.
pub const FEW_NAMES: usize = 1_024;

/// Longest title of a conversation, in bytes.
pub const MAX_TITLE_BYTES: usize = 512;

/// Longest reason of an ending, in bytes.
pub const MAX_REASON_BYTES: usize = 512;

/// Utterances in the window, by default (seed 001, `buffer_size`).
pub const DEFAULT_MAX_UTTERANCES: u32 = 20;
/// Tokens in the window, by default (seed 001, `max_tokens`).
pub const DEFAULT_MAX_TOKENS: u32 = 8_000;
/// Turns before the TURNS preset evicts (seed 003, `maxTurnsBeforeCompaction`).
pub const DEFAULT_MAX_TURNS: u32 = 10;
/// Turns that the TURNS preset keeps (seed 003, `recentTurnsToKeep`).
pub const DEFAULT_KEEP_TURNS: u32 = 3;
/// Tokens of the whole summary, by default (seed 001, `summary_token_limit`).
pub const DEFAULT_SUMMARY_TOKENS: u32 = 1_000;
/// Tokens of a summary at most, also where its policy has no limit: it is read, and answered, whole.
pub const MAX_SUMMARY_TOKENS: u32 = 100_000;
/// Utterances that the archive of one conversation holds, by default.
pub const DEFAULT_ARCHIVE_LIMIT: u32 = 10_000;

/// Bytes that an utterance counts beside its texts where stored bytes are counted: about what its numbers, marks
/// and keys take. Heads on the disk hold such counts, so it never changes.
pub const UTTERANCE_BYTES: u64 = 128;
/// Bytes that a conversation counts beside its title, its labels and its utterances where stored bytes are
/// counted: about what its records take.
pub const CONVERSATION_BYTES: u64 = 1_024;

/// A new segment's tokens at most, in percent of its source (seed 004: 70 % compression), where the conversation is to
/// become short or the limit leaves no room.
pub const SEGMENT_PERCENT: u32 = 30;
/// A new segment may always have so many tokens, however small its source.
pub const SEGMENT_FLOOR_TOKENS: u32 = 40;
/// Segments of one conversation at most; the oldest are folded beyond it.
pub const MAX_SEGMENTS: usize = 128;

/// Tokens of a closing summary by a model at most: 2 to 3 sentences (seed 000), and some room.
pub const CLOSING_TOKENS: u32 = 160;

/// Longest name of a model, in bytes.
pub const MAX_MODEL_BYTES: usize = 128;

/// Utterances that a compaction leaves in the window, by default (seed 004).
pub const DEFAULT_KEEP_RECENT: u32 = 15;
/// A window of fewer utterances is not compacted (seed 004).
pub const LEAST_COMPACTED_WINDOW: usize = 30;
/// From so many utterances in the window on, compaction is advised (seed 004).
pub const FIRST_ADVICE: u32 = 50;
/// Compaction is advised again after so many more (seed 004).
pub const ADVICE_STEP: u32 = 10;
/// Nothing is advised before so many utterances were said since the last compaction (seed 004).
pub const ADVICE_SPACING: u64 = 20;
/// Compactions of a conversation that are listed.
pub const MAX_COMPACTIONS: usize = 100;
/// Of these, the newest that can be undone.
pub const MAX_UNDO: usize = 10;

/// Ended conversations kept for a recipient (seed 000, `maxConversationsRetained`).
pub const DEFAULT_CONVERSATIONS_RETAINED: u32 = 1_000;

/// Idle for so long, a conversation is `IDLE` (seed 000, `conversationIdleTimeoutMinutes`).
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// An awaited answer is stale after so long, by default (seed 000, `conversationStateTimeoutMinutes`).
pub const DEFAULT_AWAITING_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// A share expires after so long, by default.
pub const DEFAULT_SHARE_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// A share expires after so long at most: a leap year.
pub const MAX_SHARE_LIFETIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// A model answers a request for a summary within so long, by default.
pub const DEFAULT_LLM_TIMEOUT: Duration = Duration::from_secs(60);
/// Requests for summaries that models work on at once, by default.
pub const DEFAULT_LLM_CONCURRENCY: usize = 4;
/// Most bytes of a model's answer: a summary of the largest limit in use has some kilobytes.
pub const MAX_LLM_ANSWER_BYTES: usize = 1 << 20;
/// A model embeds within so long, by default: some dozens of texts on one processor take seconds.
pub const DEFAULT_EMBEDDING_TIMEOUT: Duration = Duration::from_secs(30);
/// Most values of an embedding: of those that servers offer, the largest have as many.
pub const MAX_EMBEDDING_DIMENSIONS: usize = 4_096;
/// Texts that are embedded with one request: what the strictest server in use takes.
pub const EMBEDDING_BATCH: usize = 32;
/// Most bytes of an answer with embeddings: a batch of the largest has 3 MiB.
pub const MAX_EMBEDDING_ANSWER_BYTES: usize = 8 << 20;
/// Bytes of an utterance, from its beginning, that are embedded: about the 512 tokens that small encoders read.
pub const EMBEDDED_BYTES: usize = 2_000;
/// A search waits so long for the embedding of its prompt.
pub const EMBEDDING_PATIENCE: Duration = Duration::from_millis(300);
/// Most bytes of a tool result, or of a call's arguments, that a model reads: a few hundred tokens.
pub const LLM_RESULT_BYTES: usize = 1_600;
/// Most bytes of any other utterance that a model reads: some 6,000 tokens.
pub const LLM_CONTENT_BYTES: usize = 24 << 10;

/// The clocks of several servers over one store are apart by so much at most. A time farther ahead was noted
/// by a clock that was wrong.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The outcome of a request id is replayed for so long.
pub const OUTCOME_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest forget instruction, in bytes.
pub const MAX_INSTRUCTION_BYTES: usize = 4_096;
/// Texts that one forget instruction looks for: each is looked for in everything stored.
pub const MAX_TOPICS: usize = 16;

/// Bytes of the indexes of the conversations searched lately.
pub const INDEX_BYTES: u64 = 256 << 20;
/// Bytes of the embeddings of the conversations searched lately.
pub const EMBEDDING_BYTES: u64 = 256 << 20;
/// Either takes this part of `memory_limit` at most: an eighth.
pub const INDEX_SHARE: u64 = 8;
/// Bytes of the events that are kept, for each of those that a namespace may have: one of a change takes some 700.
pub const EVENT_BYTES: usize = 1 << 10;
/// Bytes of the events that are kept, of however few.
pub const LEAST_EVENTS_BYTES: usize = 1 << 20;

/// Connections at once, by default.
pub const DEFAULT_MAX_CONNECTIONS: usize = 10_000;
/// Descriptors that connections leave to the store, its files' cache included, to the logs and to what is leaving.
pub const RESERVED_DESCRIPTORS: usize = 768;
/// Files of its tables that the store keeps open.
pub const STORE_CACHED_FILES: usize = 256;
/// Connections that were evicted and are not closed yet: their descriptors are reserved ones.
pub const MAX_LEAVING_CONNECTIONS: usize = 128;
/// Connections that are being told that there is no room: their descriptors are reserved ones.
pub const MAX_REFUSED_CONNECTIONS: usize = 64;
/// A connection that was evicted has so long to end a call that came at the same moment: a round trip.
pub const EVICTION_GRACE: Duration = Duration::from_millis(100);
/// A client has so long for its TLS handshake, and so long to say that it speaks HTTP/2.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection without a call is closed after so long; clients connect again with their next call.
pub const IDLE_CONNECTION_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// A connection that is closed because it was idle has so long to end a call that came at the same moment.
pub const IDLE_GRACE: Duration = Duration::from_secs(10);
/// A client from which nothing came for so long is asked for a sign of life.
pub const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);
/// A client that gives none for so long is gone.
pub const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes that a call may be ahead of what the server has read of it. What waits in frames of a few bytes costs more
/// than it weighs, and h2 ends a connection on which that exceeds half of `CONNECTION_WINDOW`: 64 KiB of the
/// smallest messages, of 14 bytes, cost 1.1 MiB.
pub const STREAM_WINDOW: u32 = 64 << 10;
/// Bytes that all calls of a connection may be ahead together.
pub const CONNECTION_WINDOW: u32 = 16 << 20;
/// Calls in flight have so long to end when the server does.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The files of who may call are looked at so often: one who was removed is shut out within seconds.
pub const CREDENTIALS_RELOAD: Duration = Duration::from_secs(2);
/// A call that goes on is held to the clock so often, beside when its credential changes or expires.
pub const CREDENTIAL_CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// Failed attempts are logged once in so long at most.
pub const ATTEMPT_LOG_INTERVAL: Duration = Duration::from_secs(1);
/// Checks of signatures that may fail in a second, of calls from one address: a hundredth of a processor, or a tenth
/// where keys are of P-384. One of each connection is made beyond that.
pub const FAILED_CHECKS_A_SECOND: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// The clocks of those who sign JWTs may differ from the server's by so much.
pub const JWT_LEEWAY: Duration = Duration::from_secs(60);
/// JWTs whose signature need not be checked again: a few hundred bytes each.
pub const MAX_VERIFIED_JWTS: usize = 4_096;
/// Shortest key of HMAC with SHA-256, in bytes (RFC 7518, 3.2).
pub const MIN_HMAC_KEY_BYTES: usize = 32;

/// Bytes that a durable backend leaves free on its disk, by default: what its engine holds in memory and merges
/// behind the replies, and a journal.
pub const DEFAULT_DISK_RESERVE: u64 = 256 << 20;
/// The least relevance of the best match, by default: it silences nine in ten prompts about what was never said, and
/// hardly any about what was (`cargo bench --bench recall`).
pub const DEFAULT_MIN_RELEVANCE: f64 = 0.35;
/// Sequences of a conversation of which what is derived is kept together: a block of an index of them takes some 100 KiB,
/// which is read in a millisecond, and made anew in some when one of them is erased.
pub const BLOCK_SEQUENCES: u64 = 1_024;
/// Bytes of a backup that are sent at once at most: a quarter of the message that clients take by default.
pub const MAX_BACKUP_CHUNK_BYTES: usize = 1 << 20;
/// A backup of which nothing is read for so long ends: it keeps files that could go.
pub const BACKUP_PATIENCE: Duration = Duration::from_secs(60);
/// A call that is no stream ends after so long, by default: longer than a model takes to answer, with its retries.
pub const DEFAULT_MAX_CALL_DURATION: Duration = Duration::from_secs(5 * 60);
/// Calls in flight at most, by default: 64 connections with 100 calls each are served.
pub const DEFAULT_MAX_CALLS_IN_FLIGHT: usize = 8_192;
/// Open streams at most, by default; each takes some tens of kilobytes.
pub const DEFAULT_MAX_STREAMS: usize = 4_096;
/// One caller may have this part of the open streams: a quarter.
pub const STREAMS_SHARE: usize = 4;
/// A call of an overloaded worker is admitted that waited so long for its thread (`benches/overload`).
pub const OVERLOAD_WAIT: Duration = Duration::from_millis(2);
/// Whether a worker is overloaded is judged by stretches of so long: shorter than a person notices.
pub const OVERLOAD_WINDOW: Duration = Duration::from_millis(50);
/// What callers ask for is compared over so long: longer than an overloaded worker takes to read from each connection.
pub const SHARE_WINDOW: Duration = Duration::from_millis(500);
/// A worker is overloaded whose calls go on waiting for longer than this. 6,400 callers that wait for their answers
/// before they call again wait for less, on two cores that they share with the server.
pub const STANDING_WAIT: Duration = Duration::from_millis(500);
/// Calls that wait for a worker's thread before it may be overloaded: fewer are held up by something else.
pub const LEAST_OVERLOAD: u64 = 64;
/// While the store is behind, writes are turned away when so many bytes wait to be written: a quarter of what a
/// durable backend writes at once.
pub const MAX_BACKLOG_BYTES: usize = 1 << 20;
/// A call that is turned away may be made again after so long at the earliest.
pub const LEAST_RETRY: Duration = Duration::from_millis(100);
/// And after so long at the latest: what is turned away together does not come back together.
pub const MOST_RETRY: Duration = Duration::from_millis(500);
/// Writes of one conversation that wait for their turn at most: four commits of the largest. Those of streams are
/// bounded by each stream.
pub const MAX_WAITING_WRITES: usize = 1_024;
/// A caller whose calls a second are limited may make so long a time's calls at once.
pub const RATE_BURST: Duration = Duration::from_secs(1);
/// The files of TLS are looked at so often.
pub const TLS_RELOAD: Duration = Duration::from_secs(5);

/// The first message of a call that takes one, and each message that was begun, comes within so long, or so much
/// of it as [`LEAST_MESSAGE_RATE`] brings.
pub const MESSAGE_PATIENCE: Duration = Duration::from_secs(10);
/// Bytes a second that a message comes at, at least: a quarter of a megabit a second.
pub const LEAST_MESSAGE_RATE: usize = 32 << 10;
/// A message waits so long for room among those that are received.
pub const ROOM_PATIENCE: Duration = Duration::from_secs(5);
/// A call that keeps its messages until it is answered, an import, pauses so long between them.
pub const IMPORT_PATIENCE: Duration = Duration::from_secs(60);
/// Messages of so many bytes or fewer are received without being counted: the calls in flight bound them.
pub const SMALL_MESSAGE_BYTES: usize = 4 << 10;
/// What messages of so many bytes become when they are decoded is not looked at: the calls' own room is enough.
pub const TINY_MESSAGE_BYTES: usize = 256;
/// A stream's messages of so many bytes, with what they take beside, are received without being counted.
pub const SMALL_STREAM_BYTES: usize = 16 << 10;
/// What a message takes once it is decoded, as a multiple of the largest one's bytes at most. A part of two bytes may
/// become a structure of some hundred.
pub const MESSAGE_GROWTH: usize = 3;
/// Bytes of all that is on its way: calls that are open, messages that are not answered, answers that are not read.
/// With the tokenizers' tables and connections it comes to some 256 MiB.
pub const TRANSIT_BYTES: usize = 72 << 20;
/// Of these, what messages and answers may take together: the rest is for the calls that need no more.
pub const CONTENT_BYTES: usize = 56 << 20;
/// Of these, what messages may take that are received and not yet answered: three of the largest.
pub const MESSAGE_BYTES: usize = 48 << 20;
/// And what answers may take that are made and not yet read: sixteen of the largest pages.
pub const ANSWER_BYTES: usize = 48 << 20;
/// What open calls leave to the others.
pub const CALLS_LEAVE: usize = 8 << 20;
/// What an open call takes, with a small message and a small answer (measured).
pub const CALL_BYTES: usize = 8 << 10;
/// What an open stream takes (measured).
pub const STREAM_BYTES: usize = 16 << 10;
/// An answer that nothing is read of for so long ends its connection, unless as much as [`LEAST_MESSAGE_RATE`] brings
/// was read of others.
pub const UNREAD_PATIENCE: Duration = Duration::from_secs(120);
/// An answer of so many bytes or fewer is given whether there is room for it or not.
pub const SMALL_ANSWER_BYTES: usize = 4 << 10;
/// A caller that is refused for want of room had better wait so long before it tries again.
pub const ROOM_RETRY: Duration = Duration::from_secs(1);

/// Calls and streams of one connection at once; clients queue what is beyond. A silent one costs 5 to 16 KiB.
pub const MAX_STREAMS: u32 = 1_000;
/// Metadata of a call at most, in bytes as HTTP/2 counts them: 32 for each entry beside its name and value.
pub const MAX_METADATA_BYTES: usize = 16 << 10;
/// What a connection takes of metadata at most, so that the call that it belongs to can be answered.
pub const MAX_HEADER_BYTES: u32 = 64 << 10;
