//! What each part can use, and how that is checked.

use std::collections::BTreeSet;

use crate::paths::{Named, paths};

/// What one part of the house can use.
pub struct Rule {
    room: &'static str,
    /// Parts of this crate, or items in them, that it can use besides itself.
    may: &'static [&'static str],
    /// External paths that it must not use.
    never: &'static [&'static str],
    /// Words that must not occur in it.
    words: &'static [&'static str],
}

/// The wire format, which the core must not use.
const WIRE: &[&str] = &["tonic", "tonic_types", "tonic_prost", "prost", "prost_types", "http"];

/// The same without protobuf, which the records of the durable store are written in.
const TRANSPORT: &[&str] = &["tonic", "tonic_types", "tonic_prost", "prost_types", "http"];

/// The wire format to callers; models are called over HTTP.
const GRPC: &[&str] = &["tonic", "tonic_types", "tonic_prost", "prost", "prost_types"];

/// Everything impure: runtimes, shared state, logs, the wire, clocks, randomness, the machine.
const IMPURE: &[&str] = &[
    "tokio",
    "tokio_stream",
    "futures",
    "dashmap",
    "parking_lot",
    "arc_swap",
    "tracing",
    "tonic",
    "tonic_types",
    "tonic_prost",
    "prost",
    "prost_types",
    "http",
    "sled",
    "fjall",
    "rand",
    "ulid",
    "getrandom",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::future",
    "std::hash::RandomState",
    "std::collections::hash_map::RandomState",
];

/// Pure code neither waits nor prints.
const SAYS_NOTHING: &[&str] = &["async", "await", "print", "println", "eprint", "eprintln", "dbg"];

/// Every part, the highest first.
const RULES: [Rule; 15] = [
    Rule { room: "main", may: &["cli"], never: WIRE, words: &[] },
    Rule { room: "lib", may: &[], never: &[], words: &[] },
    Rule {
        room: "cli",
        may: &["config", "formats", "server", "telemetry", "proto", "domain::limits"],
        never: &[],
        words: &[],
    },
    Rule {
        room: "server",
        may: &[
            "rpc",
            "engine",
            "store",
            "summarizer",
            "embedder",
            "config",
            "tokenizer",
            "telemetry",
            "domain",
            "proto",
        ],
        never: &[],
        words: &[],
    },
    Rule { room: "config", may: &["tokenizer", "domain"], never: WIRE, words: &[] },
    Rule {
        room: "rpc",
        may: &["engine", "formats", "tokenizer", "telemetry", "domain", "proto"],
        never: &[],
        words: &[],
    },
    Rule { room: "engine", may: &["domain", "telemetry"], never: WIRE, words: &[] },
    Rule { room: "store", may: &["domain", "telemetry"], never: TRANSPORT, words: &[] },
    Rule {
        room: "summarizer",
        may: &["engine::models::llm", "store::BoxFuture", "model_server", "domain"],
        never: GRPC,
        words: &[],
    },
    Rule {
        room: "embedder",
        may: &[
            "engine::models::embedding",
            "engine::models::llm",
            "store::BoxFuture",
            "model_server",
            "domain",
        ],
        never: GRPC,
        words: &[],
    },
    Rule { room: "model_server", may: &["engine::models::llm", "domain"], never: GRPC, words: &[] },
    Rule { room: "telemetry", may: &[], never: WIRE, words: &[] },
    Rule { room: "tokenizer", may: &["domain"], never: WIRE, words: &[] },
    Rule { room: "formats", may: &["domain"], never: IMPURE, words: SAYS_NOTHING },
    Rule { room: "domain", may: &[], never: IMPURE, words: SAYS_NOTHING },
];

/// The public names of the store contract: the part of the store that the engine can use.
pub struct Contract(BTreeSet<String>);

impl Contract {
    /// Reads the public names from the contract's sources.
    pub fn read<'a>(sources: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = BTreeSet::new();
        for source in sources {
            let words: Vec<&str> = source.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            names.extend(words.windows(3).filter_map(|words| match words {
                ["pub", "struct" | "enum" | "trait" | "type", name] => Some((*name).to_owned()),
                _ => None,
            }));
        }
        Self(names)
    }
}

/// The part that a file of `src/` belongs to: `engine` for `engine/lane.rs`.
pub fn room_of(file: &str) -> String {
    let first = file.split('/').next().unwrap_or(file);
    first.trim_end_matches(".rs").to_owned()
}

/// The rule of a part.
pub fn rule(room: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.room == room)
}

/// The floors that `source`, the text of `file` in `src/`, breaks: a line for each.
pub fn violations(file: &str, source: &str, contract: &Contract) -> Vec<String> {
    let room = room_of(file);
    let Some(rule) = rule(&room) else { return vec![format!("src/{file}: {room} has no rule")] };
    let named = paths(source, &module_of(file));
    let broken = named.iter().filter_map(|named| Some((named, rule.breach(named, contract)?)));
    broken
        .map(|(named, why)| format!("src/{file}:{}: {}: {why}", named.line, named.segments.join("::")))
        .collect()
}

/// `engine/lane.rs` is `engine::lane`, `engine/mod.rs` is `engine`.
pub fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").split('/').map(str::to_owned);
    path.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
}

impl Rule {
    /// Why the part must not use what is named.
    fn breach(&self, named: &Named, contract: &Contract) -> Option<String> {
        let segments: Vec<&str> = named.segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["crate", inside @ ..] if named.imported || !inside.is_empty() => self.inside(inside, contract),
            [word] if !named.imported && self.words.contains(word) => {
                Some(format!("{} never says {word}", self.room))
            }
            outside => self.outside(outside, named.imported),
        }
    }

    fn inside(&self, path: &[&str], contract: &Contract) -> Option<String> {
        let starts_with = |may: &&str| path.starts_with(&may.split("::").collect::<Vec<_>>());
        match path {
            [room, ..] if *room == self.room || self.may.iter().any(starts_with) => None,
            ["store", item, ..] if self.room == "engine" && contract.0.contains(*item) => None,
            ["store", ..] if self.room == "engine" => {
                Some("engine uses the store's contract and nothing else of it".to_owned())
            }
            [room, ..] => Some(format!("{} never uses {room}", self.room)),
            [] => Some(format!("{} never uses the whole crate", self.room)),
        }
    }

    fn outside(&self, path: &[&str], imported: bool) -> Option<String> {
        let forbidden = self.never.iter().find(|never| {
            let never: Vec<&str> = never.split("::").collect();
            path.starts_with(&never) || (imported && never.starts_with(path))
        })?;
        Some(format!("{} never uses {forbidden}", self.room))
    }
}
