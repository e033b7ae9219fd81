//! The layers: what each part of the library can use of the others.

use super::{Source, module_of, paths::paths};

/// Each part, and the parts that it can use besides itself; `proto` has the generated code.
const FLOORS: [(&str, &[&str]); 14] = [
    ("main", &["cli"]),
    ("cli", &["config", "formats", "server", "telemetry", "proto", "domain"]),
    (
        "server",
        &[
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
    ),
    ("rpc", &["engine", "formats", "domain", "tokenizer", "telemetry", "proto"]),
    ("summarizer", &["engine", "store", "domain", "model_server"]),
    ("embedder", &["engine", "store", "domain", "model_server"]),
    ("model_server", &["engine", "domain"]),
    ("engine", &["store", "domain", "telemetry"]),
    ("store", &["domain", "telemetry", "store_conformance"]),
    ("config", &["tokenizer", "domain"]),
    ("formats", &["domain"]),
    ("tokenizer", &["domain"]),
    ("telemetry", &[]),
    ("domain", &[]),
];

/// Every path of a file to a part that its own cannot use, with its line.
pub fn broken((file, source): &Source) -> Vec<String> {
    let module = module_of(file);
    let own = module.first().map_or("main", String::as_str);
    let Some((_, may)) = FLOORS.iter().find(|(part, _)| *part == own) else { return Vec::new() };
    let named = paths(source, &module).into_iter();
    let broken = named.filter(|named| match &*named.segments {
        [root, part, ..] if root == "crate" => part != own && is_part(part) && !may.contains(&part.as_str()),
        _ => false,
    });
    broken.map(|named| format!("{file}:{}: {}", named.line, named.segments.join("::"))).collect()
}

fn is_part(name: &str) -> bool {
    name == "proto" || FLOORS.iter().any(|(part, _)| *part == name)
}
