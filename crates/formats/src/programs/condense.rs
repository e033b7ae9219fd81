//! Removes from sessions of coding agents what is not read, which is most of a large session.

use serde_json::Value;

use super::{LOOKED_AT, claude_code, codex, detect, pi};
use crate::Format;

/// The program that wrote these lines, if they are of a session.
pub fn session(lines: &[u8]) -> Option<Format> {
    let lines = lines.split(|byte| *byte == b'\n').take(LOOKED_AT);
    let values: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    detect(&values).filter(|format| format.is_session())
}

/// Removes from the lines of a session, in order, what is not read.
pub struct Condenser {
    session: Format,
    /// Whether anything was said so far.
    begun: bool,
}

impl Condenser {
    /// For the session that begins with these lines, if they are of one.
    pub fn of(lines: &[u8]) -> Option<Self> {
        Some(Self { session: session(lines)?, begun: false })
    }

    /// The next line without the parts that are not read. It stays a line, so that the later ones keep their numbers; one
    /// that is not JSON stays as it is.
    pub fn line(&mut self, line: &[u8]) -> Vec<u8> {
        let condensed = str::from_utf8(line).ok().and_then(|line| match self.session {
            Format::ClaudeCode => claude_code::condensed(line),
            Format::Pi => pi::condensed(line),
            _ => codex::condensed(line, &mut self.begun),
        });
        condensed.map_or_else(|| line.to_vec(), String::into_bytes)
    }
}
