//! The candidates from tool calls: what they changed, how they failed, and what they found.

use crate::{
    Utterance,
    exchange::LateResult,
    extractive::{
        choose::{Voice, Worth},
        effects::{Effect, takes_notes},
        pool::Act,
        source::{Reader, speaker},
        text::clip::folded,
        tools::{
            acts::COMMIT,
            calls::{Call, tell, tell_late, tell_outcome},
            outcome::refused,
            target::{is_path, target},
        },
    },
};

/// The limit for what a command changes, in bytes.
const CHANGE_BYTES: usize = 90;
/// The limit for a commit with its title, in bytes.
const COMMIT_BYTES: usize = 180;
/// The bonus for a call that failed or was never answered, and for a late result.
const FAILURE_BONUS: u32 = 10;
/// The bonus for a tool call, so that calls with few words are listed too.
const CALL_BONUS: u32 = 4;
/// The share of its words' weight that a tool call is worth, in percent: what it names can go into the ledger
/// as well.
const CALL_PERCENT: u32 = 30;

impl Reader {
    pub(super) fn call(&mut self, utterance: &Utterance, speaker: &str, made: &Call<'_>) {
        let Call { answer, failure, effect, ran, .. } = made;
        let (result, answer) = answer.unzip();
        let failed = failure.is_some();
        // of the agent's own list, what is still to do is told as open
        if failed && answer.is_some_and(refused) || !failed && takes_notes(made.call) {
            return;
        }
        let key = target(made, &self.named.root);
        let mut told = String::new();
        let name = tell(made, &key, &mut told);
        let told = self.named.root.shortened(&told);
        let tool = &told[..name];
        self.checks.add((utterance.sequence, result), tool, &key, made, &self.named.root);
        let changes = ran.as_ref().map_or(&[][..], |ran| &ran.changes);
        if !changes.is_empty() {
            self.changed(utterance, &format!("{speaker} called {tool}("), made, changes);
        } else if *effect == Effect::Changes {
            let start = speaker.len() + " called ".len() + name + 1;
            let act = Act::new(utterance.sequence, format!("{speaker} called {told}\n"), start, &key);
            self.pool.acts.push(Act { result, failed, is_of_file: is_path(&key), ..act });
        } else if !(failed && ran.as_ref().is_some_and(|ran| ran.check.is_some())) {
            // how a check failed is told as such, as long as nothing solved it
            let bonus = CALL_BONUS + if failed { FAILURE_BONUS } else { 0 };
            let worth = match failed || answer.is_some_and(is_short) {
                true => Worth::Fresh { bonus, percent: CALL_PERCENT },
                // what the call found goes into the ledger
                false => Worth::Rest { bonus },
            };
            self.say((utterance.sequence, result), format!("{speaker} called "), &told, Voice::Other, worth);
        }
        self.named.call(utterance.sequence, speaker, &key, made);
    }

    /// Adds what commands changed, each with the outcome; `head` precedes a change.
    fn changed(&mut self, utterance: &Utterance, head: &str, made: &Call<'_>, changes: &[String]) {
        let Call { answer, failure, ran, .. } = made;
        let (result, answer) = answer.unzip();
        // what follows a change in its script, a test, may have failed
        let failure = failure.filter(|_| ran.as_ref().is_none_or(|ran| ran.check.is_none()));
        for change in changes {
            let most = if change.starts_with(COMMIT) { COMMIT_BYTES } else { CHANGE_BYTES };
            let change = folded(&self.named.root.shortened(change), most);
            let mut text = format!("{head}{change}) → ");
            if failure.is_none() {
                text.push_str("ok")
            } else {
                tell_outcome(answer, failure, &mut text)
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
            let act = Act::new(utterance.sequence, text, head.len(), &change);
            self.pool.acts.push(Act { result, failed: failure.is_some(), is_of_file: true, ..act });
        }
    }

    pub(super) fn late(&mut self, utterance: &Utterance, late: &LateResult) {
        let speaker = speaker(utterance);
        let mut told = String::new();
        let failed = tell_late(late, &utterance.content, &mut told);
        let worth = Worth::Fresh { bonus: CALL_BONUS + FAILURE_BONUS, percent: CALL_PERCENT };
        self.say((utterance.sequence, None), format!("{speaker}: "), &told, Voice::Other, worth);
        if !failed {
            self.named.late(utterance.sequence, &late.tool, &utterance.content);
        }
        self.named.place += 1;
    }
}

fn is_short(answer: &str) -> bool {
    let answer = answer.trim();
    !answer.is_empty() && answer.len() <= 80 && !answer.contains('\n')
}
