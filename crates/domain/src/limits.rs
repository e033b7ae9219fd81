//! Every fixed limit and default, with its unit and its source.

use std::time::Duration;

/// Longest identifier, in bytes.
pub const MAX_ID_BYTES: usize = 256;
/// Longest `name` of a speaker or a tool, in bytes.
pub const MAX_NAME_BYTES: usize = 256;
/// Maximum bytes of one utterance's content, and the default: a photo has some megabytes, in base64 a third more. It is
/// what stores and calls are tested with.
pub const MOST_CONTENT_BYTES: usize = 16 << 20;
/// Bytes of a message in addition to its largest content: names, metadata, ids.
pub const BESIDE_CONTENT_BYTES: usize = 1 << 20;
/// Maximum bytes of a message, by default.
pub const DEFAULT_MAX_MESSAGE_BYTES: usize = MOST_CONTENT_BYTES + BESIDE_CONTENT_BYTES;
/// Maximum utterances of one Memorize, by default.
pub const DEFAULT_MAX_BATCH: usize = 1_000;
/// Bytes of the items of one answer, after which a page ends: a gRPC client reads answers of 4 MiB by
/// default, and the rest of the answer needs some of that.
pub const MAX_ANSWER_BYTES: usize = 3 << 20;
/// Bytes of one list of references in an answer; the entries after that have only their sequence, 8 bytes
/// each.
pub const MAX_REFERENCE_BYTES: usize = 1 << 20;
/// Bytes of the warnings in one answer.
pub const MAX_WARNING_BYTES: usize = 1 << 20;
/// Maximum memory in bytes of a JSON history once it is parsed: about twice the largest message.
pub const MAX_HISTORY_WEIGHT: usize = 32 << 20;
/// Maximum bytes of one import: it is held in memory, and a second time in its parts, until it is stored.
pub const MAX_IMPORT_BYTES: usize = 16 << 20;
/// Maximum bytes of a file of settings, keys or credentials.
pub const MAX_SETTINGS_BYTES: usize = 4 << 20;
/// Maximum memory in bytes of an import in addition to its own: its texts again, and some 20,000 messages.
pub const MAX_IMPORT_WEIGHT: usize = 32 << 20;
/// Maximum conversations of one import: each of them is a commit.
pub const MAX_IMPORT_CONVERSATIONS: usize = 20_000;
/// Maximum branches of one imported conversation: each makes those after it name one more place.
pub const MAX_BRANCHES: usize = 500;
/// Utterances of an import that are stored in one commit.
pub const IMPORT_BATCH: usize = 1_000;
/// Maximum tool calls of one utterance.
pub const MAX_TOOL_CALLS: usize = 256;
/// Abandoned calls of a conversation that a late result can answer: the newest, if there are more.
pub const MAX_ABANDONED_CALLS: usize = 256;
/// Maximum entries of an utterance's metadata or a conversation's labels.
pub const MAX_MAP_ENTRIES: usize = 64;
/// Longest key of metadata or labels, in bytes.
pub const MAX_MAP_KEY_BYTES: usize = 128;
/// Longest value of metadata or labels, in bytes.
pub const MAX_MAP_VALUE_BYTES: usize = 4_096;
/// Longest prompt of Remember, in bytes.
pub const MAX_PROMPT_BYTES: usize = 64 << 10;
/// Maximum names in one conversation's state.
pub const MAX_STATE_NAMES: usize = 256;
/// Maximum bytes of one conversation's state, names and values.
pub const MAX_STATE_BYTES: u64 = 1 << 20;
/// The maximum staleness that a read may accept: long enough for a display, and short enough that what other
/// servers hard-forget is soon gone.
pub const MAX_STALENESS: Duration = Duration::from_secs(60 * 60);
/// Maximum shares of one conversation.
pub const MAX_SHARES: usize = 64;
/// Maximum time spans that GetStats returns: a little over a year of hours.
pub const MAX_SPANS: usize = 10_000;
/// Maximum tools that GetStats returns: the most called ones.
pub const MAX_TOOLS: usize = 1_000;
/// Lists by update time look up the conversations last changed within such a span together. Their index is
/// written only when a change falls into the next span, which is rare in a busy conversation.
pub const UPDATE_SPAN: Duration = Duration::from_secs(64);
/// If at most this many ids have a list's prefix, the list looks at each conversation; otherwise at its
/// index.
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
/// Maximum tokens of a summary, even if its policy has no limit: it is read, and returned, as a whole.
pub const MAX_SUMMARY_TOKENS: u32 = 100_000;
/// Utterances that the archive of one conversation holds, by default.
pub const DEFAULT_ARCHIVE_LIMIT: u32 = 10_000;

