//! The settings of a server.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use url::Url;

use super::{Backend, DatabaseUrl, Listen, Llm, Share};
use crate::domain::{
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

impl Preset {
    /// Every preset, the default first.
    pub const ALL: [Self; 3] = [Self::Rolling, Self::Turns, Self::Session];

    /// Returns the preset's word in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rolling => "rolling",
            Self::Turns => "turns",
            Self::Session => "session",
        }
    }

    /// Returns the limits of the preset.
    pub fn policy(self) -> Policy {
        match self {
            Self::Rolling => Policy::ROLLING,
            Self::Turns => Policy::TURNS,
            Self::Session => Policy::SESSION,
        }
    }
}

/// The settings that a server runs with. The first five keys are from seed 001.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Utterances in a window; 0 is unlimited.
    pub buffer_size: u32,
    /// Tokens of a window's utterances; 0 is unlimited.
    pub max_tokens: u32,
    /// The backend that stores conversations.
    pub backend: Backend,
    /// Whether utterances that leave a window are summarised.
    pub summarization_enabled: bool,
    /// Tokens of a conversation's summary; 0 is unlimited.
    pub summary_token_limit: u32,
    /// The address that the server listens on.
    pub listen: Listen,
    /// The permissions of a Unix socket's file: everyone who can write to it can connect.
    pub socket_mode: u32,
    /// Who may call: a credentials file; `None` lets everybody in.
    pub credentials: Option<PathBuf>,
    /// The keys of accepted JWTs: a file with a JWK set, or public keys in PEM; `None` accepts no JWT.
    pub jwt_keys: Option<PathBuf>,
    /// The `iss` that a JWT must have; empty accepts any.
    pub jwt_issuer: String,
    /// The `aud` that a JWT must contain; not empty if there are `jwt_keys`.
    pub jwt_audience: String,
    /// Whether to serve an address that others can reach without TLS, or without authentication.
    pub allow_insecure: bool,
    /// The preset for `buffer_size`, `max_tokens`, `max_turns` and their `keep_…` if they are not set.
    pub preset: Preset,
    /// Turns in a window; 0 is unlimited.
    pub max_turns: u32,
    /// Utterances that an eviction leaves in a window; 0 is four fifths of `buffer_size`.
    pub keep_utterances: u32,
    /// Tokens that an eviction leaves in a window; 0 is four fifths of `max_tokens`.
    pub keep_tokens: u32,
    /// Turns that an eviction leaves in a window (seed 003, `recentTurnsToKeep`); 0 is four fifths of
    /// `max_turns`.
    pub keep_turns: u32,
    /// Utterances kept in an archive; 0 keeps none.
    pub archive_limit: u32,
    /// The encoding that counts the tokens of a new conversation.
    pub encoding: Encoding,
    /// The maximum bytes in the memory store; a write beyond that is refused.
    pub memory_limit: u64,
    /// The directory of a durable backend's files, relative to the process's directory.
    pub data_dir: PathBuf,
    /// The database of the postgres backend; not `None` with that backend.
    pub database_url: Option<DatabaseUrl>,
    /// The schema that holds the tables of the postgres backend.
    pub database_schema: String,
    /// The maximum number of connections to the database, in addition to the one that listens.
    pub database_connections: usize,
    /// The authorities that sign the database's certificate; `None` for those of the system.
    pub database_ca: Option<PathBuf>,
    /// Whether the events of changes are stored in the database, for WatchEvents on all servers.
    pub database_events: bool,
    /// How long a durable backend's replies wait.
    pub flush: Flush,
    /// Bytes that a durable backend leaves free on its disk; while fewer are free, writes are refused.
    pub disk_reserve: u64,
    /// The maximum bytes of conversations that a server with another backend than in-memory keeps in memory;
    /// other conversations are read when needed.
    pub cache_limit: u64,
    /// How soon the bytes of hard-forgotten text are removed from a durable backend's files.
    pub scrub_interval: Duration,
    /// After being idle this long, a conversation's status is IDLE, and the recipient's next
    /// message starts another one.
    pub idle_timeout: Duration,
    /// The idle timeout of a conversation whose assistant awaits an answer (seed 000,
    /// `conversationStateTimeoutMinutes`).
    pub awaiting_timeout: Duration,
    /// The maximum number of a recipient's conversations, of which the ended ones are removed, the oldest
    /// first; 0 keeps all.
    pub max_conversations_retained: u32,
    /// Conversations that one namespace may store, ended ones too; 0 is unlimited.
    pub max_conversations_per_namespace: u32,
    /// Bytes that one namespace may store, as [`Head::counted_bytes`](crate::domain::Head::counted_bytes) counts
    /// them; 0 is unlimited.
    pub max_bytes_per_namespace: u64,
    /// The maximum bytes of an utterance's content: at most [`MOST_CONTENT_BYTES`], and less than
    /// `max_message_bytes`. Unless set, it is smaller than the default if a message would not have room for it.
    pub max_content_bytes: usize,
    /// The maximum number of utterances in one Memorize.
    pub max_batch: usize,
    /// The largest gRPC message, in bytes.
    pub max_message_bytes: usize,
    /// The longest time for a call that is not a stream, whatever its deadline.
    pub max_call_duration: Duration,
    /// The maximum number of calls in flight, of all callers together.
    pub max_calls_in_flight: usize,
    /// Calls that one caller may make per second, unless its credential has its own limit; 0 is unlimited.
    pub calls_per_second: u32,
    /// The maximum number of open streams, of all callers together; one caller may have a quarter of them.
    pub max_streams: usize,
    /// Events kept for each namespace.
    pub event_capacity: usize,
    /// Worker threads; 0 is one for each core.
    pub workers: usize,
    /// The maximum number of connections; fewer if the limit of open files requires it.
    pub max_connections: usize,
    /// The file with the server's certificate chain; it turns on TLS.
    pub tls_cert: Option<PathBuf>,
    /// The file with the certificate's private key.
    pub tls_key: Option<PathBuf>,
    /// The file with the authorities of accepted client certificates; `None` requires no client certificate.
    pub tls_client_ca: Option<PathBuf>,
    /// The filter of the log to stderr: directives of tracing-subscriber's `EnvFilter`.
    pub log: String,
    /// The form of the log.
    pub log_format: LogFormat,
    /// Whether each call is logged.
    pub log_calls: bool,
    /// The duration beyond which a call that is not a stream is logged in any case.
    pub slow_call: Duration,
    /// How long calls in flight have to finish when the server is asked to stop.
    pub drain_timeout: Duration,
    /// The address that serves metrics to Prometheus; `None` serves none.
    pub metrics_listen: Option<Listen>,
    /// The address that serves clients of motorhead; `None` serves none.
    pub motorhead_listen: Option<Listen>,
    /// The address that serves the inspector; `None` serves none.
    pub inspector: Option<Listen>,
    /// The collector of traces; `None` sends none.
    pub traces_endpoint: Option<Url>,
    /// The share of calls that are traced, if their callers do not decide.
    pub traces_sampled: Share,
    /// Whether gRPC reflection is served.
    pub reflection: bool,
    /// The protocol of the model that makes summaries.
    pub llm: Llm,
    /// The address of the model's server; `None` is the provider's own.
    pub llm_base_url: Option<Url>,
    /// The model for conversations that name none; not empty if there is an `llm`.
    pub llm_model: String,
    /// Further models that a conversation may name.
    pub llm_models: Vec<String>,
    /// The file with the API key; `None` takes it from the environment.
    pub llm_api_key_file: Option<PathBuf>,
    /// How long to wait for the model's answer.
    pub llm_timeout: Duration,
    /// The maximum number of calls to the model at a time.
    pub llm_concurrency: usize,
    /// The address of the embedding server; `None` uses no embeddings.
    pub embedding_base_url: Option<Url>,
    /// The embedding model; not empty if there is an `embedding_base_url`.
    pub embedding_model: String,
    /// The dimensions to ask the embedding model for; 0 is the model's default.
    pub embedding_dimensions: usize,
    /// The file with that server's API key; `None` takes it from the environment.
    pub embedding_api_key_file: Option<PathBuf>,
    /// How long to wait for a batch of embeddings.
    pub embedding_timeout: Duration,
}

