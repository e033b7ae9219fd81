//! Words and lines for people.

use std::{fmt::Display, ops::RangeInclusive};

use prost_types::Timestamp;
use tokio::time::Instant;

use utterd_domain::{Ranges, Sequence};
use utterd_rpc::proto::{Role, SequenceRange, ToolCall, Utterance, UtteranceRef};

pub use utterd_telemetry::terminal::{count, counted};

/// A number of bytes, `12.30 MiB`.
pub fn bytes(number: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"].into_iter().enumerate();
    let shown = |(power, unit)| format!("{:.2} {unit}", number as f64 / 1024_f64.powi(power as i32 + 1));
    let fits = |(power, _): &(usize, &str)| number >= 1 << (10 * (power + 1));
    units.take_while(fits).last().map_or_else(|| format!("{number} B"), shown)
}

/// The time since then, `1.2 s`.
pub fn seconds(since: Instant) -> String {
    format!("{:.1} s", since.elapsed().as_secs_f64())
}

/// `2026-11-23 15:20`: a time in UTC, to the minute.
pub fn minute(time: &Timestamp) -> String {
    time.to_string().replace('T', " ").chars().take("2026-11-23 15:20".len()).collect()
}

/// An enum's value as words: `CONVERSATION_STATUS_AWAITING_ANSWER` is `awaiting answer` without
/// its prefix.
pub fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_lowercase().replace('_', " ")
}

/// A role as a word.
pub fn role(role: Role) -> String {
    word(role.as_str_name(), "ROLE_")
}

/// The speaker's role, and name if there is one.
pub fn speaker(utterance: &Utterance) -> String {
    let role = role(utterance.role());
    if utterance.name.is_empty() { role } else { format!("{role} {}", folded(&utterance.name)) }
}

/// Text on one line: line ends become `⏎`, and tabs spaces.
pub fn folded(text: &str) -> String {
    text.trim_end().replace("\r\n", "⏎").replace('\n', "⏎").replace('\t', " ")
}

/// A tool call as `→ name(arguments)`.
fn call(call: &ToolCall) -> String {
    format!("→ {}({})", call.name, call.arguments_json)
}

/// What an utterance says: its content (a tool's result as `← …`), then each call.
pub fn said(utterance: &Utterance) -> Vec<String> {
    let content = utterance.content.trim_end();
    let mut lines = match utterance.role() {
        Role::Tool => vec![format!("← {content}")],
        _ if content.is_empty() && !utterance.tool_calls.is_empty() => Vec::new(),
        _ => vec![content.to_owned()],
    };
    lines.extend(utterance.tool_calls.iter().map(call));
    lines
}

/// `line`, cut to `width` columns.
pub fn clipped(line: &str, width: usize) -> String {
    console::truncate_str(line, width, "…").into_owned()
}

/// The sequences of `references` as ranges: `1–5, 8`.
pub fn sequences(references: &[UtteranceRef]) -> String {
    let sequences = references.iter().filter_map(|reference| u64::try_from(reference.sequence).ok());
    let ranges: Ranges = sequences.map(Sequence).collect();
    join(ranges.iter())
}

/// Ranges as `1–5, 8`.
pub fn ranges(ranges: &[SequenceRange]) -> String {
    join(ranges.iter().map(|range| range.first..=range.last))
}

fn join<T: Display + PartialEq>(ranges: impl Iterator<Item = RangeInclusive<T>>) -> String {
    let one = |range: RangeInclusive<T>| match (range.start(), range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}–{last}"),
    };
    ranges.map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_join_into_ranges() {
        let reference = |sequence| UtteranceRef { sequence, ..Default::default() };
        assert_eq!(sequences(&[1, 2, 3, 5, 7, 8].map(reference)), "1–3, 5, 7–8");
        assert_eq!(sequences(&[]), "");
    }

    #[test]
    fn a_text_is_folded_into_one_line() {
        assert_eq!(folded("a\r\nb\tc\n"), "a⏎b c");
    }

    #[test]
    fn an_assistant_shows_its_calls() {
        let call = ToolCall { id: "c".into(), name: "f".into(), arguments_json: "{\n}".into() };
        let utterance =
            Utterance { role: Role::Assistant.into(), tool_calls: vec![call], ..Default::default() };
        assert_eq!(said(&utterance), ["→ f({\n})"]);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([9, 1_023, 1_024, 16 << 20].map(bytes), ["9 B", "1023 B", "1.00 KiB", "16.00 MiB"]);
    }
}