/// Bytes counted for an utterance in addition to its texts: about the size of its numbers, marks and keys.
/// Heads on disk hold counts made with it, so it must never change.
pub const UTTERANCE_BYTES: u64 = 128;
/// Bytes counted for a conversation in addition to its title, labels and utterances: about the size of its
/// records.
pub const CONVERSATION_BYTES: u64 = 1_024;

/// Maximum tokens of a new segment, in percent of its source (seed 004: 70 % compression), if the
/// conversation must become short or the limit leaves no room.
pub const SEGMENT_PERCENT: u32 = 30;
/// Tokens that a new segment may always have, however small its source.
pub const SEGMENT_FLOOR_TOKENS: u32 = 40;
/// Maximum segments of one conversation; beyond that, the oldest are folded.
pub const MAX_SEGMENTS: usize = 128;

/// Maximum tokens of a closing summary by a model: 2 to 3 sentences (seed 000), and some room.
pub const CLOSING_TOKENS: u32 = 160;

/// Longest name of a model, in bytes.
pub const MAX_MODEL_BYTES: usize = 128;

/// Utterances that a compaction leaves in the window, by default (seed 004).
pub const DEFAULT_KEEP_RECENT: u32 = 15;
/// A conversation that stores fewer utterances, not counting what compactions took, is not compacted (seed
/// 004).
pub const LEAST_TO_COMPACT: u64 = 30;
/// Compaction is advised from this many utterances in the window on (seed 004).
pub const FIRST_ADVICE: u32 = 50;
/// Compaction is advised again after this many more (seed 004).
pub const ADVICE_STEP: u32 = 10;
/// Nothing is advised until this many utterances were said since the last compaction (seed 004).
pub const ADVICE_SPACING: u64 = 20;
/// Compactions listed for each conversation.
pub const MAX_COMPACTIONS: usize = 100;
/// The newest of these, which can be undone.
pub const MAX_UNDO: usize = 10;

/// Ended conversations kept for a recipient (seed 000, `maxConversationsRetained`).
pub const DEFAULT_CONVERSATIONS_RETAINED: u32 = 1_000;

/// A conversation is `IDLE` after this long, by default (seed 000, `conversationIdleTimeoutMinutes`).
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// An awaited answer is stale after this long, by default (seed 000, `conversationStateTimeoutMinutes`).
pub const DEFAULT_AWAITING_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// Lifetime of a share, by default.
pub const DEFAULT_SHARE_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Maximum lifetime of a share: a leap year.
pub const MAX_SHARE_LIFETIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// How long a model may take to answer a request for a summary, by default.
pub const DEFAULT_LLM_TIMEOUT: Duration = Duration::from_secs(60);
/// Requests for summaries that models work on at the same time, by default.
pub const DEFAULT_LLM_CONCURRENCY: usize = 4;
/// Maximum bytes of a model's answer: a summary of the largest limit in use has a few kilobytes.
pub const MAX_LLM_ANSWER_BYTES: usize = 1 << 20;
/// How long a model may take to embed, by default: a few dozen texts on one processor take seconds.
pub const DEFAULT_EMBEDDING_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum values of an embedding: as many as the largest that servers offer.
pub const MAX_EMBEDDING_DIMENSIONS: usize = 4_096;
/// Texts embedded with one request: what the strictest server in use accepts.
pub const EMBEDDING_BATCH: usize = 32;
/// Maximum bytes of an answer with embeddings: a batch of the largest has 3 MiB.
pub const MAX_EMBEDDING_ANSWER_BYTES: usize = 8 << 20;
/// Bytes of an utterance, from its start, that are embedded: about the 512 tokens that small encoders read.
pub const EMBEDDED_BYTES: usize = 2_000;
/// How long a search waits for the embedding of its prompt.
pub const EMBEDDING_PATIENCE: Duration = Duration::from_millis(300);
/// Maximum bytes of a tool result, or of a call's arguments, that a model reads: a few hundred tokens.
pub const LLM_RESULT_BYTES: usize = 1_600;
/// Maximum bytes of any other utterance that a model reads: some 6,000 tokens.
pub const LLM_CONTENT_BYTES: usize = 24 << 10;

