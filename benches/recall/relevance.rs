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
    let mut table =
        Table::new(&format!("a match of relevance {DEFAULT_MIN_RELEVANCE} or more, %")).columns([
            "off-topic answered",
            "everyday",
            "Chinese",
            "topics",
            "questions",
            "not answered",
            "hit@10 of it",
            "recall@10 of it",
        ]);
    for file in files {
        let counts = file.conversations.iter().map(|one| counts(one, &off_topic));
        let counts = counts.fold(Counts::default(), Counts::plus);
        let answered = std::array::from_fn(|kind| {
            percent(counts.answered[kind] as f64, off_topic[kind].len() * file.conversations.len())
        });
        let [rare, everyday, chinese, topics] = answered;
        let cells = [
            rare,
            everyday,
            chinese,
            topics,
            counts.questions.to_string(),
            percent(counts.silenced as f64, counts.questions),
            percent(counts.hit as f64, counts.questions),
            percent(counts.recall, counts.questions),
        ];
        table.row(&file.name, cells);
    }
    table.print();
}

#[derive(Default)]
struct Counts {
    /// By kind of prompt.
    answered: [usize; 4],
    questions: usize,
    silenced: usize,
    hit: usize,
    recall: f64,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            answered: std::array::from_fn(|kind| self.answered[kind] + other.answered[kind]),
            questions: self.questions + other.questions,
            silenced: self.silenced + other.silenced,
            hit: self.hit + other.hit,
            recall: self.recall + other.recall,
        }
    }
}

fn counts(conversation: &Conversation, off_topic: &[Vec<String>; 4]) -> Counts {
    let index = conversation.index();
    let relevant = |prompt: &str| relevant(conversation, &index, prompt);
    let mut counts = Counts {
        answered: std::array::from_fn(|kind| {
            off_topic[kind].iter().filter(|prompt| !relevant(prompt).is_empty()).count()
        }),
        questions: conversation.questions.len(),
        ..Counts::default()
    };
    for question in &conversation.questions {
        let found = relevant(&question.prompt);
        counts.silenced += usize::from(found.is_empty());
        let recall = recall(question, &found[..found.len().min(FIRST)]);
        counts.hit += usize::from(recall > 0.0);
        counts.recall += recall;
    }
    counts
}

/// The places that Remember returns, in order, if the caller sets no minimum relevance.
fn relevant(conversation: &Conversation, index: &Index, prompt: &str) -> Vec<usize> {
    let hits = conversation.find(index, prompt, LOOKED_AT);
    let is_answered = hits.iter().any(|hit| hit.relevance >= DEFAULT_MIN_RELEVANCE);
    hits.iter().filter(|_| is_answered).map(place).collect()
}
