//! What summaries of real conversations contain is in these conversations.
//!
//! Reads `examples/data` and `UTTERD_DATA` (default `../shared/data`); an absent file is shown as ignored.

#[path = "../../../benches/summaries/conversations.rs"]
#[allow(dead_code, reason = "the bench of summaries measures more")]
mod conversations;
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
        extract::{Line, Wanted, items, tell},
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
        let first = wrong[..wrong.len().min(20)].join("\n");
        Err(Failed::from(format!("{} lines, such as\n{first}", wrong.len())))
    })
}

/// What summaries of a conversation contain that was not said, or is cut without saying so.
fn wrong(conversation: &Conversation) -> Vec<String> {
    let said = Source::of(&conversation.0);
    let at_once = LIMITS.into_iter().flat_map(|limit| said.wrong(&summarised(&conversation.0, limit)));
    let cuts = rolled(conversation, ROLLING);
    let rolling = cuts.iter().flat_map(|cut| Source::of(&cut.before).wrong(&cut.lines));
    at_once.chain(rolling).collect()
}

fn summarised(said: &[Arc<Utterance>], limit: u32) -> Vec<Line> {
    let wanted = Wanted { budget: limit, ..Wanted::default() };
    tell(&items(said), &wanted, counter(Encoding::O200kBase))
}
