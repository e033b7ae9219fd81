//! The pure parts: they take time, ids and token counts as arguments, and neither wait nor print.

use super::{Source, module_of, paths::paths};

/// Of the standard library, what nothing there names: clocks, randomness, the machine. The manifests of the crates keep
/// out the rest.
const NEVER: [&str; 11] = [
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

/// The crates that are pure.
pub const PURE: [&str; 4] = ["domain", "formats", "summary", "text"];

/// Every impure path or word of a file, with its line.
pub fn impurities((file, source): &Source) -> Vec<String> {
    // code that exists only for tests can be impure
    if file.ends_with("tests.rs") {
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