/// Maximum difference between the clocks of several servers on one store. A time further ahead was recorded
/// by a clock that was wrong.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// How long the outcome of a request id is replayed.
pub const OUTCOME_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest forget instruction, in bytes.
pub const MAX_INSTRUCTION_BYTES: usize = 4_096;
/// Maximum parts of one forget instruction, joined by `or` and `except`: each is applied to everything stored.
pub const MAX_PARTS: usize = 16;
/// Maximum texts that one forget instruction looks for: each is looked for in everything stored.
pub const MAX_TOPICS: usize = 16;

/// Bytes of the indexes of recently searched conversations.
pub const INDEX_BYTES: u64 = 256 << 20;
/// Bytes of the embeddings of recently searched conversations.
pub const EMBEDDING_BYTES: u64 = 256 << 20;
/// Each of the two takes at most this part of `memory_limit`: an eighth.
pub const INDEX_SHARE: u64 = 8;
/// Bytes of the kept events, for each event that a namespace may have: the event of a change takes some 700.
pub const EVENT_BYTES: usize = 1 << 10;
/// Minimum bytes for the kept events, however few they may be.
pub const LEAST_EVENTS_BYTES: usize = 1 << 20;

/// Namespaces whose events are kept. Beyond that, the events of namespaces that nobody watches are dropped,
/// those that changed longest ago first, a quarter at a time.
pub const MAX_EVENT_NAMESPACES: usize = 10_000;

/// Maximum connections at the same time, by default.
pub const DEFAULT_MAX_CONNECTIONS: usize = 10_000;
/// Descriptors kept from connections for the store and its file cache, for logs, and for connections being
/// closed.
pub const RESERVED_DESCRIPTORS: usize = 768;
/// Threads of each worker that wait for the disk; more reads of the store wait for one of them.
pub const READING_THREADS: usize = 16;
/// Table files that the store keeps open.
pub const STORE_CACHED_FILES: usize = 256;
/// Maximum evicted connections that are not closed yet: their descriptors are reserved ones.
pub const MAX_LEAVING_CONNECTIONS: usize = 128;
/// The part of the streams that callers without a credential can have: an eighth.
pub const STRANGERS_SHARE: usize = 8;
/// How long an evicted connection has to finish a call that arrived at the same moment: a round trip.
pub const EVICTION_GRACE: Duration = Duration::from_millis(100);
/// How long a client has for its TLS handshake, and then again to start HTTP/2.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection without a call is closed after this long; clients reconnect with their next call.
pub const IDLE_CONNECTION_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long a connection closed for idleness has to finish a call that arrived at the same moment.
pub const IDLE_GRACE: Duration = Duration::from_secs(10);
/// A client that has sent nothing for this long is pinged.
pub const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);
/// A client that does not answer the ping for this long is disconnected.
pub const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes that a call may send ahead of what the server has read of it. Data waiting in frames of a few bytes
/// costs more memory than its size, and h2 ends a connection on which the excess is over half of
/// `CONNECTION_WINDOW`: 64 KiB of the smallest messages, 14 bytes each, cost 1.1 MiB.
pub const STREAM_WINDOW: u32 = 64 << 10;
/// Bytes of an answer that are handed to a connection ahead of what its client reads, if the answer is a stream.
pub const SEND_BUFFER_BYTES: usize = 16 << 10;
/// Bytes that all calls of a connection together may send ahead.
pub const CONNECTION_WINDOW: u32 = 16 << 20;
/// How long calls in flight have to finish when a server is asked to stop, by default.
pub const DEFAULT_DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How often the credential files are checked: a removed caller is shut out within seconds.
pub const CREDENTIALS_RELOAD: Duration = Duration::from_secs(2);
/// How often an ongoing call is checked against the clock, besides when its credential changes or expires.
pub const CREDENTIAL_CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// Failed attempts are logged at most once in this time.
pub const ATTEMPT_LOG_INTERVAL: Duration = Duration::from_secs(1);
/// How far the clocks of JWT signers may differ from the server's.
pub const JWT_LEEWAY: Duration = Duration::from_secs(60);
/// Maximum JWTs whose signature need not be checked again: a few hundred bytes each.
pub const MAX_VERIFIED_JWTS: usize = 4_096;
/// Shortest HMAC-SHA-256 key, in bytes (RFC 7518, 3.2).
pub const MIN_HMAC_KEY_BYTES: usize = 32;
/// Shortest RSA key, in bits (RFC 7518, 3.3).
pub const MIN_RSA_KEY_BITS: usize = 2_048;
/// Longest RSA key whose signatures can be checked, in bits (ring).
pub const MAX_RSA_KEY_BITS: usize = 8_192;

