//! Sessions of Codex: the files `~/.codex/sessions/**/rollout-*.jsonl`, one line per event.
//!
//! Utterances are items of OpenAI's Responses API, in lines of the type `response_item`; in older files, the items are
//! the lines themselves. Where turns were rolled back, the session branches.

use serde_json::Value;

use super::{
    BRANCH_OF, Message,
    does::Does,
    elements, foreign, labels, text, time_of,
    tree::{Lines, Path, Tree},
};
use crate::{Parsed, openai_responses, place::Notes};
use utterd_domain::Refusal;

/// What a line is about, whatever the version of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The session's id, and where it took place.
    Session,
    /// Something that was said.
    Item,
    /// What the model was sent from then on, in place of what was said before.
    Snapshot,
    /// Turns were rolled back.
    RolledBack,
    /// Something that was not said.
    Other,
}

/// Reads the lines of one or several sessions. A part that was rolled back is a conversation of its own, with what was
/// said before it.
pub fn conversations(lines: Vec<Value>, notes: &mut Notes) -> Result<Vec<Parsed>, Refusal> {
    let mut sessions: Vec<Session> = Vec::new();
    let is_empty = lines.is_empty();
    for (kind, line) in lines.into_iter().map(line) {
        if sessions.is_empty() && matches!(kind, Kind::Item | Kind::Snapshot) {
            sessions.push(Session::default());
        }
        match (kind, sessions.last_mut()) {
            // A session that continues another one repeats the line about that one.
            (Kind::Session, Some(session)) if !session.said.is_empty() || session.about.is_null() => {
                sessions.push(Session { about: line.value, ..Session::default() });
            }
            (Kind::Session, None) => sessions.push(Session { about: line.value, ..Session::default() }),
            (Kind::Item, Some(session)) => session.add(line),
            (Kind::Snapshot, Some(session)) => session.restore(&line),
            (Kind::RolledBack, Some(session)) => session.roll_back(&line.value),
            _ => {}
        }
    }
    if sessions.is_empty() && !is_empty {
        return Err(foreign("Codex"));
    }
    let mut found = Vec::new();
    for session in sessions {
        session.read(&mut found, notes)?;
    }
    Ok(found)
}

/// A line, or an empty one if it is not read; `None` if it is no JSON. `begun` says whether anything was said before
/// it, and is kept up to date.
pub fn condensed(text: &str, begun: &mut bool) -> Option<String> {
    let (kind, Message { value, .. }) = line(serde_json::from_str(text).ok()?);
    let is_read = match kind {
        Kind::Other => false,
        Kind::Snapshot => !*begun,
        _ => true,
    };
    *begun |= is_said(&value);
    Some(if is_read { text.to_owned() } else { "\n".to_owned() })
}

/// What a line does to the answer before it. The tokens are counted when an answer has ended.
pub fn does(line: Value) -> Does {
    let (kind, Message { value, .. }) = self::line(line);
    let event = value.get("payload").and_then(|payload| text(payload, "type"));
    match (kind, text(&value, "type").unwrap_or_default()) {
        (Kind::Other, _) if matches!(event, Some("token_count" | "task_complete" | "turn_aborted")) => {
            Does::End
        }
        (Kind::Other, _) => Does::Nothing,
        (Kind::Item, "message") if text(&value, "role") == Some("assistant") => Does::Continue(None),
        (Kind::Item, kind) if kind == "reasoning" || kind.ends_with("_call") => Does::Continue(None),
        _ => Does::End,
    }
}

/// What a line is about, and its content.
fn line(mut line: Value) -> (Kind, Message) {
    let time = time_of(&line, "timestamp");
    let (kind, is_item) = match (text(&line, "type"), line.get("payload")) {
        (Some("session_meta"), Some(_)) => (Kind::Session, false),
        (Some("response_item"), Some(item)) => (kind(item), false),
        (Some("compacted"), Some(_)) => (Kind::Snapshot, false),
        (Some("event_msg"), Some(event)) if text(event, "type") == Some("thread_rolled_back") => {
            (Kind::RolledBack, false)
        }
        (None, None) if text(&line, "id").is_some() => (Kind::Session, true),
        (Some(_), None) => (kind(&line), true),
        _ => (Kind::Other, true),
    };
    let value = if is_item { line } else { line["payload"].take() };
    (kind, Message { node: 0, id: None, time, value })
}

