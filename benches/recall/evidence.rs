//! How much of the evidence is among the first ten.

use std::collections::BTreeSet;

use utterd::domain::Role;

use crate::{
    conversations::{Conversation, File, Question, place},
    okapi::Okapi,
    table::{Table, percent},
};

/// How many of the best utterances count.
pub const FIRST: usize = 10;

/// Prints a table of the files.
pub fn print(files: &[File]) {
    let mut table = Table::new("evidence among the first ten, %").columns([
        "asked",
        "hit@10",
        "recall@10",
        "nDCG@10",
        "BM25 recall@10",
        "BM25 nDCG@10",
    ]);
    for file in files {
        let answered = answered(file);
        let categories: BTreeSet<&str> = answered.iter().map(|one| &*one.question.category).collect();
        print_row(&mut table, &file.name, answered.iter());
        for role in [Role::User, Role::Assistant] {
            print_role(&mut table, role, &answered);
        }
        for category in categories.into_iter().filter(|category| !category.is_empty()) {
            let of = answered.iter().filter(|one| one.question.category == category);
            print_row(&mut table, &format!("  {category}"), of);
        }
    }
    table.print();
}

/// The share of the evidence among the places found.
pub fn recall(question: &Question, found: &[usize]) -> f64 {
    let hits = found.iter().filter(|place| question.evidence.contains(place)).count();
    hits as f64 / question.evidence.len() as f64
}

/// The gain of the places found, lower for later ranks, as a share of the maximum.
fn ndcg(question: &Question, found: &[usize]) -> f64 {
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let hits = found.iter().enumerate().filter(|(_, place)| question.evidence.contains(place));
    let greatest: f64 = (0..question.evidence.len().min(FIRST)).map(gain).sum();
    hits.map(|(rank, _)| gain(rank)).sum::<f64>() / greatest
}

/// What was found for a question.
struct Answered<'a> {
    conversation: &'a Conversation,
    question: &'a Question,
    ours: Vec<usize>,
    okapi: Vec<usize>,
}

fn answered(file: &File) -> Vec<Answered<'_>> {
    let mut answered = Vec::new();
    for conversation in &file.conversations {
        let (index, okapi) = (conversation.index(), Okapi::new(conversation));
        answered.extend(conversation.questions.iter().map(|question| Answered {
            conversation,
            question,
            ours: conversation.find(&index, &question.prompt, FIRST).iter().map(place).collect(),
            okapi: okapi.find(&question.prompt, FIRST),
        }));
    }
    answered
}

fn print_row<'a>(table: &mut Table, title: &str, answered: impl Iterator<Item = &'a Answered<'a>> + Clone) {
    let count = answered.clone().count();
    let mean = |measure: &dyn Fn(&Answered<'_>) -> f64| percent(answered.clone().map(measure).sum(), count);
    table.row(
        title,
        [
            count.to_string(),
            mean(&|one| f64::from(u8::from(recall(one.question, &one.ours) > 0.0))),
            mean(&|one| recall(one.question, &one.ours)),
            mean(&|one| ndcg(one.question, &one.ours)),
            mean(&|one| recall(one.question, &one.okapi)),
            mean(&|one| ndcg(one.question, &one.okapi)),
        ],
    );
}

/// The share of all evidence said by a role that was found.
fn print_role(table: &mut Table, role: Role, answered: &[Answered<'_>]) {
    let said = answered.iter().flat_map(|one| {
        let places = one.question.evidence.iter().map(move |place| (one, place));
        places.filter(|(one, place)| one.conversation.spoken[**place].role == role)
    });
    let all = said.clone().count();
    let share = |found: usize| percent(found as f64, all);
    let ours = share(said.clone().filter(|(one, place)| one.ours.contains(place)).count());
    let okapi = share(said.filter(|(one, place)| one.okapi.contains(place)).count());
    let none = || "–".to_owned();
    table.row(&format!("  evidence of the {role}"), [all.to_string(), none(), ours, none(), okapi, none()]);
}
