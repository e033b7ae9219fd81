//! Merges flags, variables, the file and the defaults.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf};

use super::{
    Backend, ConfigError, Listen, Llm, Origin, Problem, Settings,
    file::{self, Entry},
    keys::{KEYS, Key, nearest},
    secret::shown,
    value,
};
use crate::domain::limits::{BESIDE_CONTENT_BYTES, MAX_SCHEMA_BYTES, MOST_CONTENT_BYTES};

const PREFIX: &str = "UTTERD_";
const CONFIG_VARIABLE: &str = "UTTERD_CONFIG";
/// Variables with the prefix that are not settings: the configuration file, the options of client commands, the
/// places of the binary for clients and of real data for tests, and the API keys of model servers.
const OTHER_VARIABLES: [&str; 11] = [
    CONFIG_VARIABLE,
    "UTTERD_SERVER",
    "UTTERD_TLS_CA",
    "UTTERD_CLIENT_CERT",
    "UTTERD_CLIENT_KEY",
    "UTTERD_TOKEN",
    "UTTERD_TOKEN_FILE",
    "UTTERD_BIN",
    "UTTERD_DATA",
    "UTTERD_LLM_API_KEY",
    "UTTERD_EMBEDDING_API_KEY",
];

/// The sources of a configuration. They can hold secrets, so they are never printed.
#[derive(Default)]
pub struct Sources {
    /// Flags given, by the key's name.
    pub flags: Vec<(&'static str, String)>,
    /// The file that a flag names.
    pub file: Option<PathBuf>,
    /// The environment; variables that do not start with `UTTERD_` are ignored.
    pub variables: Vec<(OsString, OsString)>,
    /// The directory to search for `utterd.toml` if no file is named.
    pub directory: PathBuf,
}

/// A value as it was given.
struct Given {
    text: String,
    origin: Origin,
}

type Layers = BTreeMap<&'static str, Given>;

impl Sources {
    /// The sources of this process: its environment and its directory.
    pub fn of_process(flags: Vec<(&'static str, String)>, file: Option<PathBuf>) -> Self {
        Self { flags, file, variables: std::env::vars_os().collect(), directory: PathBuf::new() }
    }

    /// Returns the effective settings and the origin of each, or else everything that is wrong.
    pub fn load(self) -> Result<Effective, ConfigError> {
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        let mut layers = Layers::new();
        let (variables, named) = take_variables(self.variables, &mut warnings);
        let entries = file::read(self.file.or(named), &self.directory);
        take_file(entries, &mut layers, &mut problems);
        layers.extend(variables);
        for (name, text) in self.flags {
            if let Some(key) = key_named(name) {
                layers.insert(key.name, Given { text, origin: Origin::Flag(key.flag) });
            }
        }
        let effective = Effective::resolve(&layers, &mut problems);
        if problems.is_empty() {
            return Ok(Effective { warnings, ..effective });
        }
        problems.append(&mut warnings);
        Err(ConfigError(problems))
    }
}

/// Returns the settings among the variables, and the file that they name. An unknown variable is only a
/// warning: it might belong to another program, or to a newer version.
fn take_variables(
    variables: Vec<(OsString, OsString)>,
    warnings: &mut Vec<Problem>,
) -> (Layers, Option<PathBuf>) {
    let mut layers = Layers::new();
    let mut named = None;
    for (name, value) in variables {
        let name = name.to_string_lossy().into_owned();
        if name == CONFIG_VARIABLE {
            named = Some(value).filter(|value| !value.is_empty()).map(PathBuf::from);
        } else if let Some(key) = KEYS.iter().find(|key| key.variable == name) {
            let text = value.to_string_lossy().into_owned();
            layers.insert(key.name, Given { text, origin: Origin::Variable(name) });
        } else if name.starts_with(PREFIX) && !is_no_setting(&name) {
            let nearest = nearest(&name, |key| key.variable);
            warnings.push(Problem::Unknown { word: name.clone(), origin: Origin::Variable(name), nearest });
        }
    }
    (layers, named)
}

/// Whether a variable with the prefix is not a setting. Kubernetes describes a Service called
/// `utterd` to every container in `UTTERD_SERVICE_HOST`, `UTTERD_SERVICE_PORT…`, `UTTERD_PORT`
/// and `UTTERD_PORT_…`.
fn is_no_setting(name: &str) -> bool {
    OTHER_VARIABLES.contains(&name)
        || name == "UTTERD_SERVICE_HOST"
        || name.starts_with("UTTERD_SERVICE_PORT")
        || name == "UTTERD_PORT"
        || name.starts_with("UTTERD_PORT_")
}

fn take_file(entries: Result<Vec<Entry>, Problem>, layers: &mut Layers, problems: &mut Vec<Problem>) {
    let entries = entries.unwrap_or_else(|problem| {
        problems.push(problem);
        Vec::new()
    });
    for Entry { word, text, toml, origin } in entries {
        match (key_named(&word), text) {
            (Some(key), Some(text)) => {
                layers.insert(key.name, Given { text, origin });
            }
            (Some(key), None) => {
                let accepted = "text, a number, true or false".into();
                problems.push(Problem::Value { key: key.name, value: key.shown(&toml), origin, accepted });
            }
            (None, _) => {
                let nearest = nearest(&word, |key| key.name);
                problems.push(Problem::Unknown { word: shown(&word).into_owned(), origin, nearest });
            }
        }
    }
}

fn key_named(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The effective settings, and where each came from.
///
/// Its `Display` is TOML that loads to the same settings, with the origins as comments.
#[derive(Debug)]
pub struct Effective {
    /// The settings.
    pub settings: Settings,
    /// Warnings about variables `UTTERD_…` that were ignored, as they are not settings.
    pub warnings: Vec<Problem>,
    origins: BTreeMap<&'static str, Origin>,
}

impl Effective {
    fn resolve(layers: &Layers, problems: &mut Vec<Problem>) -> Self {
        // A wrong preset is reported with the other values below.
        let preset = layers.get("preset").and_then(|given| value::preset::parse(&given.text).ok());
        let settings = Settings::of(preset.unwrap_or_default());
        let mut effective = Self { settings, warnings: Vec::new(), origins: BTreeMap::new() };
        for key in KEYS {
            match layers.get(key.name) {
                Some(given) => effective.take(key, given, problems),
                None => effective.leave(key),
            }
        }
        effective.fit_content();
        effective.check_marks(problems);
        effective.check_sizes(problems);
        effective.check_model(problems);
        effective.check_embedding_model(problems);
        effective.check_audience(problems);
        effective.check_database(problems);
        effective.check_exposure(problems);
        effective.check_motorhead(problems);
        effective.check_socket(problems);
        effective
    }

    fn take(&mut self, key: &Key, given: &Given, problems: &mut Vec<Problem>) {
        let Given { text, origin } = given;
        self.origins.insert(key.name, origin.clone());
        if let Err(accepted) = (key.set)(&mut self.settings, text) {
            let (value, origin) = (key.shown(text), origin.clone());
            problems.push(Problem::Value { key: key.name, value, origin, accepted });
        }
    }

    fn leave(&mut self, key: &Key) {
        let usual = (key.show)(&Settings::default());
        let origin = if (key.show)(&self.settings) == usual {
            Origin::Default
        } else {
            Origin::Preset(self.settings.preset.name())
        };
        self.origins.insert(key.name, origin);
    }

    /// An eviction cannot leave more than the maximum.
    fn check_marks(&self, problems: &mut Vec<Problem>) {
        let is = &self.settings;
        let measures = [
            ("keep_utterances", is.keep_utterances, "buffer_size", is.buffer_size),
            ("keep_tokens", is.keep_tokens, "max_tokens", is.max_tokens),
            ("keep_turns", is.keep_turns, "max_turns", is.max_turns),
        ];
        for (key, keep, of, max) in measures {
            let origin = self.origin(key);
            if keep <= max || matches!(origin, Origin::Default | Origin::Preset(_)) {
                continue;
            }
            let accepted = match max {
                0 => format!("0, since {of} is 0, unlimited ({})", self.origin(of)),
                _ => format!("at most {of}, {max} ({})", self.origin(of)),
            };
            problems.push(Problem::Value { key, value: keep.to_string(), origin, accepted });
        }
    }

    /// Lowers the largest content to fit a message with other parts, unless the former is set.
    fn fit_content(&mut self) {
        if matches!(self.origin("max_content_bytes"), Origin::Default | Origin::Preset(_)) {
            let message = self.settings.max_message_bytes;
            let room = message.saturating_sub(BESIDE_CONTENT_BYTES).max(message / 2);
            self.settings.max_content_bytes = self.settings.max_content_bytes.min(room);
        }
    }

    /// Content that fits in no message could never arrive.
    fn check_sizes(&self, problems: &mut Vec<Problem>) {
        let (content, message) = (self.settings.max_content_bytes, self.settings.max_message_bytes);
        if content > MOST_CONTENT_BYTES {
            problems.push(Problem::Value {
                key: "max_content_bytes",
                value: content.to_string(),
                origin: self.origin("max_content_bytes"),
                accepted: format!("at most {MOST_CONTENT_BYTES} (16MiB)"),
            });
        }
        if content >= message {
            problems.push(Problem::Value {
                key: "max_content_bytes",
                value: content.to_string(),
                origin: self.origin("max_content_bytes"),
                accepted: format!(
                    "less than max_message_bytes, {message} ({})",
                    self.origin("max_message_bytes")
                ),
            });
        }
    }

    /// Models come and go, so there is no default model.
    fn check_model(&self, problems: &mut Vec<Problem>) {
        if self.settings.llm != Llm::None && self.settings.llm_model.is_empty() {
            problems.push(Problem::Value {
                key: "llm_model",
                value: String::new(),
                origin: self.origin("llm_model"),
                accepted: format!(
                    "the name of a model, since llm is {} ({})",
                    self.settings.llm.name(),
                    self.origin("llm")
                ),
            });
        }
    }

    /// An embedding server needs a model, and an embedding model needs a server.
    fn check_embedding_model(&self, problems: &mut Vec<Problem>) {
        let (url, model) = (&self.settings.embedding_base_url, &self.settings.embedding_model);
        let (key, of, accepted) = match (url, model.is_empty()) {
            (Some(_), true) => ("embedding_model", "embedding_base_url", "the name of a model"),
            (None, false) => ("embedding_base_url", "embedding_model", "the address of an embedding server"),
            _ => return,
        };
        problems.push(Problem::Value {
            key,
            value: String::new(),
            origin: self.origin(key),
            accepted: format!("{accepted}, since there is an {of} ({})", self.origin(of)),
        });
    }

    /// A JWT that was made for another service must not open this one (RFC 8725, 3.9).
    fn check_audience(&self, problems: &mut Vec<Problem>) {
        if self.settings.jwt_keys.is_some() && self.settings.jwt_audience.is_empty() {
            problems.push(Problem::Value {
                key: "jwt_audience",
                value: String::new(),
                origin: self.origin("jwt_audience"),
                accepted: format!(
                    "what the `aud` of JWTs for this server holds, since there are jwt_keys ({})",
                    self.origin("jwt_keys")
                ),
            });
        }
    }

    /// The postgres backend needs a database and the name of a schema.
    fn check_database(&self, problems: &mut Vec<Problem>) {
        if self.settings.backend != Backend::Postgres {
            return;
        }
        let Settings { database_url, database_schema, .. } = &self.settings;
        let is_name = (1..=MAX_SCHEMA_BYTES).contains(&database_schema.len());
        let schema = format!("the name of a schema, 1 to {MAX_SCHEMA_BYTES} bytes");
        let wrong = [
            ("database_url", String::new(), database_url.is_none(), "the URL of a database".to_owned()),
            ("database_schema", database_schema.clone(), !is_name, schema),
        ];
        for (key, value, _, accepted) in wrong.into_iter().filter(|(_, _, is_wrong, _)| *is_wrong) {
            problems.push(Problem::Value {
                key,
                value,
                origin: self.origin(key),
                accepted: format!("{accepted}, since the backend is postgres ({})", self.origin("backend")),
            });
        }
    }

    /// An address that others can reach must be guarded, or be open on purpose.
    fn check_exposure(&self, problems: &mut Vec<Problem>) {
        let served =
            [("listen", Some(&self.settings.listen)), ("inspector", self.settings.inspector.as_ref())];
        for (key, listen) in served {
            let Some(listen) = listen else { continue };
            let Some(lacking) = self.settings.exposed(listen) else { continue };
            let nearby = listen.nearby();
            problems.push(Problem::Value {
                key,
                value: listen.to_string(),
                origin: self.origin(key),
                accepted: format!(
                    "an address of this machine alone, such as {nearby}, since {lacking}. Set the missing settings; or set \
                     allow_insecure = true (--allow-insecure true) if something else keeps others out"
                ),
            });
        }
    }

    /// Motorhead's interface has no TLS: others can only be let in on purpose.
    fn check_motorhead(&self, problems: &mut Vec<Problem>) {
        let Some(listen) = &self.settings.motorhead_listen else { return };
        if !listen.is_local() && !self.settings.allow_insecure {
            problems.push(Problem::Value {
                key: "motorhead_listen",
                value: listen.to_string(),
                origin: self.origin("motorhead_listen"),
                accepted: format!(
                    "an address of this machine alone, such as {}, since motorhead's interface has no TLS; or set \
                     allow_insecure = true (--allow-insecure true) if something else keeps others out",
                    listen.nearby()
                ),
            });
        }
    }

    /// A Unix socket has no TLS, so files for TLS are refused instead of being ignored.
    fn check_socket(&self, problems: &mut Vec<Problem>) {
        let Listen::Unix(_) = self.settings.listen else { return };
        let files = [
            ("tls_cert", &self.settings.tls_cert),
            ("tls_key", &self.settings.tls_key),
            ("tls_client_ca", &self.settings.tls_client_ca),
        ];
        for (key, file) in files {
            let Some(file) = file else { continue };
            problems.push(Problem::Value {
                key,
                value: file.display().to_string(),
                origin: self.origin(key),
                accepted: format!(
                    "nothing, since listen is {} ({}): a Unix socket has no TLS, socket_mode says who may connect",
                    self.settings.listen,
                    self.origin("listen")
                ),
            });
        }
    }

    /// Returns the origin of the value of the key `name`.
    pub fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).cloned().unwrap_or(Origin::Default)
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |key: &Key| format!("{} = {}", key.name, (key.show)(&self.settings));
        let width = KEYS.iter().map(|key| line(key).chars().count()).max().unwrap_or(0);
        for key in KEYS {
            writeln!(f, "{:width$}  # {}", line(key), comment(&self.origin(key.name)))?;
        }
        Ok(())
    }
}

/// Returns an origin as a comment, on one line even if a file's name has several.
fn comment(origin: &Origin) -> String {
    origin.to_string().replace(char::is_control, "?")
}
