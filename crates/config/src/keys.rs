//! Every key, defined once: its word, its flag, what it accepts and how it is shown.

use toml::Value;

use super::{
    Part, Unbuilt,
    secret::{HIDDEN, shown},
    settings::Settings,
    value::{
        address, address_of_models, bound, database, dimensions, directive, directory, duration, encoding,
        file, file_mode, flush, limit, models, other_address, period, positive, share, size, switch, text,
        threads, word,
    },
};

/// The address of the inspector if the flag has no value.
pub const INSPECTOR: &str = "127.0.0.1:50080";

/// A key of the configuration.
pub struct Key {
    /// The word in a file.
    pub name: &'static str,
    /// The flag, without its dashes.
    pub flag: &'static str,
    /// The variable.
    pub variable: &'static str,
    /// The placeholder for the value in the help.
    pub value_name: &'static str,
    /// What the key does.
    pub help: &'static str,
    /// The value of the flag without a value; `None` if it must have one.
    pub usual: Option<&'static str>,
    /// Whether the value is an address that can hold a secret.
    is_address: bool,
    /// Sets the value from text; the error says what is accepted, and never repeats the text.
    pub(super) set: fn(&mut Settings, &str) -> Result<(), String>,
    /// Returns the value as TOML.
    pub(super) show: fn(&Settings) -> Value,
}

impl Settings {
    /// The keys whose values differ from those of `other`. Passwords in a URL are not compared.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let differs = |key: &&Key| (key.show)(self) != (key.show)(other);
        KEYS.iter().filter(differs).map(|key| key.name).collect()
    }

    /// Succeeds if this build has every part that the settings need.
    pub fn check_built(&self) -> Result<(), Unbuilt> {
        self.unbuilt().next().map_or(Ok(()), |(_, unbuilt)| Err(unbuilt))
    }

    /// The keys whose values need a part that this build lacks.
    pub(super) fn unbuilt(&self) -> impl Iterator<Item = (&'static Key, Unbuilt)> {
        let defaults = Self::default();
        let is_set = move |key: &&Key| (key.show)(self) != (key.show)(&defaults);
        let part =
            |key: &Key| if key.name == "backend" { self.backend.part() } else { Part::of_key(key.name) };
        let lacking = move |key: &'static Key| part(key)?.built().err().map(|lacking| (key, lacking));
        KEYS.iter().filter(is_set).filter_map(lacking)
    }
}

impl Key {
    /// Returns a text that is not a value of this key, as it may be shown.
    pub(super) fn shown(&self, wrong: &str) -> String {
        if self.is_address { HIDDEN.into() } else { shown(wrong).into_owned() }
    }

