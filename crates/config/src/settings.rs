//! The settings of a server.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use http::Uri;

use super::{
    Backend, DatabaseUrl, Listen, Llm, Share,
    word::{Word, Words},
};
use utterd_domain::{
    Encoding, Policy, Refusal,
    limits::{
        DEFAULT_AWAITING_TIMEOUT, DEFAULT_CONVERSATIONS_RETAINED, DEFAULT_DATABASE_CONNECTIONS,
        DEFAULT_DISK_RESERVE, DEFAULT_DRAIN_TIMEOUT, DEFAULT_EMBEDDING_TIMEOUT, DEFAULT_IDLE_TIMEOUT,
        DEFAULT_LLM_CONCURRENCY, DEFAULT_LLM_TIMEOUT, DEFAULT_MAX_BATCH, DEFAULT_MAX_CALL_DURATION,
        DEFAULT_MAX_CALLS_IN_FLIGHT, DEFAULT_MAX_CONNECTIONS, DEFAULT_MAX_MESSAGE_BYTES, DEFAULT_MAX_STREAMS,
        DEFAULT_SLOW_CALL, MOST_CONTENT_BYTES,
    },
    policy::{Marks, PolicyUpdate},
};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// How long a reply of a durable backend waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    /// Until the acknowledged write is on the disk.
    #[default]
    Each,
    /// Until the operating system has the write, which reaches the disk within this time.
    Interval(Duration),
}

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// The limits that a conversation starts from, unless settings or callers override them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// [`Policy::ROLLING`].
    #[default]
    Rolling,
    /// [`Policy::TURNS`].
    Turns,
    /// [`Policy::SESSION`].
    Session,
}

impl Word for LogFormat {
    const WORDS: Words<Self> = &[(Self::Text, &["text"]), (Self::Json, &["json"])];
}

impl Word for Preset {
    const WORDS: Words<Self> =
        &[(Self::Rolling, &["rolling"]), (Self::Turns, &["turns"]), (Self::Session, &["session"])];
}

impl Preset {
    /// Returns the limits of the preset.
    pub fn policy(self) -> Policy {
        match self {
            Self::Rolling => Policy::ROLLING,
            Self::Turns => Policy::TURNS,
            Self::Session => Policy::SESSION,
        }
    }
}

/// Defines the settings, each with its default, which may depend on the limits of a preset.
macro_rules! settings {
    (|$preset:ident, $policy:ident| { $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        /// The settings that a server runs with. The first five keys are from seed 001.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Settings {
            /// Returns the defaults, with the limits of `preset`.
            pub fn of($preset: Preset) -> Self {
                let $policy = $preset.policy();
                Self { $($field: $default,)* }
            }
        }
    };
}

