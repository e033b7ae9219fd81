//! The golden sets.

use crate::{
    conversations::{Conversation, Question, golden, place},
    table::{Table, percent},
};

/// Prints a table of the sets.
pub fn print() {
    let mut table =
        Table::new("golden sets, %").columns(["questions", "the answer first", "among the first three"]);
    for (name, set) in golden() {
        let ranks = ranks(&set);
        let within =
            |count: usize| percent(ranks.iter().filter(|rank| **rank < count).count() as f64, ranks.len());
        table.row(&name, [ranks.len().to_string(), within(1), within(3)]);
    }
    table.print();
}

/// The rank of each question's answer, from 0.
fn ranks(set: &Conversation) -> Vec<usize> {
    let index = set.index();
    let rank = |question: &Question| {
        let hits = set.find(&index, &question.prompt, 3);
        hits.iter().position(|hit| question.evidence.contains(&place(hit))).unwrap_or(usize::MAX)
    };
    set.questions.iter().map(rank).collect()
}