    /// Returns the default value, as a person would write it.
    pub fn default_text(&self) -> String {
        match (self.show)(&Settings::default()) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

macro_rules! key {
    ($field:ident $flag:literal $variable:literal $value:literal $kind:ident $help:literal) => {
        Key {
            name: stringify!($field),
            flag: $flag,
            variable: $variable,
            value_name: $value,
            help: $help,
            usual: None,
            is_address: false,
            set: |settings, text| {
                settings.$field = $kind::parse(text)?;
                Ok(())
            },
            show: |settings| $kind::show(&settings.$field),
        }
    };
}

/// Every key, in the order in which it is shown.
#[rustfmt::skip]
pub static KEYS: &[Key] = &[
    key!(buffer_size "buffer-size" "UTTERD_BUFFER_SIZE" "N" limit
        "The most utterances in a window; 0 is unlimited"),
    key!(max_tokens "max-tokens" "UTTERD_MAX_TOKENS" "N" limit
        "The most tokens in a window; 0 is unlimited"),
    key!(backend "backend" "UTTERD_BACKEND" "NAME" word
        "Where conversations are stored: in-memory, fjall (also called durable), sled or postgres"),
    key!(summarization_enabled "summarization-enabled" "UTTERD_SUMMARIZATION_ENABLED" "BOOL" switch
        "Whether utterances that leave a window are summarised"),
    key!(summary_token_limit "summary-token-limit" "UTTERD_SUMMARY_TOKEN_LIMIT" "N" limit
        "The most tokens in a conversation's summary; 0 is unlimited"),
    key!(listen "listen" "UTTERD_LISTEN" "ADDRESS" address
        "The address to listen on: an IP address and a port (0 picks a free one), or unix:PATH for a Unix socket"),
    key!(socket_mode "socket-mode" "UTTERD_SOCKET_MODE" "MODE" file_mode
        "The permissions of the Unix socket's file, in octal; 600 lets only its owner connect"),
    key!(credentials "credentials" "UTTERD_CREDENTIALS" "FILE" file
        "The file with the credentials of callers, written by `utterd token new`; empty accepts every caller"),
    key!(jwt_keys "jwt-keys" "UTTERD_JWT_KEYS" "FILE" file
        "The file with the keys that verify JWTs: a JWK set, or public keys in PEM; empty accepts no JWT"),
    key!(jwt_issuer "jwt-issuer" "UTTERD_JWT_ISSUER" "TEXT" text
        "The `iss` that a JWT must have; empty accepts any"),
    key!(jwt_audience "jwt-audience" "UTTERD_JWT_AUDIENCE" "TEXT" text
        "The `aud` that a JWT must contain; required with jwt_keys"),
    key!(allow_insecure "allow-insecure" "UTTERD_ALLOW_INSECURE" "BOOL" switch
        "Whether other machines may connect without TLS or without credentials"),
    key!(preset "preset" "UTTERD_PRESET" "NAME" word
        "The limits of a window unless they are set: rolling, turns or session"),
    key!(max_turns "max-turns" "UTTERD_MAX_TURNS" "N" limit
        "The most turns in a window; 0 is unlimited"),
    key!(keep_utterances "keep-utterances" "UTTERD_KEEP_UTTERANCES" "N" limit
        "The utterances that an eviction leaves in a window; 0 is four fifths of buffer_size"),
    key!(keep_tokens "keep-tokens" "UTTERD_KEEP_TOKENS" "N" limit
        "The tokens that an eviction leaves in a window; 0 is four fifths of max_tokens"),
    key!(keep_turns "keep-turns" "UTTERD_KEEP_TURNS" "N" limit
        "The turns that an eviction leaves in a window; 0 is four fifths of max_turns"),
    key!(archive_limit "archive-limit" "UTTERD_ARCHIVE_LIMIT" "N" limit
        "The most utterances in a conversation's archive; 0 keeps no archive"),
    key!(encoding "encoding" "UTTERD_ENCODING" "NAME" encoding
        "The encoding to count tokens with, such as o200k_base, or an OpenAI model that uses it"),
    key!(memory_limit "memory-limit" "UTTERD_MEMORY_LIMIT" "SIZE" size
        "The most memory for conversations of the in-memory backend; the server refuses writes beyond it"),
    key!(data_dir "data-dir" "UTTERD_DATA_DIR" "DIR" directory
        "The directory of a durable backend (fjall, sled)"),
    Key { is_address: true, ..key!(database_url "database-url" "UTTERD_DATABASE_URL" "URL" database
        "The database of the postgres backend, such as postgres://user@host/database; shown without its password") },
    key!(database_schema "database-schema" "UTTERD_DATABASE_SCHEMA" "NAME" text
        "The schema with the tables of the postgres backend; servers with the same schema share all conversations"),
    key!(database_connections "database-connections" "UTTERD_DATABASE_CONNECTIONS" "N" positive
        "The most connections of this server to the database, in addition to the one on which it listens for changes"),
    key!(database_ca "database-ca" "UTTERD_DATABASE_CA" "FILE" file
        "The certificate authorities to trust for the database, in PEM; empty trusts those of the system"),
    key!(database_events "database-events" "UTTERD_DATABASE_EVENTS" "BOOL" switch
        "Whether WatchEvents streams the changes of all servers, which are stored for a day; if not, it streams the changes and reads of its own server"),
    key!(flush "flush" "UTTERD_FLUSH" "WHEN" flush
        "When to reply to a write: `each` waits until the write is on the disk. With a duration such as 100ms, the reply does not wait, and a power failure loses the writes of up to that time; a killed process loses none"),
    key!(disk_reserve "disk-reserve" "UTTERD_DISK_RESERVE" "SIZE" size
        "The disk space to leave free; the server refuses writes while there is less"),
    key!(cache_limit "cache-limit" "UTTERD_CACHE_LIMIT" "SIZE" size
        "The most memory for cached conversations of a backend other than in-memory"),
    key!(scrub_interval "scrub-interval" "UTTERD_SCRUB_INTERVAL" "DURATION" period
        "How soon text that was forgotten for good is removed from the files"),
    key!(idle_timeout "idle-timeout" "UTTERD_IDLE_TIMEOUT" "DURATION" duration
        "How long a conversation may be idle before its recipient's next message starts a new one"),
    key!(awaiting_timeout "awaiting-timeout" "UTTERD_AWAITING_TIMEOUT" "DURATION" duration
        "How long a conversation may be idle while its assistant waits for an answer, before the next message starts a new one"),
    key!(max_conversations_retained "max-conversations-retained" "UTTERD_MAX_CONVERSATIONS_RETAINED" "N" limit
        "The most conversations of a recipient; the server removes the oldest that have ended; 0 keeps all"),
    key!(max_conversations_per_namespace "max-conversations-per-namespace" "UTTERD_MAX_CONVERSATIONS_PER_NAMESPACE" "N" limit
        "The most conversations in a namespace, ended ones included; 0 is unlimited"),
    key!(max_bytes_per_namespace "max-bytes-per-namespace" "UTTERD_MAX_BYTES_PER_NAMESPACE" "SIZE" bound
        "The most bytes stored in a namespace, in windows and archives; 0 is unlimited"),
    key!(max_content_bytes "max-content-bytes" "UTTERD_MAX_CONTENT_BYTES" "SIZE" size
        "The largest content of an utterance, at most 16MiB; unless set, it shrinks with max_message_bytes"),
    key!(max_batch "max-batch" "UTTERD_MAX_BATCH" "N" positive
        "The most utterances in one Memorize"),
    key!(max_message_bytes "max-message-bytes" "UTTERD_MAX_MESSAGE_BYTES" "SIZE" size
        "The largest gRPC message"),
    key!(max_call_duration "max-call-duration" "UTTERD_MAX_CALL_DURATION" "DURATION" duration
        "The longest time for a call that is not a stream, whatever its deadline"),
    key!(max_calls_in_flight "max-calls-in-flight" "UTTERD_MAX_CALLS_IN_FLIGHT" "N" positive
        "The most calls at a time; near the limit, each caller gets an equal share"),
    key!(calls_per_second "calls-per-second" "UTTERD_CALLS_PER_SECOND" "N" limit
        "The most calls per second by one caller, unless the credential of the caller sets a limit; 0 is unlimited"),
    key!(max_streams "max-streams" "UTTERD_MAX_STREAMS" "N" positive
        "The most open streams; one caller may have a quarter of them"),
    key!(event_capacity "event-capacity" "UTTERD_EVENT_CAPACITY" "N" positive
        "The most events kept for a namespace"),
    key!(workers "workers" "UTTERD_WORKERS" "N" threads
        "The number of worker threads; 0 is one for each core"),
    key!(max_connections "max-connections" "UTTERD_MAX_CONNECTIONS" "N" positive
        "The most connections; one more closes the connection that has been idle longest"),
    key!(tls_cert "tls-cert" "UTTERD_TLS_CERT" "FILE" file
        "The file with the server's certificate chain in PEM, which turns on TLS; the server reads it again when it changes"),
    key!(tls_key "tls-key" "UTTERD_TLS_KEY" "FILE" file
        "The file with the certificate's private key in PEM"),
    key!(tls_client_ca "tls-client-ca" "UTTERD_TLS_CLIENT_CA" "FILE" file
        "The file with certificate authorities in PEM; the server then accepts only clients with a certificate from one of them"),
    key!(log "log" "UTTERD_LOG" "FILTER" directive
        "The filter of the log on stderr, such as `warn` or `info,utterd=debug`"),
    key!(log_format "log-format" "UTTERD_LOG_FORMAT" "FORMAT" word
        "The form of the log: text, or json with one object per line"),
    key!(log_calls "log-calls" "UTTERD_LOG_CALLS" "BOOL" switch
        "Whether every call is logged; slow calls always are"),
    key!(slow_call "slow-call" "UTTERD_SLOW_CALL" "DURATION" duration
        "How long a call that is not a stream may take before it is logged as slow"),
    key!(drain_timeout "drain-timeout" "UTTERD_DRAIN_TIMEOUT" "DURATION" duration
        "How long calls in flight have to finish when the server is asked to stop"),
    key!(metrics_listen "metrics-listen" "UTTERD_METRICS_LISTEN" "ADDRESS" other_address
        "The address that serves /metrics to Prometheus, such as 127.0.0.1:9464; empty serves none. Everyone who reaches the address can read the metrics"),
    Key { usual: Some(INSPECTOR), ..key!(inspector "inspector" "UTTERD_INSPECTOR" "ADDRESS" other_address
        "The address that serves the inspector, a page for browsers; the flag without a value means 127.0.0.1:50080; empty serves none") },
    Key { is_address: true, ..key!(traces_endpoint "traces-endpoint" "UTTERD_TRACES_ENDPOINT" "URL" address_of_models
        "The OpenTelemetry collector to send traces to, with OTLP over HTTP, such as http://127.0.0.1:4318; empty sends none") },
    key!(traces_sampled "traces-sampled" "UTTERD_TRACES_SAMPLED" "SHARE" share
        "The share of calls to trace, from 0 to 1, unless the caller decides"),
    key!(reflection "reflection" "UTTERD_REFLECTION" "BOOL" switch
        "Whether to serve gRPC reflection"),
    key!(llm "llm" "UTTERD_LLM" "NAME" word
        "The protocol of the model that writes summaries: none, openai (every server with OpenAI's chat completions) or anthropic"),
    Key { is_address: true, ..key!(llm_base_url "llm-base-url" "UTTERD_LLM_BASE_URL" "URL" address_of_models
        "The address of the model's server, such as http://127.0.0.1:11434/v1; empty is the provider's own") },
    key!(llm_model "llm-model" "UTTERD_LLM_MODEL" "MODEL" text
        "The model that writes summaries, unless a conversation names another"),
    key!(llm_models "llm-models" "UTTERD_LLM_MODELS" "MODELS" models
        "Other models that a conversation may name, separated by commas"),
    key!(llm_api_key_file "llm-api-key-file" "UTTERD_LLM_API_KEY_FILE" "FILE" file
        "The file with the API key; empty takes the key from UTTERD_LLM_API_KEY, or else from OPENAI_API_KEY or ANTHROPIC_API_KEY"),
    key!(llm_timeout "llm-timeout" "UTTERD_LLM_TIMEOUT" "DURATION" duration
        "How long to wait for the model's answer"),
    key!(llm_concurrency "llm-concurrency" "UTTERD_LLM_CONCURRENCY" "N" positive
        "The most calls to the model at a time"),
    Key { is_address: true, ..key!(embedding_base_url "embedding-base-url" "UTTERD_EMBEDDING_BASE_URL" "URL" address_of_models
        "The address of an embedding server with OpenAI's protocol, such as http://127.0.0.1:11434/v1; empty uses no embeddings") },
    key!(embedding_model "embedding-model" "UTTERD_EMBEDDING_MODEL" "MODEL" text
        "The model that makes embeddings"),
    key!(embedding_dimensions "embedding-dimensions" "UTTERD_EMBEDDING_DIMENSIONS" "N" dimensions
        "The number of dimensions of an embedding; 0 is the model's default"),
    key!(embedding_api_key_file "embedding-api-key-file" "UTTERD_EMBEDDING_API_KEY_FILE" "FILE" file
        "The file with the embedding server's API key; empty takes the key from UTTERD_EMBEDDING_API_KEY, or else from OPENAI_API_KEY"),
    key!(embedding_timeout "embedding-timeout" "UTTERD_EMBEDDING_TIMEOUT" "DURATION" duration
        "How long to wait for a batch of embeddings; searches never wait for embeddings"),
];

/// Returns the `spelling` of a key that is most like `word`.
pub(super) fn nearest(word: &str, spelling: fn(&Key) -> &'static str) -> &'static str {
    let likeness = |key: &&Key| strsim::normalized_damerau_levenshtein(word, spelling(key));
    let nearest = KEYS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    nearest.map_or("", spelling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_word_everywhere() {
        for key in KEYS {
            assert_eq!(key.flag, key.name.replace('_', "-"));
            assert_eq!(key.variable, format!("UTTERD_{}", key.name.to_uppercase()));
        }
    }

    #[test]
    fn what_is_shown_is_accepted() {
        for key in KEYS {
            let mut settings = Settings::default();
            (key.set)(&mut settings, &key.default_text()).unwrap();
            assert_eq!(settings, Settings::default(), "{}", key.name);
        }
    }

    #[test]
    fn the_nearest_key_is_found() {
        assert_eq!(nearest("bufer_size", |key| key.name), "buffer_size");
        assert_eq!(nearest("UTTERD_MAXTOKENS", |key| key.variable), "UTTERD_MAX_TOKENS");
    }
}