/// Bytes that a durable backend leaves free on its disk, by default: what its engine holds in memory and
/// merges in the background, and a journal.
pub const DEFAULT_DISK_RESERVE: u64 = 256 << 20;
/// Minimum relevance of the best match, by default: it excludes nine in ten prompts about what was never
/// said, and hardly any about what was (`cargo bench --bench recall`).
pub const DEFAULT_MIN_RELEVANCE: f64 = 0.35;
/// Least relevance of what a context recalls, by default: small talk is below it, and hardly any evidence
/// (`cargo bench --bench recall_contexts`).
pub const DEFAULT_RECALL_RELEVANCE: f64 = 0.1;
/// Sequences of a conversation whose derived data is stored together: one block of an index takes some 100
/// KiB, is read in a millisecond, and is rebuilt in a few when one of its sequences is erased.
pub const BLOCK_SEQUENCES: u64 = 1_024;
/// Maximum bytes of a backup that are sent at a time: a quarter of the message that clients accept by
/// default.
pub const MAX_BACKUP_CHUNK_BYTES: usize = 1 << 20;
/// A backup that is not read for this long ends, because it keeps files that could be deleted.
pub const BACKUP_PATIENCE: Duration = Duration::from_secs(60);
/// Maximum duration of a call that is not a stream, by default: longer than a model needs, with its retries.
pub const DEFAULT_MAX_CALL_DURATION: Duration = Duration::from_secs(5 * 60);
/// Maximum calls in flight, by default: enough for 64 connections with 100 calls each.
pub const DEFAULT_MAX_CALLS_IN_FLIGHT: usize = 8_192;
/// Maximum open streams, by default; each takes some tens of kilobytes.
pub const DEFAULT_MAX_STREAMS: usize = 4_096;
/// One caller may have at most this part of the open streams: a quarter.
pub const STREAMS_SHARE: usize = 4;
/// An overloaded worker refuses a call that waited longer than this for its thread (`benches/overload`).
pub const OVERLOAD_WAIT: Duration = Duration::from_millis(100);
/// A worker is overloaded after so much time in which every call waited at least as long for its thread. On two cores
/// shared with the server, 6,400 callers, each with one call at a time, wait for less.
pub const STANDING_WAIT: Duration = Duration::from_millis(500);
/// A store that was behind is not any more once a request waited for less than this: shorter than a person notices.
pub const OVERLOAD_WINDOW: Duration = Duration::from_millis(50);
/// Requests that must wait for a store before it counts as behind: fewer can be delayed by other causes.
pub const LEAST_OVERLOAD: u64 = 64;
/// While the store is behind, writes are rejected once this many bytes wait to be written: a quarter of what
/// a durable backend writes at once.
pub const MAX_BACKLOG_BYTES: usize = 1 << 20;
/// The shortest delay after which a rejected call may be retried.
pub const LEAST_RETRY: Duration = Duration::from_millis(100);
/// The longest such delay: calls that are rejected together must not return together.
pub const MOST_RETRY: Duration = Duration::from_millis(500);
/// Maximum writes of one conversation that wait for their turn: four of the largest commits. Each stream
/// bounds its own writes.
pub const MAX_WAITING_WRITES: usize = 1_024;
/// A caller with a rate limit may make this much time's worth of calls at once.
pub const RATE_BURST: Duration = Duration::from_secs(1);
/// How often the TLS files are checked.
pub const TLS_RELOAD: Duration = Duration::from_secs(5);

