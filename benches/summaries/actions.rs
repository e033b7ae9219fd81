//! Finds the tool calls that change something, and how each ended, by the verbs in tool names and by shell
//! commands.

use std::sync::Arc;

use serde_json::Value;
use utterd::domain::{Role, ToolCall, Utterance};

use crate::shell;

const CHANGING: &[&str] = &[
    "add", "apply", "approve", "archive", "assign", "book", "buy", "cancel", "change", "close", "commit",
    "create", "delete", "deploy", "edit", "exchange", "insert", "install", "merge", "modify", "move",
    "order", "pay", "post", "publish", "purchase", "push", "refund", "remove", "rename", "replace",
    "reserve", "return", "save", "schedule", "send", "set", "submit", "transfer", "undo", "update", "upload",
    "write",
];
const READING: &[&str] = &[
    "calculate",
    "check",
    "count",
    "fetch",
    "find",
    "get",
    "glob",
    "grep",
    "list",
    "look",
    "open",
    "query",
    "read",
    "search",
    "show",
    "think",
    "todo",
    "view",
];
const SHELLS: &[&str] = &["bash", "execute_bash", "execute_command", "run_command", "shell", "terminal"];
/// The ids of who asks and who pays do not identify what is changed.
const OF_OTHERS: &[&str] = &["user_id", "payment_id", "session_id", "request_id"];
/// Longer texts are contents, not locations; shorter ones are flags. In bytes.
const WHICH_BYTES: std::ops::RangeInclusive<usize> = 3..=80;

/// A call that changes something.
pub struct Action {
    /// Words for what it does; any of them counts.
    pub acts: Vec<String>,
    /// Words that identify the thing it was done to; any of them counts. Empty if its arguments are only
    /// texts.
    pub which: Vec<String>,
    pub ended: Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Well,
    Failed,
    Unanswered,
}

impl Action {
    /// The same for calls that do the same to the same thing.
    pub fn key(&self) -> (String, String) {
        (self.acts[0].clone(), self.which.first().cloned().unwrap_or_default())
    }
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {:?}", self.acts.join(", "), self.which.join(", "), self.ended)
    }
}

/// The calls of `source` that change something, in order. Where nearly all results tell an exit code, a call whose result
/// has none was turned away before it was made.
pub fn actions(source: &[Arc<Utterance>]) -> Vec<Action> {
    let mut found = Vec::new();
    let answers = || source.iter().filter(|said| said.role == Role::Tool);
    let coded = |result: &Arc<Utterance>| result.content.contains("<returncode>");
    let is_coded = answers().filter(|result| coded(result)).count() * 5 >= answers().count() * 4;
    for (at, utterance) in source.iter().enumerate() {
        let results = source[at + 1..].iter().take_while(|next| next.role == Role::Tool);
        for call in utterance.tool_calls() {
            let of_call = |result: &&Arc<Utterance>| result.tool_call_id() == Some(&*call.id);
            let result = results.clone().find(of_call);
            if result.is_some_and(|result| is_coded && !coded(result)) {
                continue;
            }
            let ended = result.map_or(Ended::Unanswered, |result| ended(&result.content));
            found.extend(action(call, ended));
        }
    }
    found
}

fn action(call: &ToolCall, ended: Ended) -> Option<Action> {
    let arguments: Value = serde_json::from_str(&call.arguments_json).unwrap_or_default();
    let command = arguments["command"].as_str();
    let name = call.name.to_lowercase();
    if let Some(line) = command.filter(|_| SHELLS.contains(&&*name)) {
        let commands = shell::changing(line);
        let acts: Vec<String> = commands.iter().map(|command| command.act.clone()).collect();
        let which = commands.into_iter().flat_map(|command| command.which).collect();
        return (!acts.is_empty()).then_some(Action { acts, which, ended });
    }
    let said = command.filter(|_| name.contains("edit")).unwrap_or(&call.name);
    let words = words(said);
    let reads = words.first().is_some_and(|word| READING.contains(&&**word));
    let acts: Vec<String> = words.into_iter().filter(|word| CHANGING.contains(&&**word)).collect();
    (!reads && !acts.is_empty()).then(|| Action { acts, which: which(&arguments), ended })
}

/// `cancel_reservation`, `cancelReservation` and `Cancel-Reservation` are the same two words.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            spaced.push(' ');
        }
        spaced.extend(c.to_lowercase());
    }
    spaced.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Ids except those of who asks and who pays; otherwise paths; otherwise anything short.
fn which(arguments: &Value) -> Vec<String> {
    let fields = arguments.as_object().into_iter().flatten();
    let texts: Vec<(&str, String)> =
        fields.filter_map(|(key, value)| Some((&**key, short(value)?))).collect();
    let of = |wanted: fn(&str) -> bool| -> Vec<String> {
        texts.iter().filter(|(key, _)| wanted(key)).map(|(_, value)| value.clone()).collect()
    };
    let ids = of(|key| (key == "id" || key.ends_with("_id")) && !OF_OTHERS.contains(&key));
    let paths = of(|key| key.contains("path") || key.contains("file"));
    let paths = paths.iter().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()).collect();
    [ids, paths].into_iter().find(|found: &Vec<String>| !found.is_empty()).unwrap_or_else(|| of(|_| true))
}

fn short(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::to_owned).or_else(|| value.as_number().map(ToString::to_string))?;
    WHICH_BYTES.contains(&text.len()).then_some(text)
}

fn ended(result: &str) -> Ended {
    let head: String = result.chars().take(120).collect::<String>().to_lowercase();
    let failed = ["error", "exit code 1", "failed", "not found", "no such file", "could not"];
    if failed.iter().any(|word| head.contains(word)) { Ended::Failed } else { Ended::Well }
}
