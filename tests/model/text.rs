//! The texts: every utterance contains its own marker word, so that text that appears where it must not can
//! be traced to its utterance. Also OpenAI's own token counts.

use std::{cell::RefCell, collections::BTreeSet, collections::HashMap};

/// Words that `about:` looks for; no sentence contains them in another form.
pub const TOPICS: [&str; 3] = ["invoice", "deploy", "backup"];
/// Names of speakers; the last two differ by case only.
pub const NAMES: [&str; 3] = ["Ann", "Bob", "bob"];
/// Tools.
pub const TOOLS: [&str; 2] = ["find_order", "run_shell"];
/// Ids of calls: few, so that they recur.
pub const CALLS: [&str; 3] = ["c1", "c2", "c3"];

/// The marker word of this number.
pub fn marker(number: u32) -> String {
    format!("m{number:05}z")
}

/// The numbers of all markers in `bytes`, whether text or an encoded message.
pub fn markers(bytes: &[u8]) -> BTreeSet<u32> {
    let is_marker = |word: &&[u8]| {
        word[0] == b'm' && word[6] == b'z' && word[1..6].iter().all(|byte| byte.is_ascii_digit())
    };
    let number = |word: &[u8]| word[1..6].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    bytes.windows(7).filter(is_marker).map(number).collect()
}

/// The marker that comes first in `text`.
pub fn first_marker(text: &str) -> Option<u32> {
    text.as_bytes().windows(7).find_map(|word| markers(word).first().copied())
}

/// One of several contents around a marker: long and short, with parts that a summary keeps and drops. The
/// marker precedes a topic, so a sentence that is clipped after the topic still has it.
pub fn content(kind: u8, marker: &str) -> String {
    let steps = |count: usize| -> String {
        (1..=count).map(|step| format!("Step {step} of {marker} moves the backup to host{step}. ")).collect()
    };
    match kind % 7 {
        0 => format!("For {marker} please fix the deploy before Friday."),
        1 => format!("ok {marker}"),
        2 => {
            format!(
                "On {marker} the invoice failed with error 502 at src/pay.rs. We decided to retry. Thanks!"
            )
        }
        3 => format!("Is {marker} ready?"),
        4 => steps(4),
        5 => format!("Bonjour {marker} ! Ça va ?\n日本語のメモ {marker}。"),
        _ => steps(12),
    }
}

/// One of several tool results around a marker.
pub fn result(kind: u8, marker: &str) -> String {
    match kind % 5 {
        0 => format!("{marker}: 42 rows"),
        1 => format!("Error: no such order {marker}"),
        2 => String::new(),
        3 => format!("{{\"error\": \"timeout of {marker}\"}}"),
        _ => (1..=9).map(|line| format!("row {line} of {marker}\n")).collect(),
    }
}

thread_local! {
    static COUNTED: RefCell<HashMap<(String, String), i32>> = RefCell::default();
}

/// The tokens of `text` in an encoding, by OpenAI's own algorithm.
pub fn tokens(encoding: &str, text: &str) -> i32 {
    let key = (encoding.to_owned(), text.to_owned());
    if let Some(count) = COUNTED.with_borrow(|counted| counted.get(&key).copied()) {
        return count;
    }
    let oracle = match encoding {
        "o200k_base" => tiktoken_rs::o200k_base_singleton(),
        "cl100k_base" => tiktoken_rs::cl100k_base_singleton(),
        other => panic!("no oracle for {other}"),
    };
    let count = oracle.encode_ordinary(text).len() as i32;
    COUNTED.with_borrow_mut(|counted| {
        if counted.len() > 10_000 {
            counted.clear();
        }
        counted.insert(key, count)
    });
    count
}
