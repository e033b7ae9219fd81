//! Removes from sessions of Claude Code and Codex what is not read, which is most of a large session.

use serde_json::Value;

use super::{LOOKED_AT, claude_code, codex, detect};
use crate::Format;

/// The program that wrote these lines, if they are of a session of Claude Code or Codex.
pub fn session(lines: &[u8]) -> Option<Format> {
    let lines = lines.split(|byte| *byte == b'\n').take(LOOKED_AT);
    let values: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    detect(&values).filter(|format| matches!(format, Format::ClaudeCode | Format::Codex))
}

/// A line of a session without the parts that are not read. A line that is not JSON stays as it is.
pub fn condensed(line: &[u8], session: Format) -> Vec<u8> {
    let condensed = str::from_utf8(line).ok().and_then(|line| match session {
        Format::ClaudeCode => claude_code::condensed(line),
        _ => codex::condensed(line),
    });
    condensed.map_or_else(|| line.to_vec(), String::into_bytes)
}
