//! Whether relevance separates what a conversation contains from what it does not.

use utterd::domain::{limits::DEFAULT_MIN_RELEVANCE, recall::Index};

use crate::{
    conversations::{Conversation, File, off_topic, place},
    evidence::{FIRST, recall},
    table::{Table, percent},
};

/// How many matches to check for a relevant one.
const LOOKED_AT: usize = 256;

/// Prints a table of the files.
pub fn print(files: &[File]) {
    let off_topic = off_topic();
    let mut table = Table::new(&format!("a match of relevance {DEFAULT_MIN_RELEVANCE} or more, %"))
        .columns(["off-topic asked", "answered", "questions", "not answered", "recall@10 of it"]);
    for file in files {
        let counts = file.conversations.iter().map(|one| counts(one, &off_topic));
        let counts = counts.fold(Counts::default(), Counts::plus);
        let cells = [
            counts.off_topic.to_string(),
            percent(counts.answered as f64, counts.off_topic),
            counts.questions.to_string(),
            percent(counts.silenced as f64, counts.questions),
            percent(counts.recall, counts.questions),
        ];
        table.row(&file.name, cells);
    }
    table.print();
}

#[derive(Default)]
struct Counts {
    off_topic: usize,
    answered: usize,
    questions: usize,
    silenced: usize,
    recall: f64,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            off_topic: self.off_topic + other.off_topic,
            answered: self.answered + other.answered,
            questions: self.questions + other.questions,
            silenced: self.silenced + other.silenced,
            recall: self.recall + other.recall,
        }
    }
}

fn counts(conversation: &Conversation, off_topic: &[String]) -> Counts {
    let index = conversation.index();
    let relevant = |prompt: &str| relevant(conversation, &index, prompt);
    let mut counts = Counts {
        off_topic: off_topic.len(),
        answered: off_topic.iter().filter(|prompt| !relevant(prompt).is_empty()).count(),
        questions: conversation.questions.len(),
        ..Counts::default()
    };
    for question in &conversation.questions {
        let found = relevant(&question.prompt);
        counts.silenced += usize::from(found.is_empty());
        counts.recall += recall(question, &found[..found.len().min(FIRST)]);
    }
    counts
}

/// The places that Remember returns, in order, if the caller sets no minimum relevance.
fn relevant(conversation: &Conversation, index: &Index, prompt: &str) -> Vec<usize> {
    let hits = conversation.find(index, prompt, LOOKED_AT);
    let is_answered = hits.iter().any(|hit| hit.relevance >= DEFAULT_MIN_RELEVANCE);
    hits.iter().filter(|_| is_answered).map(place).collect()
}
