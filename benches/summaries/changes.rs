//! Whether a summary reports what was changed.

use std::{collections::BTreeMap, sync::Arc};

use utterd::domain::Utterance;

use crate::{
    Kinds, Method,
    actions::{Action, Ended, actions},
    conversations::{Conversation, Cut},
    halves::{NAMES, parts},
    rolled::rolled,
    table::{Table, percent},
};

/// Words for success.
const DONE: &[&str] =
    &[" ok", "✓", "done", "success", "complete", "applied", "sent", "written", "wrote", "made"];
/// Words for failure.
const FAILED: &[&str] =
    &["error", "fail", "not ", "no ", "invalid", "cannot", "denied", "refused", "missing", "exit"];

/// Prints how many changing calls there are, and for how many the summary says what was changed and how it
/// ended.
pub fn print(kinds: &Kinds, rivals: &[Method]) {
    let title = "state-changing calls told, with which and outcome, %";
    let kinds = [("service", &kinds.service), ("coding", &kinds.coding)];
    let ways: [(&str, Way, u32); 4] = [
        ("at once, 300", Conversation::cut_at_once, 300),
        ("at once, 600", Conversation::cut_at_once, 600),
        ("rolling, 300", rolled, 300),
        ("rolling, 1,000", rolled, 1_000),
    ];
    let rivals = rivals.iter().filter(|(name, _)| *name == "the mix" || *name == "LEAD");
    let names = ["calls", "distinct"].into_iter().chain(NAMES).chain(rivals.clone().map(|rival| rival.0));
    let mut table = Table::new(title).columns(names.chain(["to reach"]));
    for (kind, all) in kinds {
        for (way, cuts, limit) in ways {
            let cuts: Vec<Vec<Cut>> = all.iter().map(|one| cuts(one, limit)).collect();
            let parts = parts(&cuts);
            let all = &parts[0];
            let counts =
                [sum(all, |cut| actions(&cut.before).len()), sum(all, |cut| distinct(&cut.before).len())];
            let ours = parts.iter().map(|part| told(part, Cut::summary));
            let theirs = rivals.clone().map(|(_, run)| told(all, |cut| run(&cut.before, limit)));
            let reach = if limit == 300 { "100" } else { "" };
            let row = counts.map(|count| count.to_string()).into_iter().chain(ours).chain(theirs);
            table.row(&format!("{kind}, {way}"), row.chain([reach.to_owned()]));
        }
    }
    table.print();
}

type Way = fn(&Conversation, u32) -> Vec<Cut>;

fn sum(cuts: &[&Vec<Cut>], of: impl Fn(&Cut) -> usize) -> usize {
    cuts.iter().copied().flatten().map(of).sum()
}

/// How many of the changing calls are reported, in percent.
fn told(cuts: &[&Vec<Cut>], summary: impl Fn(&Cut) -> String) -> String {
    let all = sum(cuts, |cut| distinct(&cut.before).len());
    let missing = sum(cuts, |cut| untold(&cut.before, &summary(cut)).len());
    percent((all - missing) as f64, all)
}

/// The changing calls of `source` that a summary does not report; of calls that do the same to the same
/// thing, the last.
pub fn untold(source: &[Arc<Utterance>], summary: &str) -> Vec<Action> {
    let is_told = |action: &Action| summary.lines().any(|line| tells(line, action));
    distinct(source).into_iter().filter(|action| !is_told(action)).collect()
}

fn distinct(source: &[Arc<Utterance>]) -> Vec<Action> {
    let last: BTreeMap<_, _> = actions(source).into_iter().map(|action| (action.key(), action)).collect();
    last.into_values().collect()
}

/// Whether a line says what was done, to which, and how it ended.
fn tells(line: &str, action: &Action) -> bool {
    let lower = line.to_lowercase();
    let acts = || action.acts.iter().any(|act| lower.contains(stem(act)) || is_past(&lower, act));
    let which = || action.which.is_empty() || action.which.iter().any(|which| line.contains(&**which));
    acts() && which() && has_outcome(&lower, action)
}

fn has_outcome(lower: &str, action: &Action) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let arrow = lower.rsplit_once('→').is_some_and(|(_, outcome)| outcome.contains(char::is_alphabetic));
    match action.ended {
        Ended::Failed => says(FAILED),
        Ended::Unanswered => says(FAILED) || says(&["unanswered", "waiting", "open", "pending"]),
        Ended::Well => arrow || says(DONE) || action.acts.iter().any(|act| is_past(lower, act)),
    }
}

fn is_past(lower: &str, act: &str) -> bool {
    let irregular = irregular(act).is_some_and(|past| lower.contains(past));
    irregular || lower.contains(&format!("{}ed", stem(act)))
}

/// The common prefix of its forms.
fn stem(act: &str) -> &str {
    act.strip_suffix('e').unwrap_or(act)
}

fn irregular(act: &str) -> Option<&'static str> {
    Some(match act {
        "write" => "wrote",
        "send" => "sent",
        "pay" => "paid",
        "buy" => "bought",
        "rm" => "removed",
        "mv" => "moved",
        "cp" => "copied",
        "cancel" => "cancelled",
        "commit" => "committed",
        "submit" => "submitted",
        _ => return None,
    })
}
