//! The cost of indexes: making, searching and storing them.

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use utterd::domain::{
    limits::BLOCK_SEQUENCES,
    recall::{Index, IndexBlock},
};

use crate::{
    conversations::{Conversation, File, Question, Spoken, index},
    evidence::FIRST,
    table::{Table, grouped},
    timed::{Times, least, micros, millis},
};

/// Utterances of a long conversation: those of the file, repeated.
pub const MANY: usize = 20_000;
/// Utterances of a typical conversation.
const USUAL: RangeInclusive<usize> = 580..=680;
/// Runs, of which the shortest counts.
const RUNS: usize = 5;

/// Prints a table of measures, made with the conversations of `chat`.
pub fn print(chat: &File) {
    let mut table = Table::new("indexes, the least of five times").columns(["", ""]);
    let usual: Vec<&Conversation> =
        chat.conversations.iter().filter(|one| USUAL.contains(&one.spoken.len())).collect();
    if !usual.is_empty() {
        add_usual(&mut table, &usual);
    }
    let many: Vec<&Spoken> = chat.cycled(MANY).collect();
    let making = least(RUNS, || index(many.iter().copied()).len());
    let each = making / MANY as u32;
    table.row(
        &format!("making one of {} utterances, and each", grouped(MANY)),
        [millis(making), micros(each)],
    );
    let large = index(many.iter().copied());
    let text = bytes(many.iter().copied());
    table.row("  its bytes for each of text", [ratio(large.heap_bytes(), text), String::new()]);
    add_searches(&mut table, chat, &large);
    add_blocks(&mut table, &large, text);
    table.print();
}

fn add_usual(table: &mut Table, usual: &[&Conversation]) {
    let times = usual.iter().flat_map(|one| {
        let index = one.index();
        let time = |prompt: &str| least(RUNS, || one.find(&index, prompt, FIRST));
        one.questions.iter().map(|question| time(&question.prompt)).collect::<Vec<_>>()
    });
    let times: Times = times.collect();
    let title = "searching a conversation of some 600 utterances: median, p99";
    table.row(title, [micros(times.median()), micros(times.p99())]);
    let size: usize = usual.iter().map(|one| one.index().heap_bytes()).sum();
    let text = bytes(usual.iter().flat_map(|one| &one.spoken));
    table.row("  its index's bytes for each of text", [ratio(size, text), String::new()]);
}

fn add_searches(table: &mut Table, chat: &File, large: &Index) {
    let time = |(one, question): (&Conversation, &Question)| {
        least(RUNS, || one.find(large, &question.prompt, FIRST))
    };
    let times: Times = chat.questions().step_by(8).map(time).collect();
    table.row("  searching it: median, p99", [micros(times.median()), micros(times.p99())]);
}

/// Adds the serialized size of its whole blocks.
fn add_blocks(table: &mut Table, large: &Index, text: usize) {
    let blocks: Vec<(u64, Arc<IndexBlock>)> =
        large.whole_blocks().map(|(number, block)| (number, block.clone())).collect();
    let bytes =
        || blocks.iter().filter_map(|(number, block)| Some((*number, block.to_bytes()?))).collect::<Vec<_>>();
    let written = bytes();
    let from =
        || written.iter().map(|(number, bytes)| IndexBlock::from_bytes(*number, bytes)).collect::<Vec<_>>();
    let utterances = written.len() * BLOCK_SEQUENCES as usize;
    let size: usize = written.iter().map(|(_, bytes)| bytes.len()).sum();
    let title = format!("{} whole blocks: bytes for each of text, and an utterance", blocks.len());
    let text = text * utterances / MANY;
    table.row(&title, [ratio(size, text), format!("{} bytes", size / utterances)]);
    let (writing, reading) = (least(RUNS, bytes), least(RUNS, from));
    let each = |time: Duration| micros(time / blocks.len().max(1) as u32);
    table.row("  writing one, reading one", [each(writing), each(reading)]);
}

fn bytes<'a>(spoken: impl IntoIterator<Item = &'a Spoken>) -> usize {
    spoken.into_iter().map(|spoken| spoken.content.len()).sum()
}

fn ratio(part: usize, whole: usize) -> String {
    format!("{:.2}", part as f64 / whole as f64)
}
