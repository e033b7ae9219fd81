//! What summaries of real conversations contain is in these conversations.
//!
//! Reads `examples/data` and `UTTERD_DATA` (default `../shared/data`); an absent file is shown as ignored.

#[path = "../../../benches/summaries/conversations.rs"]
#[allow(dead_code, reason = "the bench of summaries measures more")]
mod conversations;
mod lists;
mod parts;
#[path = "../../../benches/summaries/rolled.rs"]
mod rolled;
mod source;
#[path = "../../it/contexts/replay/transcripts.rs"]
#[allow(dead_code, reason = "the test of contexts takes samples")]
mod transcripts;

use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};
use utterd::{
    domain::{
        Encoding, Utterance,
        extractive::{Focus, LineKind, Sentence, summarise},
    },
    tokenizer::counter,
};

use conversations::{Conversation, dialogue, dialogues, fixtures, lines, meeting};
use rolled::rolled;
use source::Source;

/// In tokens.
const LIMITS: [u32; 2] = [60, 600];
const ROLLING: u32 = 300;

pub fn trials() -> Vec<Trial> {
    let transcripts = ["tau-airline", "pi-coding", "swe-agent", "openhands", "claude-code"];
    let transcripts = transcripts.map(|file| trial(file, move || conversations::transcripts(&[file])));
    let talks = ["locomo", "beam"].map(|file| trial(file, move || dialogues(file)));
    let meetings = trial("qmsum-val", || lines("summaries/qmsum-val.jsonl").iter().map(meeting).collect());
    let short =
        trial("dialogsum-dev", || lines("summaries/dialogsum-dev.jsonl").iter().map(dialogue).collect());
    let own = ["talks", "planning"].map(|file| trial(file, move || fixtures(file)));
    transcripts.into_iter().chain(talks).chain([meetings, short]).chain(own).collect()
}

fn trial(file: &'static str, read: impl FnOnce() -> Vec<Conversation> + Send + 'static) -> Trial {
    Trial::ignorable_test(format!("summaries::what_a_summary_tells_was_said::{file}"), move || {
        let conversations = read();
        if conversations.is_empty() {
            return Ok(Completion::ignored_with("UTTERD_DATA has no such file"));
        }
        let wrong: Vec<String> = conversations.iter().flat_map(wrong).collect();
        if wrong.is_empty() {
            return Ok(Completion::Completed);
        }
        Err(Failed::from(format!(
            "{} lines, such as\n{}",
            wrong.len(),
            wrong[..wrong.len().min(20)].join("\n")
        )))
    })
}

/// What summaries of a conversation contain that was not said, and lists that are cut without saying so.
fn wrong(conversation: &Conversation) -> Vec<String> {
    let said = &conversation.0;
    let at_once = LIMITS.into_iter().flat_map(|limit| wrong_lines(said, &summarised(said, limit)));
    let cuts = rolled(conversation, ROLLING);
    let rolling = cuts.iter().flat_map(|cut| wrong_lines(&cut.before, &cut.lines));
    at_once.chain(rolling).collect()
}

fn wrong_lines(said: &[Arc<Utterance>], summary: &[Sentence]) -> Vec<String> {
    let source = Source::of(said);
    let text: String = summary.iter().map(|line| &*line.text).collect();
    let mut wrong = Vec::new();
    let lines = summary.iter().flat_map(|line| apart(line).into_iter().map(move |text| (line.kind, text)));
    for (kind, line) in lines {
        if is_day(&line) {
            continue;
        }
        if let Some(untold) = parts::not_in(&line, kind == LineKind::Facts, &source) {
            wrong.push(format!("not said: {untold:?} of {line:?}"));
        }
        if let Some(rest) = lists::hidden(&line, &text, said) {
            wrong.push(format!("cut without saying so, {rest:?}: {line:?}"));
        }
    }
    wrong
}

/// Whether a line is the header of a day: windows get theirs from the clock.
fn is_day(line: &str) -> bool {
    jiff::civil::Date::strptime("On %d %B %Y:", line).is_ok()
}

/// Sentences on one line, each preceded by its speaker, and the names of a ledger, each preceded by its head.
fn apart(line: &Sentence) -> Vec<String> {
    let text = line.text.trim_end();
    let Some(first) = line.items.first().filter(|_| matches!(line.kind, LineKind::Said | LineKind::Facts))
    else {
        return vec![text.to_owned()];
    };
    let head = &text[..first.start as usize];
    line.items.iter().map(|item| format!("{head}{}", &text[item.start as usize..item.end as usize])).collect()
}

fn summarised(said: &[Arc<Utterance>], limit: u32) -> Vec<Sentence> {
    summarise(said, &Focus::detect(said, &[]), limit, counter(Encoding::O200kBase))
}
