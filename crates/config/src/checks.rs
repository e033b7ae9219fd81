//! Checks whether settings fit together.

use std::collections::BTreeMap;

use super::{Backend, Listen, Llm, Origin, Problem, Settings, word::Word};
use utterd_domain::limits::{MAX_SCHEMA_BYTES, MOST_CONTENT_BYTES};

/// Collects the settings that do not fit others.
struct Checks<'a> {
    is: &'a Settings,
    origins: &'a BTreeMap<&'static str, Origin>,
    problems: Vec<Problem>,
}

/// Returns the settings that do not fit others, each with what would; `origins` says where they were given.
pub(super) fn misfits(settings: &Settings, origins: &BTreeMap<&'static str, Origin>) -> Vec<Problem> {
    let mut checks = Checks { is: settings, origins, problems: Vec::new() };
    checks.parts();
    checks.marks();
    checks.sizes();
    checks.model();
    checks.embedding_model();
    checks.audience();
    checks.database();
    checks.exposure();
    checks.socket();
    checks.problems
}

impl Checks<'_> {
    fn refuse(&mut self, key: &'static str, value: impl ToString, accepted: String) {
        let (value, origin) = (value.to_string(), self.of(key));
        self.problems.push(Problem::Value { key, value, origin, accepted });
    }

    /// Where the value of a key was given.
    fn of(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// A setting of a part that this build lacks would be without effect.
    fn parts(&mut self) {
        for (key, unbuilt) in self.is.unbuilt() {
            let value = (key.show)(self.is);
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let usual = Some(key.default_text()).filter(|text| !text.is_empty());
            let usual = usual.unwrap_or_else(|| "nothing".to_owned());
            self.refuse(key.name, value, format!("{usual}, since this program is {unbuilt}"));
        }
    }

    /// An eviction cannot leave more than the maximum.
    fn marks(&mut self) {
        let is = self.is;
        let measures = [
            ("keep_utterances", is.keep_utterances, "buffer_size", is.buffer_size),
            ("keep_tokens", is.keep_tokens, "max_tokens", is.max_tokens),
            ("keep_turns", is.keep_turns, "max_turns", is.max_turns),
        ];
        for (key, keep, of, max) in measures {
            if keep <= max || matches!(self.of(key), Origin::Default | Origin::Preset(_)) {
                continue;
            }
            let accepted = match max {
                0 => format!("0, since {of} is 0, unlimited ({})", self.of(of)),
                _ => format!("at most {of}, {max} ({})", self.of(of)),
            };
            self.refuse(key, keep, accepted);
        }
    }

    /// Content that fits in no message could never arrive.
    fn sizes(&mut self) {
        let (content, message) = (self.is.max_content_bytes, self.is.max_message_bytes);
        if content > MOST_CONTENT_BYTES {
            self.refuse("max_content_bytes", content, format!("at most {MOST_CONTENT_BYTES} (16MiB)"));
        }
        if content >= message {
            let of = self.of("max_message_bytes");
            self.refuse(
                "max_content_bytes",
                content,
                format!("less than max_message_bytes, {message} ({of})"),
            );
        }
    }

    /// Models come and go, so there is no default model.
    fn model(&mut self) {
        if self.is.llm != Llm::None && self.is.llm_model.is_empty() {
            let (llm, of) = (self.is.llm.name(), self.of("llm"));
            self.refuse("llm_model", "", format!("the name of a model, since llm is {llm} ({of})"));
        }
    }

    /// An embedding server needs a model, and an embedding model needs a server.
    fn embedding_model(&mut self) {
        let (key, of, accepted) = match (&self.is.embedding_base_url, self.is.embedding_model.is_empty()) {
            (Some(_), true) => ("embedding_model", "embedding_base_url", "the name of a model"),
            (None, false) => ("embedding_base_url", "embedding_model", "the address of an embedding server"),
            _ => return,
        };
        self.refuse(key, "", format!("{accepted}, since there is an {of} ({})", self.of(of)));
    }

    /// A JWT that was made for another service must not open this one (RFC 8725, 3.9).
    fn audience(&mut self) {
        if self.is.jwt_keys.is_some() && self.is.jwt_audience.is_empty() {
            let of = self.of("jwt_keys");
            let accepted =
                format!("what the `aud` of JWTs for this server holds, since there are jwt_keys ({of})");
            self.refuse("jwt_audience", "", accepted);
        }
    }

    /// The postgres backend needs a database and the name of a schema.
    fn database(&mut self) {
        if self.is.backend != Backend::Postgres {
            return;
        }
        let since = format!("since the backend is postgres ({})", self.of("backend"));
        if self.is.database_url.is_none() {
            self.refuse("database_url", "", format!("the URL of a database, {since}"));
        }
        let schema = &self.is.database_schema;
        if !(1..=MAX_SCHEMA_BYTES).contains(&schema.len()) {
            let accepted = format!("the name of a schema, 1 to {MAX_SCHEMA_BYTES} bytes, {since}");
            self.refuse("database_schema", schema, accepted);
        }
    }

    /// An address that others can reach must be guarded, or be open on purpose.
    fn exposure(&mut self) {
        let served = [("listen", Some(&self.is.listen)), ("inspector", self.is.inspector.as_ref())];
        for (key, listen) in served {
            let Some(listen) = listen else { continue };
            let Some(lacking) = self.is.exposed(listen) else { continue };
            let accepted = format!(
                "an address of this machine alone, such as {}, since {lacking}. Set the missing settings; or set \
                 allow_insecure = true (--allow-insecure true) if something else keeps others out",
                listen.nearby()
            );
            self.refuse(key, listen, accepted);
        }
    }

    /// A Unix socket has no TLS, so files for TLS are refused instead of being ignored.
    fn socket(&mut self) {
        let listen @ Listen::Unix(_) = &self.is.listen else { return };
        let accepted = format!(
            "nothing, since listen is {listen} ({}): a Unix socket has no TLS, socket_mode says who may connect",
            self.of("listen")
        );
        let files = [
            ("tls_cert", &self.is.tls_cert),
            ("tls_key", &self.is.tls_key),
            ("tls_client_ca", &self.is.tls_client_ca),
        ];
        for (key, file) in files {
            if let Some(file) = file {
                self.refuse(key, file.display(), accepted.clone());
            }
        }
    }
}
