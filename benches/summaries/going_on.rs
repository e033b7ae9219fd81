//! Whether an agent could go on from a summary: the goal, the constraints, what was done, the last check and error,
//! what is open, and how much of it nobody needs.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use utterd::domain::{Role, Utterance};

use crate::{
    Method,
    actions::actions,
    changes::untold,
    conversations::{Conversation, Cut, transcripts},
    entities::{content_words, entities},
    halves::{NAMES, parts},
    kept::mean,
    table::Table,
    tokens,
};

/// The transcripts, by file.
const FILES: [&str; 7] =
    ["tau-airline", "sgd", "pi-coding", "mini-swe", "swe-agent", "openhands", "claude-code"];
/// How the columns are called, in order.
const COLUMNS: [&str; 9] =
    ["needed", "words", "done", "goal", "constraints", "check", "error", "open", "noise"];
/// The most constraints of a conversation; the newest count.
const MOST_CONSTRAINTS: usize = 25;
/// A sentence is told if a line, or for what is open the summary, has this share of its words.
const TOLD: f64 = 0.6;
/// Words by which a user restricts what may be done.
const CONSTRAINTS: [&str; 18] = [
    "don't",
    "do not",
    "never",
    "must",
    "only",
    "prefer",
    "instead",
    "rather",
    " not ",
    "no ",
    "without",
    "avoid",
    "keep",
    "make sure",
    "always",
    "should",
    "dont",
    "shouldn't",
];
/// What a check's command contains.
const CHECKS: [&str; 16] = [
    "pytest",
    "tox",
    "runtests",
    "npm run check",
    "npm test",
    "npm run test",
    "npm run build",
    "npx tsc",
    "npx tsgo",
    "vitest",
    "cargo test",
    "cargo build",
    "cargo clippy",
    "go test",
    "unittest",
    "manage.py test",
];
/// Marks of failure in a result of a command.
const FAILURES: [&str; 10] = [
    "Traceback",
    "error TS",
    "npm error",
    "command not found",
    "No such file or directory",
    "FAILED",
    "Command aborted",
    "make: ***",
    "exited with code 1",
    "<returncode>1",
];

/// Prints, for each file, the shares that a summary keeps, in percent.
pub fn print(rivals: &[Method]) {
    for limit in [300, 1_000] {
        let mut table = Table::new(&format!("kept to go on from, at {limit}, %")).columns(COLUMNS);
        for file in FILES {
            let all = transcripts(&[file]);
            let template = template(&all);
            let cuts: Vec<Vec<Cut>> =
                all.iter().map(|one| one.cut_at_once(limit)).filter(|cuts| !cuts.is_empty()).collect();
            let ours = scores(&cuts, &template, Cut::summary);
            let [this, halves @ ..] = parts(&ours).map(row);
            table.row(&format!("{file} ({})", cuts.len()), this);
            halves
                .into_iter()
                .zip(&NAMES[1..])
                .for_each(|(half, name)| table.row(&format!("  {name}"), half));
            for (name, run) in rivals.iter().filter(|(name, _)| *name == "the mix" || *name == "LEAD") {
                let theirs = scores(&cuts, &template, |cut| run(&cut.before, limit));
                table.row(&format!("  {name}"), row(&theirs));
            }
        }
        table.print();
    }
}

/// The shares of one summary, by column; `None` if there was nothing to tell.
type Scores = [Option<f64>; COLUMNS.len()];

/// The shares of each cut of each conversation.
fn scores(
    cuts: &[Vec<Cut>],
    template: &HashSet<String>,
    summary: impl Fn(&Cut) -> String,
) -> Vec<Vec<Scores>> {
    let of = |cuts: &Vec<Cut>| cuts.iter().map(|cut| scores_of(cut, template, &summary(cut))).collect();
    cuts.iter().map(of).collect()
}

fn row<'a>(scores: impl IntoIterator<Item = &'a Vec<Scores>>) -> [String; COLUMNS.len()] {
    let scores: Vec<&Scores> = scores.into_iter().flatten().collect();
    std::array::from_fn(|at| {
        let share = mean(scores.iter().filter_map(|scores| scores[at]));
        share.map_or("–".to_owned(), |share| format!("{:.0}", 100.0 * share))
    })
}

fn scores_of(cut: &Cut, template: &HashSet<String>, summary: &str) -> Scores {
    let told = content_words(summary);
    let users: Vec<&str> = of_role(&cut.before, Role::User);
    let own: Vec<String> = users.iter().map(|said| own(said, template)).collect();
    let words: HashSet<String> = own.iter().flat_map(|said| content_words(said)).collect();
    let made = actions(&cut.before);
    let distinct: HashSet<_> = made.iter().map(|action| action.key()).collect();
    let missing = untold(&cut.before, summary).len();
    let constraints = constraints(&own);
    let open = open(&cut.before);
    [
        needed(cut, summary),
        share(words.iter().map(|word| told.contains(word))),
        (!distinct.is_empty()).then(|| 1.0 - missing as f64 / distinct.len() as f64),
        users
            .iter()
            .find(|said| !said.lines().next().unwrap_or_default().contains("demonstration"))
            .and_then(|first| share(content_words(&goal(first)).iter().map(|word| told.contains(word)))),
        share(constraints.iter().map(|said| summary.lines().any(|line| tells(&content_words(line), said)))),
        check(&cut.before)
            .map(|(command, failed)| f64::from(u8::from(tells_check(summary, &command, failed)))),
        error(&cut.before).map(|line| f64::from(u8::from(tells(&told, &line)))),
        share(open.iter().map(|said| tells(&told, said))),
        noise(cut, summary),
    ]
}