impl Settings {
    /// Returns the defaults, with the limits of `preset`.
    pub fn of(preset: Preset) -> Self {
        let policy = preset.policy();
        let max = |marks: Option<Marks>| marks.map_or(0, Marks::max);
        let keep = |marks: Option<Marks>| marks.and_then(Marks::given_keep).unwrap_or(0);
        Self {
            buffer_size: max(policy.utterances),
            max_tokens: max(policy.tokens),
            backend: Backend::default(),
            summarization_enabled: policy.summarization_enabled,
            summary_token_limit: policy.summary_token_limit.unwrap_or(0),
            listen: Listen::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50051)),
            socket_mode: 0o600,
            credentials: None,
            jwt_keys: None,
            jwt_issuer: String::new(),
            jwt_audience: String::new(),
            allow_insecure: false,
            preset,
            max_turns: max(policy.turns),
            keep_utterances: keep(policy.utterances),
            keep_tokens: keep(policy.tokens),
            keep_turns: keep(policy.turns),
            archive_limit: policy.archive_limit,
            encoding: Encoding::default(),
            memory_limit: 4 * GIB,
            data_dir: "utterd-data".into(),
            database_url: None,
            database_schema: "utterd".to_owned(),
            database_connections: DEFAULT_DATABASE_CONNECTIONS,
            database_ca: None,
            database_events: true,
            flush: Flush::default(),
            disk_reserve: DEFAULT_DISK_RESERVE,
            cache_limit: 128 * MIB,
            scrub_interval: Duration::from_secs(60 * 60),
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
            awaiting_timeout: DEFAULT_AWAITING_TIMEOUT,
            max_conversations_retained: DEFAULT_CONVERSATIONS_RETAINED,
            max_conversations_per_namespace: 0,
            max_bytes_per_namespace: 0,
            max_content_bytes: MOST_CONTENT_BYTES,
            max_batch: DEFAULT_MAX_BATCH,
            max_message_bytes: DEFAULT_MAX_MESSAGE_BYTES,
            max_call_duration: DEFAULT_MAX_CALL_DURATION,
            max_calls_in_flight: DEFAULT_MAX_CALLS_IN_FLIGHT,
            calls_per_second: 0,
            max_streams: DEFAULT_MAX_STREAMS,
            event_capacity: (16 * KIB) as usize,
            workers: 0,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            tls_cert: None,
            tls_key: None,
            tls_client_ca: None,
            log: "info".into(),
            log_format: LogFormat::default(),
            log_calls: false,
            slow_call: DEFAULT_SLOW_CALL,
            drain_timeout: DEFAULT_DRAIN_TIMEOUT,
            metrics_listen: None,
            motorhead_listen: None,
            inspector: None,
            traces_endpoint: None,
            traces_sampled: Share::HUNDREDTH,
            reflection: true,
            llm: Llm::None,
            llm_base_url: None,
            llm_model: String::new(),
            llm_models: Vec::new(),
            llm_api_key_file: None,
            llm_timeout: DEFAULT_LLM_TIMEOUT,
            llm_concurrency: DEFAULT_LLM_CONCURRENCY,
            embedding_base_url: None,
            embedding_model: String::new(),
            embedding_dimensions: 0,
            embedding_api_key_file: None,
            embedding_timeout: DEFAULT_EMBEDDING_TIMEOUT,
        }
    }

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
        for preset in Preset::ALL {
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
