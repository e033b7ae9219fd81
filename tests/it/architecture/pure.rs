//! The pure parts: they take time, ids and token counts as arguments, and neither wait nor print.

use super::{Source, module_of, paths::paths};

const PURE: [&str; 2] = ["domain/", "formats/"];

/// Paths that nothing there names: runtimes, shared state, logs, the wire, clocks, randomness, the machine.
const NEVER: [&str; 26] = [
    "tokio",
    "tokio_stream",
    "futures",
    "dashmap",
    "parking_lot",
    "tracing",
    "tonic",
    "tonic_types",
    "prost",
    "prost_types",
    "http",
    "sled",
    "fjall",
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

const WORDS: [&str; 7] = ["async", "await", "print", "println", "eprint", "eprintln", "dbg"];

/// Every impure path or word of a file, with its line; none if the file is of another part.
pub fn impurities((file, source): &Source) -> Vec<String> {
    // code that exists only for tests can be impure
    if !PURE.iter().any(|part| file.starts_with(part)) || file.ends_with("/tests.rs") {
        return Vec::new();
    }
    let named = paths(source, &module_of(file)).into_iter();
    let impure = named.filter(|named| is_impure(&named.segments, named.imported));
    impure.map(|named| format!("{file}:{}: {}", named.line, named.segments.join("::"))).collect()
}

/// An import of a module can mean what is below it.
fn is_impure(path: &[String], imported: bool) -> bool {
    let is_one = |never: &&str| {
        let never: Vec<&str> = never.split("::").collect();
        path.iter().map(String::as_str).take(never.len()).eq(never.iter().copied())
            || imported && never.iter().take(path.len()).eq(path.iter())
    };
    NEVER.iter().any(is_one) || !imported && matches!(path, [word] if WORDS.contains(&word.as_str()))
}