settings! { |preset, policy| {
    /// Utterances in a window; 0 is unlimited.
    buffer_size: u32 = most(policy.utterances),
    /// Tokens of a window's utterances; 0 is unlimited.
    max_tokens: u32 = most(policy.tokens),
    /// The backend that stores conversations.
    backend: Backend = Backend::default(),
    /// Whether utterances that leave a window are summarised.
    summarization_enabled: bool = policy.summarization_enabled,
    /// Tokens of a conversation's summary; 0 is unlimited.
    summary_token_limit: u32 = policy.summary_token_limit.unwrap_or(0),
    /// The address that the server listens on.
    listen: Listen = Listen::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50051)),
    /// The permissions of a Unix socket's file: everyone who can write to it can connect.
    socket_mode: u32 = 0o600,
    /// Who may call: a credentials file; `None` lets everybody in.
    credentials: Option<PathBuf> = None,
    /// The keys of accepted JWTs: a file with a JWK set, or public keys in PEM; `None` accepts no JWT.
    jwt_keys: Option<PathBuf> = None,
    /// The `iss` that a JWT must have; empty accepts any.
    jwt_issuer: String = String::new(),
    /// The `aud` that a JWT must contain; not empty if there are `jwt_keys`.
    jwt_audience: String = String::new(),
    /// Whether to serve an address that others can reach without TLS, or without authentication.
    allow_insecure: bool = false,
    /// The preset for `buffer_size`, `max_tokens`, `max_turns` and their `keep_…` if they are not set.
    preset: Preset = preset,
    /// Turns in a window; 0 is unlimited.
    max_turns: u32 = most(policy.turns),
    /// Utterances that an eviction leaves in a window; 0 is four fifths of `buffer_size`.
    keep_utterances: u32 = kept(policy.utterances),
    /// Tokens that an eviction leaves in a window; 0 is four fifths of `max_tokens`.
    keep_tokens: u32 = kept(policy.tokens),
    /// Turns that an eviction leaves in a window (seed 003, `recentTurnsToKeep`); 0 is four fifths of
    /// `max_turns`.
    keep_turns: u32 = kept(policy.turns),
    /// Utterances kept in an archive; 0 keeps none.
    archive_limit: u32 = policy.archive_limit,
    /// The encoding that counts the tokens of a new conversation.
    encoding: Encoding = Encoding::default(),
    /// The maximum bytes in the memory store; a write beyond that is refused.
    memory_limit: u64 = 4 * GIB,
    /// The directory of a durable backend's files, relative to the process's directory.
    data_dir: PathBuf = "utterd-data".into(),
    /// The database of the postgres backend; not `None` with that backend.
    database_url: Option<DatabaseUrl> = None,
    /// The schema that holds the tables of the postgres backend.
    database_schema: String = "utterd".to_owned(),
    /// The maximum number of connections to the database, in addition to the one that listens.
    database_connections: usize = DEFAULT_DATABASE_CONNECTIONS,
    /// The authorities that sign the database's certificate; `None` for those of the system.
    database_ca: Option<PathBuf> = None,
    /// Whether the events of changes are stored in the database, for WatchEvents on all servers.
    database_events: bool = true,
    /// How long a durable backend's replies wait.
    flush: Flush = Flush::default(),
    /// Bytes that a durable backend leaves free on its disk; while fewer are free, writes are refused.
    disk_reserve: u64 = DEFAULT_DISK_RESERVE,
    /// The maximum bytes of conversations that a server with another backend than in-memory keeps in memory;
    /// other conversations are read when needed.
    cache_limit: u64 = 128 * MIB,
    /// How soon the bytes of hard-forgotten text are removed from a durable backend's files.
    scrub_interval: Duration = Duration::from_secs(60 * 60),
    /// After being idle this long, a conversation's status is IDLE, and the recipient's next
    /// message starts another one.
    idle_timeout: Duration = DEFAULT_IDLE_TIMEOUT,
    /// The idle timeout of a conversation whose assistant awaits an answer (seed 000,
    /// `conversationStateTimeoutMinutes`).
    awaiting_timeout: Duration = DEFAULT_AWAITING_TIMEOUT,
    /// The maximum number of a recipient's conversations, of which the ended ones are removed, the oldest
    /// first; 0 keeps all.
    max_conversations_retained: u32 = DEFAULT_CONVERSATIONS_RETAINED,
    /// Conversations that one namespace may store, ended ones too; 0 is unlimited.
    max_conversations_per_namespace: u32 = 0,
    /// Bytes that one namespace may store, as [`Head::counted_bytes`](utterd_domain::Head::counted_bytes) counts
    /// them; 0 is unlimited.
    max_bytes_per_namespace: u64 = 0,
    /// The maximum bytes of an utterance's content: at most [`MOST_CONTENT_BYTES`], and less than
    /// `max_message_bytes`. Unless set, it is smaller than the default if a message would not have room for it.
    max_content_bytes: usize = MOST_CONTENT_BYTES,
    /// The maximum number of utterances in one Memorize.
    max_batch: usize = DEFAULT_MAX_BATCH,
    /// The largest gRPC message, in bytes.
    max_message_bytes: usize = DEFAULT_MAX_MESSAGE_BYTES,
    /// The longest time for a call that is not a stream, whatever its deadline.
    max_call_duration: Duration = DEFAULT_MAX_CALL_DURATION,
    /// The maximum number of calls in flight, of all callers together.
    max_calls_in_flight: usize = DEFAULT_MAX_CALLS_IN_FLIGHT,
    /// Calls that one caller may make per second, unless its credential has its own limit; 0 is unlimited.
    calls_per_second: u32 = 0,
    /// The maximum number of open streams, of all callers together; one caller may have a quarter of them.
    max_streams: usize = DEFAULT_MAX_STREAMS,
    /// Events kept for each namespace.
    event_capacity: usize = (16 * KIB) as usize,
    /// Worker threads; 0 is one for each core.
    workers: usize = 0,
    /// The maximum number of connections; fewer if the limit of open files requires it.
    max_connections: usize = DEFAULT_MAX_CONNECTIONS,
    /// The file with the server's certificate chain; it turns on TLS.
    tls_cert: Option<PathBuf> = None,
    /// The file with the certificate's private key.
    tls_key: Option<PathBuf> = None,
    /// The file with the authorities of accepted client certificates; `None` requires no client certificate.
    tls_client_ca: Option<PathBuf> = None,
    /// The filter of the log to stderr: directives of tracing-subscriber's `EnvFilter`.
    log: String = "info".into(),
    /// The form of the log.
    log_format: LogFormat = LogFormat::default(),
    /// Whether each call is logged.
    log_calls: bool = false,
    /// The duration beyond which a call that is not a stream is logged in any case.
    slow_call: Duration = DEFAULT_SLOW_CALL,
    /// How long calls in flight have to finish when the server is asked to stop.
    drain_timeout: Duration = DEFAULT_DRAIN_TIMEOUT,
    /// The address that serves metrics to Prometheus; `None` serves none.
    metrics_listen: Option<Listen> = None,
    /// The address that serves the inspector; `None` serves none.
    inspector: Option<Listen> = None,
    /// The collector of traces; `None` sends none.
    traces_endpoint: Option<Uri> = None,
    /// The share of calls that are traced, if their callers do not decide.
    traces_sampled: Share = Share::HUNDREDTH,
    /// Whether gRPC reflection is served.
    reflection: bool = true,
    /// The protocol of the model that makes summaries.
    llm: Llm = Llm::None,
    /// The address of the model's server; `None` is the provider's own.
    llm_base_url: Option<Uri> = None,
    /// The model for conversations that name none; not empty if there is an `llm`.
    llm_model: String = String::new(),
    /// Further models that a conversation may name.
    llm_models: Vec<String> = Vec::new(),
    /// The file with the API key; `None` takes it from the environment.
    llm_api_key_file: Option<PathBuf> = None,
    /// How long to wait for the model's answer.
    llm_timeout: Duration = DEFAULT_LLM_TIMEOUT,
    /// The maximum number of calls to the model at a time.
    llm_concurrency: usize = DEFAULT_LLM_CONCURRENCY,
    /// The address of the embedding server; `None` uses no embeddings.
    embedding_base_url: Option<Uri> = None,
    /// The embedding model; not empty if there is an `embedding_base_url`.
    embedding_model: String = String::new(),
    /// The dimensions to ask the embedding model for; 0 is the model's default.
    embedding_dimensions: usize = 0,
    /// The file with that server's API key; `None` takes it from the environment.
    embedding_api_key_file: Option<PathBuf> = None,
    /// How long to wait for a batch of embeddings.
    embedding_timeout: Duration = DEFAULT_EMBEDDING_TIMEOUT,
} }