/// How long the first message of a call that needs one may take, and each message once it has begun, unless
/// it arrives at [`LEAST_MESSAGE_RATE`].
pub const MESSAGE_PATIENCE: Duration = Duration::from_secs(10);
/// Minimum rate of a message, in bytes a second: a quarter of a megabit a second.
pub const LEAST_MESSAGE_RATE: usize = 32 << 10;
/// How long a message waits for room among the received messages.
pub const ROOM_PATIENCE: Duration = Duration::from_secs(5);
/// The longest pause between the messages of a call that keeps them until it is answered: an import.
pub const IMPORT_PATIENCE: Duration = Duration::from_secs(60);
/// Messages up to this many bytes are received without being counted: the calls in flight bound them.
pub const SMALL_MESSAGE_BYTES: usize = 64 << 10;
/// Messages up to this many bytes are not measured before they are decoded.
pub const TINY_MESSAGE_BYTES: usize = 4 << 10;
/// Maximum memory of a decoded message, as a multiple of the largest message's bytes. A part of two bytes may
/// become a structure of some hundred.
pub const MESSAGE_GROWTH: usize = 3;
/// Bytes of the messages received and not yet answered, and of the answers not yet read: three of the largest.
pub const MESSAGE_BYTES: usize = 3 * DEFAULT_MAX_MESSAGE_BYTES;
/// Calls that wait for room for a message at the same time; any more are refused at once.
pub const MAX_WAITING_FOR_ROOM: usize = 64;
/// Maximum ratio by which gzip unpacks.
pub const MAX_UNPACKING: usize = 1_032;
/// If an answer is not read for this long, its connection ends, unless other answers were read at
/// [`LEAST_MESSAGE_RATE`].
pub const UNREAD_PATIENCE: Duration = Duration::from_secs(120);
/// Answers up to this many bytes are sent whether or not there is room for them.
pub const SMALL_ANSWER_BYTES: usize = 4 << 10;
/// How long a caller that is refused for lack of room should wait before it tries again.
pub const ROOM_RETRY: Duration = Duration::from_secs(1);

/// Maximum calls and streams of one connection at the same time; clients queue the rest. A silent one costs 5
/// to 16 KiB.
pub const MAX_STREAMS: u32 = 1_000;
/// Maximum bytes of a value that an error quotes; a longer one is cut.
pub const MAX_QUOTED_BYTES: usize = 200;
/// Maximum bytes of a status's message as it is sent, which is percent-encoded. Its details repeat the message. With
/// [`MAX_DETAILS_BYTES`], message and details are at most 4 KiB as text, and less than 8 KiB as trailers, which many
/// clients accept at most.
pub const MAX_STATUS_TEXT_BYTES: usize = 1_536;
/// Maximum bytes of a status's details, besides the message that they repeat.
pub const MAX_DETAILS_BYTES: usize = 2_304;
/// Maximum metadata of a call, in bytes as HTTP/2 counts them: 32 per entry in addition to its name and
/// value.
pub const MAX_METADATA_BYTES: usize = 16 << 10;
/// Maximum metadata that a connection accepts, so that the call it belongs to can be refused with a status, and the other
/// calls go on. Beyond it, HTTP/2 answers 431, and a quarter more of it ends the connection.
pub const MAX_HEADER_BYTES: u32 = 256 << 10;

/// How long a statement of a database may run: below the deadline of most callers.
pub const DATABASE_STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a transaction may be open without a statement: a process that stopped in between blocks others.
pub const DATABASE_IDLE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long connecting to a database may take.
pub const DATABASE_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a call waits for a connection to a database when all are in use.
pub const DATABASE_WAIT: Duration = Duration::from_secs(3);
/// How long to look up what became of a commit whose answer was lost.
pub const DATABASE_SETTLE: Duration = Duration::from_secs(10);
/// The longest name of a database's schema: with a prefix, it also names a channel of notifications, which
/// PostgreSQL limits to 63 bytes.
pub const MAX_SCHEMA_BYTES: usize = 56;
/// Connections to a database.
pub const DEFAULT_DATABASE_CONNECTIONS: usize = 16;

/// The longest request id that is accepted from a caller, in bytes.
pub const MAX_REQUEST_ID_BYTES: usize = 128;
/// How long a call takes before it is logged as slow, by default.
pub const DEFAULT_SLOW_CALL: Duration = Duration::from_secs(1);

/// The largest message that the inspector passes on to a browser.
pub const INSPECTOR_MESSAGE_BYTES: usize = 64 << 20;
/// The most connections to a listener of plain HTTP.
pub const HTTP_CONNECTIONS: usize = 64;
/// Bytes of a request over plain HTTP that needs no credential on a server that asks for them: the token of a share,
/// and the token of a page.
pub const STRANGER_BODY_BYTES: usize = 64 << 10;
/// Bytes of a request over plain HTTP that is too large that are read before its connection is closed.
pub const MAX_PASSED_OVER_BYTES: usize = 16 << 20;
/// How long a connection of plain HTTP may be idle, or take for the head of a request.
pub const HTTP_PATIENCE: Duration = Duration::from_secs(60);
