//! The shares of entities and words that a summary keeps.

use std::{collections::HashSet, hash::Hash, sync::Arc};

use utterd::domain::{Role, Utterance};

use crate::{
    Kinds, Method,
    conversations::{Conversation, Cut},
    entities::{content_words, entities},
    halves::{NAMES, parts},
    rolled::rolled,
    table::Table,
    tokens,
};

/// Prints how much is kept of what precedes a cut.
pub fn print_at_once(kinds: &Kinds, rivals: &[Method]) {
    let title = "at once: needed again / the user's words, %; tokens used";
    let reach = ["≥ 95 / 92", "≥ 99 / 97", "≥ 70 / 70", "≥ 88 / 85"];
    print(title, kinds, rivals, [300, 600], Conversation::cut_at_once, reach);
}

/// Prints how much is kept of what left the window.
pub fn print_rolling(kinds: &Kinds, rivals: &[Method]) {
    let title = "rolling: needed again / the user's words, %; tokens used";
    let reach = ["≥ 92", "≥ 98", "≥ 40", "≥ 74"];
    print(title, kinds, rivals, [300, 1_000], rolled, reach);
}

fn print(
    title: &str,
    kinds: &Kinds,
    rivals: &[Method],
    limits: [u32; 2],
    cuts: fn(&Conversation, u32) -> Vec<Cut>,
    reach: [&str; 4],
) {
    let kinds = [("service", &kinds.service), ("coding", &kinds.coding)];
    let cells = kinds.into_iter().flat_map(|(name, all)| limits.map(|limit| (name, all, limit)));
    let columns: Vec<(String, Vec<Cell>)> = cells
        .map(|(name, all, limit)| {
            let cuts: Vec<Vec<Cut>> =
                all.iter().map(|one| cuts(one, limit)).filter(|cuts| !cuts.is_empty()).collect();
            (format!("{name} ({}) {limit}", cuts.len()), column(&cuts, limit, rivals))
        })
        .collect();
    let mut table = Table::new(title).columns(columns.iter().map(|(name, _)| &**name));
    let names = NAMES.into_iter().chain(rivals.iter().map(|rival| rival.0));
    for (row, name) in names.enumerate() {
        table.row(name, columns.iter().map(|(_, cells)| cells[row].to_string()));
    }
    table.row("to reach", reach.map(|shares| format!("{shares:<14}")));
    table.print();
}

/// This summariser, over all cuts and over those of each half of the conversations; then each rival.
fn column(cuts: &[Vec<Cut>], limit: u32, rivals: &[Method]) -> Vec<Cell> {
    let ours = parts(cuts).map(|part| Cell::of(part, Cut::summary));
    let theirs = rivals.iter().map(|(_, run)| Cell::of(cuts, |cut| run(&cut.before, limit)));
    ours.into_iter().chain(theirs).collect()
}

/// What summaries keep, on average; `None` if there was nothing to keep.
struct Cell {
    needed: Option<f64>,
    words: Option<f64>,
    tokens: Option<f64>,
}

impl Cell {
    fn of<'a>(cuts: impl IntoIterator<Item = &'a Vec<Cut>>, summary: impl Fn(&Cut) -> String) -> Self {
        let of_cuts = |cuts: &Vec<Cut>| -> Vec<Self> {
            cuts.iter().map(|cut| Self::of_cut(cut, &summary(cut))).collect()
        };
        let conversations: Vec<Self> = cuts.into_iter().map(|cuts| Self::mean(&of_cuts(cuts))).collect();
        Self::mean(&conversations)
    }

    fn mean(cells: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> Option<f64>| mean(cells.iter().filter_map(of));
        Self {
            needed: mean(|cell| cell.needed),
            words: mean(|cell| cell.words),
            tokens: mean(|cell| cell.tokens),
        }
    }

    fn of_cut(cut: &Cut, summary: &str) -> Self {
        let told = entities(summary);
        let results = cut.before.iter().filter(|utterance| utterance.role == Role::Tool);
        let mut known = of_said(&cut.before);
        results.for_each(|result| known.extend(entities(&result.content)));
        let needed: HashSet<&str> = of_said(&cut.after).intersection(&known).copied().collect();
        let users = cut.before.iter().filter(|utterance| utterance.role == Role::User);
        let words: HashSet<String> = users.flat_map(|utterance| content_words(&utterance.content)).collect();
        Self {
            needed: share(&needed, &told),
            words: share(&words, &content_words(summary)),
            tokens: Some(tokens(summary).into()),
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |share: Option<f64>| 100.0 * share.unwrap_or_default();
        let tokens = self.tokens.unwrap_or_default();
        write!(f, "{:.0} / {:.0} {tokens:>6.0}", percent(self.needed), percent(self.words))
    }
}

/// The entities that users and assistants wrote.
fn of_said(utterances: &[Arc<Utterance>]) -> HashSet<&str> {
    let mut found = HashSet::new();
    for utterance in utterances.iter().filter(|utterance| utterance.role != Role::Tool) {
        found.extend(entities(&utterance.content));
        utterance.tool_calls().iter().for_each(|call| found.extend(entities(&call.arguments_json)));
    }
    found
}

fn share<T: Eq + Hash>(wanted: &HashSet<T>, told: &HashSet<T>) -> Option<f64> {
    let kept = wanted.iter().filter(|one| told.contains(one)).count();
    (!wanted.is_empty()).then(|| kept as f64 / wanted.len() as f64)
}

/// `None` if there are no values.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
