//! Merges flags, variables, the file and the defaults.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf};

use super::{
    ConfigError, Origin, Problem, Settings,
    bounded::ALLOW_WORLD_WRITABLE,
    checks,
    file::{self, Entry},
    keys::{KEYS, Key, nearest},
    secret::shown,
    value,
    word::Word,
};
use utterd_domain::limits::BESIDE_CONTENT_BYTES;

const PREFIX: &str = "UTTERD_";
const CONFIG_VARIABLE: &str = "UTTERD_CONFIG";
/// Variables with the prefix that are not settings: the configuration file, the options of client commands, the
/// places of the binary for clients and of real data for tests, and the API keys of model servers.
const OTHER_VARIABLES: [&str; 12] = [
    CONFIG_VARIABLE,
    ALLOW_WORLD_WRITABLE,
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
        let preset = layers.get("preset").and_then(|given| value::word::parse(&given.text).ok());
        let settings = Settings::of(preset.unwrap_or_default());
        let mut effective = Self { settings, warnings: Vec::new(), origins: BTreeMap::new() };
        for key in KEYS {
            match layers.get(key.name) {
                Some(given) => effective.take(key, given, problems),
                None => effective.leave(key),
            }
        }
        effective.fit_content();
        problems.extend(checks::misfits(&effective.settings, &effective.origins));
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

    /// Lowers the largest content to fit a message with other parts, unless the former is set.
    fn fit_content(&mut self) {
        if matches!(self.origin("max_content_bytes"), Origin::Default | Origin::Preset(_)) {
            let message = self.settings.max_message_bytes;
            let room = message.saturating_sub(BESIDE_CONTENT_BYTES).max(message / 2);
            self.settings.max_content_bytes = self.settings.max_content_bytes.min(room);
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
