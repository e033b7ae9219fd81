//! Every key, once: its word, its flag, what it accepts and how it is shown.

use toml::Value;

use super::{
    settings::Settings,
    value::{
        address, address_of_models, backend, bound, dimensions, directive, directory, duration, encoding,
        file, file_mode, flush, limit, llm, models, period, positive, preset, size, switch, text, threads,
    },
};

/// A key of the configuration.
pub struct Key {
    /// The word in a file.
    pub name: &'static str,
    /// The flag, without its dashes.
    pub flag: &'static str,
    /// The variable.
    pub variable: &'static str,
    /// What stands for the value in the help.
    pub value_name: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Sets it from text; the error says what is accepted.
    pub(super) set: fn(&mut Settings, &str) -> Result<(), String>,
    /// Its value as TOML.
    pub(super) show: fn(&Settings) -> Value,
}

impl Key {
    /// The value that holds when nobody sets it, as a person would write it.
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
        "Utterances in a window; 0 is unlimited"),
    key!(max_tokens "max-tokens" "UTTERD_MAX_TOKENS" "N" limit
        "Tokens of a window's utterances; 0 is unlimited"),
    key!(backend "backend" "UTTERD_BACKEND" "NAME" backend
        "Where conversations are kept: in-memory, fjall (also durable) or sled"),
    key!(summarization_enabled "summarization-enabled" "UTTERD_SUMMARIZATION_ENABLED" "BOOL" switch
        "Summarise what leaves a window"),
    key!(summary_token_limit "summary-token-limit" "UTTERD_SUMMARY_TOKEN_LIMIT" "N" limit
        "Tokens of a conversation's summary; 0 is unlimited"),
    key!(listen "listen" "UTTERD_LISTEN" "ADDRESS" address
        "The address to serve: an IP address and a port, where 0 takes a free one, or unix:PATH, a Unix socket"),
    key!(socket_mode "socket-mode" "UTTERD_SOCKET_MODE" "MODE" file_mode
        "Who may connect to a Unix socket, as the rights of its file in octal; 600 is its owner alone"),
    key!(credentials "credentials" "UTTERD_CREDENTIALS" "FILE" file
        "Who may call: a file of credentials, as `utterd token new` writes them; empty lets everybody in"),
    key!(jwt_keys "jwt-keys" "UTTERD_JWT_KEYS" "FILE" file
        "Whose JWTs let callers in: a file with a JWK set, or public keys in PEM; empty is nobody's"),
    key!(jwt_issuer "jwt-issuer" "UTTERD_JWT_ISSUER" "TEXT" text
        "What a JWT's `iss` must be; empty lets it be anything"),
    key!(jwt_audience "jwt-audience" "UTTERD_JWT_AUDIENCE" "TEXT" text
        "What a JWT's `aud` must hold; asked for with jwt_keys"),
    key!(allow_insecure "allow-insecure" "UTTERD_ALLOW_INSECURE" "BOOL" switch
        "Serve an address that others reach although there is no TLS, or nobody is asked who they are"),
    key!(preset "preset" "UTTERD_PRESET" "NAME" preset
        "What the limits are where nobody sets them: rolling, turns or session"),
    key!(max_turns "max-turns" "UTTERD_MAX_TURNS" "N" limit
        "Turns in a window; 0 is unlimited"),
    key!(keep_utterances "keep-utterances" "UTTERD_KEEP_UTTERANCES" "N" limit
        "Utterances that an eviction leaves in a window; 0 is four fifths of buffer_size"),
    key!(keep_tokens "keep-tokens" "UTTERD_KEEP_TOKENS" "N" limit
        "Tokens that an eviction leaves in a window; 0 is four fifths of max_tokens"),
    key!(keep_turns "keep-turns" "UTTERD_KEEP_TURNS" "N" limit
        "Turns that an eviction leaves in a window; 0 is four fifths of max_turns"),
    key!(archive_limit "archive-limit" "UTTERD_ARCHIVE_LIMIT" "N" limit
        "Utterances kept of what left a window; 0 keeps none"),
    key!(encoding "encoding" "UTTERD_ENCODING" "NAME" encoding
        "What tokens are counted in: an OpenAI encoding or model"),
    key!(memory_limit "memory-limit" "UTTERD_MEMORY_LIMIT" "SIZE" size
        "The most that the in-memory backend holds; writes beyond are refused"),
    key!(data_dir "data-dir" "UTTERD_DATA_DIR" "DIR" directory
        "Where a durable backend (fjall, sled) keeps its files"),
    key!(flush "flush" "UTTERD_FLUSH" "WHEN" flush
        "`each`: a reply waits until its write is on the disk; a duration, such as 100ms: it does not, and a loss of power loses what was said in the last so long (a killed process loses nothing)"),
    key!(disk_reserve "disk-reserve" "UTTERD_DISK_RESERVE" "SIZE" size
        "Left free on the disk of a durable backend: while less is, writes are refused, and taken again by themselves"),
    key!(cache_limit "cache-limit" "UTTERD_CACHE_LIMIT" "SIZE" size
        "Memory for conversations in use by a durable backend; others are read from the disk"),
    key!(scrub_interval "scrub-interval" "UTTERD_SCRUB_INTERVAL" "DURATION" period
        "So long after something was forgotten for good, its bytes are gone from the files too"),
    key!(idle_timeout "idle-timeout" "UTTERD_IDLE_TIMEOUT" "DURATION" duration
        "Idle for so long, a conversation ends when its recipient's next message comes"),
    key!(awaiting_timeout "awaiting-timeout" "UTTERD_AWAITING_TIMEOUT" "DURATION" duration
        "So long an answer that the assistant awaits may come, however idle its conversation"),
    key!(max_conversations_retained "max-conversations-retained" "UTTERD_MAX_CONVERSATIONS_RETAINED" "N" limit
        "Ended conversations kept for a recipient, the oldest going first; 0 keeps all"),
    key!(max_conversations_per_namespace "max-conversations-per-namespace" "UTTERD_MAX_CONVERSATIONS_PER_NAMESPACE" "N" limit
        "Conversations that one namespace may store, ended ones too; 0 is unlimited"),
    key!(max_bytes_per_namespace "max-bytes-per-namespace" "UTTERD_MAX_BYTES_PER_NAMESPACE" "SIZE" bound
        "Bytes that one namespace may store, in windows and archives; 0 is unlimited"),
    key!(max_content_bytes "max-content-bytes" "UTTERD_MAX_CONTENT_BYTES" "SIZE" size
        "The largest content of one utterance, at most 16MiB"),
    key!(max_batch "max-batch" "UTTERD_MAX_BATCH" "N" positive
        "The most utterances of one Memorize"),
    key!(max_message_bytes "max-message-bytes" "UTTERD_MAX_MESSAGE_BYTES" "SIZE" size
        "The largest gRPC message; grows with max_content_bytes where it is not given"),
    key!(max_call_duration "max-call-duration" "UTTERD_MAX_CALL_DURATION" "DURATION" duration
        "A call that is no stream ends after so long, whatever its deadline"),
    key!(max_calls_in_flight "max-calls-in-flight" "UTTERD_MAX_CALLS_IN_FLIGHT" "N" positive
        "Calls in flight at most; where that is near, each caller has an even share"),
    key!(calls_per_second "calls-per-second" "UTTERD_CALLS_PER_SECOND" "N" limit
        "Calls that one caller may make in a second, unless its credential says another number; 0 is unlimited"),
    key!(max_streams "max-streams" "UTTERD_MAX_STREAMS" "N" positive
        "Open streams at most; one caller may have a quarter"),
    key!(event_capacity "event-capacity" "UTTERD_EVENT_CAPACITY" "N" positive
        "Events kept for each namespace"),
    key!(workers "workers" "UTTERD_WORKERS" "N" threads
        "Worker threads; 0 is one for each core"),
    key!(max_connections "max-connections" "UTTERD_MAX_CONNECTIONS" "N" positive
        "The most connections at once; beyond, the one that has been without a call for longest makes room"),
    key!(tls_cert "tls-cert" "UTTERD_TLS_CERT" "FILE" file
        "The server's certificate and its chain, PEM; connections are encrypted then. Read again when it changes"),
    key!(tls_key "tls-key" "UTTERD_TLS_KEY" "FILE" file
        "The certificate's key, PEM"),
    key!(tls_client_ca "tls-client-ca" "UTTERD_TLS_CLIENT_CA" "FILE" file
        "Authorities, PEM: only clients with a certificate of one of these are let in"),
    key!(log "log" "UTTERD_LOG" "FILTER" directive
        "What is logged on stderr, such as `warn` or `info,utterd=debug`"),
    key!(reflection "reflection" "UTTERD_REFLECTION" "BOOL" switch
        "Serve gRPC reflection"),
    key!(llm "llm" "UTTERD_LLM" "NAME" llm
        "The protocol of a model that makes summaries: none, openai (any server of its chat completions) or anthropic"),
    key!(llm_base_url "llm-base-url" "UTTERD_LLM_BASE_URL" "URL" address_of_models
        "Where the model is asked, such as http://127.0.0.1:11434/v1; empty is the provider's own address"),
    key!(llm_model "llm-model" "UTTERD_LLM_MODEL" "MODEL" text
        "The model that is asked when a conversation names none"),
    key!(llm_models "llm-models" "UTTERD_LLM_MODELS" "MODELS" models
        "Other models that a conversation may name, separated by commas; any but these and llm_model is refused"),
    key!(llm_api_key_file "llm-api-key-file" "UTTERD_LLM_API_KEY_FILE" "FILE" file
        "The file that holds the key; empty takes it from UTTERD_LLM_API_KEY, else OPENAI_API_KEY or ANTHROPIC_API_KEY"),
    key!(llm_timeout "llm-timeout" "UTTERD_LLM_TIMEOUT" "DURATION" duration
        "The model answers within so long"),
    key!(llm_concurrency "llm-concurrency" "UTTERD_LLM_CONCURRENCY" "N" positive
        "Calls of the model at once"),
    key!(embedding_base_url "embedding-base-url" "UTTERD_EMBEDDING_BASE_URL" "URL" address_of_models
        "Where a model embeds what is searched, such as http://127.0.0.1:11434/v1: any server of OpenAI's embeddings; empty embeds nothing"),
    key!(embedding_model "embedding-model" "UTTERD_EMBEDDING_MODEL" "MODEL" text
        "The model that embeds"),
    key!(embedding_dimensions "embedding-dimensions" "UTTERD_EMBEDDING_DIMENSIONS" "N" dimensions
        "The values that an embedding is asked to have; 0 is as many as the model gives"),
    key!(embedding_api_key_file "embedding-api-key-file" "UTTERD_EMBEDDING_API_KEY_FILE" "FILE" file
        "The file that holds the key of that server; empty takes it from UTTERD_EMBEDDING_API_KEY, else OPENAI_API_KEY"),
    key!(embedding_timeout "embedding-timeout" "UTTERD_EMBEDDING_TIMEOUT" "DURATION" duration
        "A batch of texts is embedded within so long; searches do not wait for it"),
];

/// The key that is spelled most like `word`, as `spelling` writes it.
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
