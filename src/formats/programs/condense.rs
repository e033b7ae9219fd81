//! Sessions of Claude Code and Codex without what is not read of them, which is most of a large one.

use serde_json::Value;

use super::{LOOKED_AT, claude_code, codex, detect};
use crate::formats::Format;

/// The program that wrote these lines, if they are of a session of Claude Code or Codex.
pub fn session(lines: &[u8]) -> Option<Format> {
    let lines = lines.split(|byte| *byte == b'\n').take(LOOKED_AT);
    let values: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    detect(&values).filter(|format| matches!(format, Format::ClaudeCode | Format::Codex))
}

/// A line of a session without what is not read of it. What is no JSON stays as it is.
pub fn condensed(line: &[u8], session: Format) -> Vec<u8> {
    let condensed = str::from_utf8(line).ok().and_then(|line| match session {
        Format::ClaudeCode => claude_code::condensed(line),
        _ => codex::condensed(line),
    });
    condensed.map_or_else(|| line.to_vec(), String::into_bytes)
}