/// Of the entities before the cut, those that later arguments name.
fn needed(cut: &Cut, summary: &str) -> Option<f64> {
    let of = |source: &[Arc<Utterance>]| -> HashSet<String> {
        let arguments =
            source.iter().flat_map(|said| said.tool_calls().iter().map(|call| &*call.arguments_json));
        arguments.flat_map(|text| entities(text).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let before: HashSet<&str> = cut
        .before
        .iter()
        .flat_map(|said| {
            let arguments = said.tool_calls().iter().map(|call| &*call.arguments_json);
            arguments.chain([&*said.content]).flat_map(entities).collect::<Vec<_>>()
        })
        .collect();
    let root = summary.lines().find_map(|line| line.strip_prefix("Root: ")).map(|root| format!("{root}/"));
    let has = |entity: &str| {
        summary.contains(entity)
            || root
                .as_deref()
                .and_then(|root| entity.strip_prefix(root))
                .is_some_and(|rest| summary.contains(rest))
    };
    share(of(&cut.after).iter().filter(|entity| before.contains(entity.as_str())).map(|entity| has(entity)))
}

/// The lines of users' messages that at least three conversations with different goals have: a program wrote them.
fn template(all: &[Conversation]) -> HashSet<String> {
    let mut goals: HashMap<&str, HashSet<String>> = HashMap::new();
    for conversation in all {
        let users = of_role(&conversation.0, Role::User);
        let goal = users.first().map(|first| goal(first)).unwrap_or_default();
        for line in users.iter().flat_map(|said| said.lines()).map(str::trim).filter(|line| line.len() > 12) {
            goals.entry(line).or_default().insert(goal.clone());
        }
    }
    goals.into_iter().filter(|(_, goals)| goals.len() >= 3).map(|(line, _)| line.to_owned()).collect()
}

/// What a message says without the lines of a template.
fn own(said: &str, template: &HashSet<String>) -> String {
    said.lines().filter(|line| !template.contains(line.trim())).collect::<Vec<_>>().join("\n")
}

/// What the conversation is for: the title of an issue, or the first two sentences.
fn goal(first: &str) -> String {
    const MARKS: [&str; 4] = ["PR description:", "ISSUE:", "<issue_description>", "The description is:"];
    let marked = MARKS.iter().find_map(|mark| first.split_once(mark)).map(|(_, rest)| rest.trim_start());
    match marked {
        Some(issue) => issue.lines().next().unwrap_or_default().to_owned(),
        None => sentences(first)
            .into_iter()
            .filter(|said| content_words(said).len() > 1)
            .take(2)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn constraints(users: &[String]) -> Vec<String> {
    let restricts = |said: &String| {
        let lower = said.to_lowercase();
        CONSTRAINTS.iter().any(|cue| lower.contains(cue)) && content_words(said).len() > 1
    };
    let mut found: Vec<String> = users.iter().flat_map(|said| sentences(said)).filter(restricts).collect();
    found.drain(..found.len().saturating_sub(MOST_CONSTRAINTS));
    found
}

/// The last test or build, and whether it failed.
fn check(source: &[Arc<Utterance>]) -> Option<(String, bool)> {
    let calls = results(source).into_iter().rev();
    let is_check =
        |command: &str| CHECKS.iter().any(|check| command.contains(check)) && !command.starts_with("grep");
    { calls }.find(|(command, _)| is_check(command)).map(|(command, result)| (command, fails(&result)))
}

fn tells_check(summary: &str, command: &str, failed: bool) -> bool {
    let word =
        CHECKS.iter().find(|check| command.contains(**check)).and_then(|check| check.split(' ').next_back());
    let line =
        summary.lines().rfind(|line| word.is_some_and(|word| line.contains(word)) && line.contains('→'));
    line.is_some_and(|line| {
        let bad = ["→ error", "→ failed", "FAILED", "failed"].iter().any(|mark| line.contains(mark))
            && !line.contains("→ ok");
        bad == failed
    })
}

/// The line of the last failed command that says what went wrong.
fn error(source: &[Arc<Utterance>]) -> Option<String> {
    let (_, result) = results(source).into_iter().rev().find(|(_, result)| fails(result))?;
    let mut lines = result.lines().map(str::trim).filter(|line| !line.is_empty());
    let names = |line: &&str| line.contains("Error") || line.contains("error");
    lines.clone().rfind(names).or_else(|| lines.next_back()).map(|line| line.chars().take(300).collect())
}

/// The commands of shells and their results.
fn results(source: &[Arc<Utterance>]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, said) in source.iter().enumerate() {
        for call in said.tool_calls() {
            let arguments: serde_json::Value = serde_json::from_str(&call.arguments_json).unwrap_or_default();
            let Some(command) = arguments["command"].as_str() else { continue };
            let of_call = |next: &&Arc<Utterance>| next.tool_call_id() == Some(&*call.id);
            let result = source[at + 1..].iter().take_while(|next| next.role == Role::Tool).find(of_call);
            found.extend(result.map(|result| (command.to_owned(), result.content.to_string())));
        }
    }
    found
}

fn fails(result: &str) -> bool {
    FAILURES.iter().any(|mark| result.contains(mark))
}

/// A request without an answer, a question at the end, and what the last messages say is left to do.
fn open(source: &[Arc<Utterance>]) -> Vec<String> {
    let spoken: Vec<&Arc<Utterance>> =
        source.iter().filter(|said| said.role != Role::Tool && !said.content.is_empty()).collect();
    let mut found = Vec::new();
    let answers = |said: &&&Arc<Utterance>| said.role == Role::Assistant && said.tool_calls().is_empty();
    match spoken.iter().rposition(|said| said.role == Role::User) {
        Some(user) if user > 0 && !spoken[user + 1..].iter().any(|said| answers(&said)) => {
            let said = sentences(&spoken[user].content);
            found.extend(said[said.len().saturating_sub(2)..].to_vec());
        }
        _ => {}
    }
    if let Some(last) = spoken.last().filter(|last| last.role == Role::Assistant) {
        let asks = |said: &String| said.ends_with('?') && content_words(said).len() > 2;
        found.extend(sentences(&last.content).into_iter().rfind(asks));
    }
    for said in spoken.iter().rev().take(40).filter(|said| said.role == Role::Assistant) {
        let left = |said: &String| {
            ["TODO", "still need", "remaining", "left to do", "not yet"].iter().any(|cue| said.contains(cue))
        };
        found.extend(sentences(&said.content).into_iter().filter(left).take(1));
    }
    found.truncate(4);
    found
}

/// The share of a summary's tokens in items that no user said and that nothing later uses.
fn noise(cut: &Cut, summary: &str) -> Option<f64> {
    let later: Vec<&str> = cut
        .after
        .iter()
        .filter(|said| said.role != Role::Tool)
        .flat_map(|said| said.tool_calls().iter().map(|call| &*call.arguments_json).chain([&*said.content]))
        .collect();
    let named: HashSet<&str> = later.iter().flat_map(|text| entities(text)).collect();
    let users = of_role(&cut.before, Role::User);
    let words: HashSet<String> = later.iter().chain(&users).flat_map(|text| content_words(text)).collect();
    let (mut all, mut unused) = (0, 0);
    for item in summary.lines().flat_map(items) {
        let own = content_words(item);
        let known = own.iter().filter(|word| words.contains(*word)).count();
        let is_used = entities(item).iter().any(|entity| named.contains(entity))
            || !own.is_empty() && known * 2 >= own.len();
        let size = tokens(item);
        (all, unused) = (all + size, unused + if is_used { 0 } else { size });
    }
    (all > 0).then(|| f64::from(unused) / f64::from(all))
}

/// The parts of a line between semicolons; of a list of names, each name.
fn items(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| !entities(word).is_empty();
    line.split("; ").filter(|item| !item.trim().is_empty()).flat_map(move |item| {
        let words: Vec<&str> = item.split(' ').collect();
        match words.iter().filter(|word| is_name(word)).count() * 4 >= words.len() * 3 {
            true => words,
            false => vec![item],
        }
    })
}

fn of_role(source: &[Arc<Utterance>], role: Role) -> Vec<&str> {
    source
        .iter()
        .filter(|said| said.role == role && !said.content.is_empty())
        .map(|said| &*said.content)
        .collect()
}

/// Sentences of three to forty words, without code.
fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, prose) in text.split("```").enumerate() {
        if at % 2 == 1 {
            continue;
        }
        for line in prose.lines() {
            for said in line.split_inclusive(['.', '!', '?']).map(str::trim) {
                let plain = said.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
                let is_prose = plain * 5 > said.chars().count() * 4;
                if is_prose && (3..=40).contains(&said.split(' ').count()) {
                    found.push(said.to_owned());
                }
            }
        }
    }
    found
}

fn tells(told: &HashSet<String>, said: &str) -> bool {
    share(content_words(said).iter().map(|word| told.contains(word))).is_none_or(|share| share >= TOLD)
}

fn share(kept: impl Iterator<Item = bool>) -> Option<f64> {
    let kept: Vec<bool> = kept.collect();
    (!kept.is_empty()).then(|| kept.iter().filter(|kept| **kept).count() as f64 / kept.len() as f64)
}