impl Settings {
    /// Returns the policy of a conversation that is created without one.
    ///
    /// A water mark from the preset applies as long as it does not exceed its maximum.
    pub fn policy(&self) -> Result<Policy, Refusal> {
        let mut base = self.preset.policy();
        let update = PolicyUpdate {
            max_utterances: Some(self.buffer_size),
            keep_utterances: keep(&mut base.utterances, self.keep_utterances),
            max_tokens: Some(self.max_tokens),
            keep_tokens: keep(&mut base.tokens, self.keep_tokens),
            max_turns: Some(self.max_turns),
            keep_turns: keep(&mut base.turns, self.keep_turns),
            summarization_enabled: Some(self.summarization_enabled),
            summary_token_limit: Some(self.summary_token_limit),
            archive_limit: Some(self.archive_limit),
            ..PolicyUpdate::default()
        };
        update.apply(&base, "settings")
    }
}

/// Returns the water mark to set; `None` to apply the preset's own or, if `keep` is 0, the one derived from the
/// maximum.
fn keep(preset: &mut Option<Marks>, keep: u32) -> Option<u32> {
    if keep == 0 {
        *preset = preset.map(|marks| Marks::of(marks.max()));
    }
    Some(keep).filter(|keep| *keep > 0 && *keep != preset.and_then(Marks::given_keep).unwrap_or(0))
}

/// Returns the maximum as a setting.
fn most(marks: Option<Marks>) -> u32 {
    marks.map_or(0, Marks::max)
}

/// Returns the water mark as a setting.
fn kept(marks: Option<Marks>) -> u32 {
    marks.and_then(Marks::given_keep).unwrap_or(0)
}

impl Default for Settings {
    fn default() -> Self {
        Self::of(Preset::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_policy_is_the_presets() {
        for (preset, _) in Preset::WORDS.iter().copied() {
            assert_eq!(Settings::of(preset).policy().unwrap(), preset.policy());
        }
    }

    #[test]
    fn a_setting_overrides_its_preset() {
        let settings = Settings { max_turns: 5, buffer_size: 7, ..Settings::of(Preset::Turns) };
        let policy = settings.policy().unwrap();
        assert_eq!(policy.turns.map(|marks| (marks.max(), marks.keep())), Some((5, 3)));
        assert_eq!(policy.utterances, Some(Marks::of(7)));
    }

    #[test]
    fn a_water_mark_overrides_its_presets() {
        let kept = |settings: Settings| settings.policy().unwrap().turns.map(Marks::keep);
        assert_eq!(kept(Settings { keep_turns: 7, ..Settings::of(Preset::Turns) }), Some(7));
        assert_eq!(kept(Settings { keep_turns: 0, ..Settings::of(Preset::Turns) }), Some(8));
        assert_eq!(kept(Settings { max_turns: 2, ..Settings::of(Preset::Turns) }), Some(1));
        assert_eq!(kept(Settings { max_turns: 20, keep_turns: 5, ..Settings::default() }), Some(5));
        let settings = Settings { keep_utterances: 4, keep_tokens: 100, ..Settings::default() };
        let policy = settings.policy().unwrap();
        let keeps = (policy.utterances.map(Marks::keep), policy.tokens.map(Marks::keep));
        assert_eq!(keeps, (Some(4), Some(100)));
        let above = Settings { keep_utterances: 21, ..Settings::default() };
        assert!(above.policy().is_err());
    }

    #[test]
    fn zero_is_unlimited() {
        let settings =
            Settings { max_tokens: 0, buffer_size: 0, summary_token_limit: 0, ..Settings::default() };
        let policy = settings.policy().unwrap();
        assert_eq!((policy.utterances, policy.tokens, policy.summary_token_limit), (None, None, None));
    }
}