/// Snapshots of files are no part of what the model was sent.
fn kind(item: &Value) -> Kind {
    match text(item, "type") {
        Some("ghost_snapshot") | None => Kind::Other,
        Some(_) => Kind::Item,
    }
}

#[derive(Default)]
struct Session {
    about: Value,
    /// Everything that was said, also what was rolled back.
    said: Vec<Message>,
    /// For each of it, what was said before it.
    before: Vec<Option<usize>>,
    /// The positions of what was not rolled back.
    stays: Vec<usize>,
    /// The places in `stays` where the user's turns begin.
    turns: Vec<usize>,
    /// Whether a message of the user or the model was said.
    begun: bool,
    /// The last positions of the branches that turns were rolled back from.
    left: Vec<usize>,
}

impl Session {
    fn add(&mut self, mut line: Message) {
        line.node = self.said.len();
        self.before.push(self.stays.last().copied());
        if begins(&line.value) {
            self.turns.push(self.stays.len());
        }
        self.begun |= is_said(&line.value);
        self.stays.push(line.node);
        self.said.push(line);
    }

    /// Takes from a snapshot what was said, if nothing was said before it: the program can replace a session's lines
    /// with a snapshot of them. Otherwise, the snapshot repeats some of what was said.
    fn restore(&mut self, snapshot: &Message) {
        if self.begun {
            return;
        }
        let summary = text(&snapshot.value, "message");
        let items = elements(&snapshot.value, "replacement_history").iter();
        let said = items.filter(|item| is_said(item) && (summary.is_none() || first_text(item) != summary));
        let line = |item: &Value| Message { value: item.clone(), node: 0, id: None, time: snapshot.time };
        said.for_each(|item| self.add(line(item)));
    }

    fn roll_back(&mut self, event: &Value) {
        let turns = event.get("num_turns").and_then(Value::as_u64).unwrap_or(0);
        let first = self.turns.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
        let (Some(from), Some(last)) = (self.turns.get(first).copied(), self.stays.last()) else { return };
        self.left.push(*last);
        self.turns.truncate(first);
        self.stays.truncate(from);
    }

    /// What was not rolled back, then the branches, which are numbered.
    fn read(self, found: &mut Vec<Parsed>, notes: &mut Notes) -> Result<(), Refusal> {
        let Self { about, said, before, stays, left, .. } = self;
        let own = text(&about, "id");
        let name = own.unwrap_or("session");
        let branch = |path: &Path| Some(path.number + usize::from(stays.is_empty())).filter(|it| *it > 0);
        let lines = Lines {
            provider: &openai_responses::PROVIDER,
            is_said: &|_| true,
            is_alone: &|at| begins(&said[at].value),
            messages: &|nodes| nodes.iter().map(|at| said[*at].clone()).collect(),
            name: &|path, _| {
                branch(path).map_or_else(|| name.to_owned(), |branch| format!("{name}~{branch}"))
            },
            describe: &|parsed, path, _| {
                let branch = branch(path);
                parsed.id = parsed.id.take().filter(|_| own.is_some() || branch.is_some());
                parsed.labels = labels([
                    ("cwd", text(&about, "cwd")),
                    ("git_branch", about.get("git").and_then(|git| text(git, "branch"))),
                    ("forked_from", text(&about, "forked_from_id")),
                    (BRANCH_OF, branch.map(|_| name)),
                ]);
            },
        };
        let tips = stays.last().into_iter().chain(&left).copied().collect();
        Tree { before, tips }.read(&lines, found, notes)
    }
}

/// Whether a turn of the user begins with an item.
fn begins(item: &Value) -> bool {
    text(item, "role") == Some("user") && is_said(item)
}

/// Whether an item is a message of the user or the model, and not what the program tells the model about the machine and
/// the project.
fn is_said(item: &Value) -> bool {
    const MARKS: [&str; 4] =
        ["<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md"];
    let first = first_text(item).unwrap_or_default().trim_start();
    matches!(text(item, "role"), Some("user" | "assistant"))
        && !MARKS.iter().any(|mark| first.starts_with(mark))
}

fn first_text(item: &Value) -> Option<&str> {
    text(item.get("content")?.get(0)?, "text")
}
