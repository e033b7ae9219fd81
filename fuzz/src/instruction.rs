//! Forget instructions: whatever is understood has a short form that means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utterd::domain::{Timestamp, forgetting::parse};

/// 2026-11-22T12:30:15Z.
const NOW: Timestamp = Timestamp(1_795_350_615_000_000);

fuzz_target!(|text: &str| {
    let Ok(asked) = parse(text) else { return };
    let instruction = asked.at(NOW);
    let short = instruction.to_string();
    let again = parse(&short).unwrap_or_else(|error| panic!("{short:?} is refused: {error}"));
    assert_eq!(again.at(NOW), instruction, "{short:?}");
});
