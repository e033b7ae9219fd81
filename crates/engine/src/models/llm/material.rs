//! The material that a model is shown to write a segment.

use std::sync::Arc;

use crate::{Engine, Result, offload};
use utterd_domain::{
    Conversation, Ranges, Utterance,
    extract::{self, Part, Wanted, tell},
    limits::{CLOSING_TOKENS, DEFAULT_SUMMARY_TOKENS},
    segment::Segment,
};

use super::summarizer::{Material, Task};

/// The newest utterances with up to this many tokens are shown; of older ones, only what the summary without a model tells.
const MOST_TOKENS: u64 = 32_000;
/// The newest earlier summaries up to this many bytes are shown.
const MOST_BEFORE: usize = 16 << 10;

/// The material for a model.
pub(super) struct Shown {
    pub material: Material,
    /// Every sequence that a part of the material comes from.
    pub from: Ranges,
}

impl Engine {
    /// Returns the material for writing `segment` of `state`: the summary of earlier utterances, and the
    /// utterances that the segment covers; for a fold, the text of its parts instead.
    pub(super) async fn shown(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        segment: &Segment,
    ) -> Result<Shown> {
        let (before, mut from) = before(state, segment);
        from.union(&segment.covers);
        let awaits = segment.awaits.as_deref();
        let (told, said) = match awaits.filter(|awaits| !awaits.told.is_empty()) {
            Some(awaits) => {
                from.union(&awaits.from);
                (awaits.told.to_string(), Vec::new())
            }
            None if segment.level > 0 => (segment.text(), Vec::new()),
            None => self.covered(state, segment).await?,
        };
        let (said, kind) = offload(!said.is_empty(), move || {
            let kind = extract::talk(&said);
            (said, kind)
        })
        .await;
        let material = Material {
            task: Task::Summary,
            model: state.head.policy.summary_model.clone(),
            kind,
            before,
            facts: segment.facts().into_iter().map(|fact| fact.text).collect(),
            told,
            said,
            focus: awaits.map(|awaits| awaits.focus.to_vec()).unwrap_or_default(),
            max_tokens: segment.room(),
        };
        Ok(Shown { material, from })
    }

    /// Returns the material for writing the title and the closing summary of `state`: its summary, and the
    /// newest utterances of its window.
    pub(super) async fn shown_at_the_end(&self, state: &Conversation) -> Material {
        let counter = self.counter(state.head.identity.encoding);
        let live: Vec<_> = state.window.iter().filter(|utterance| utterance.is_live()).cloned().collect();
        let (older, newer) = newest(&live);
        let (older, newer) = (older.to_vec(), newer.to_vec());
        let rest = move || {
            let wanted = Wanted { budget: DEFAULT_SUMMARY_TOKENS, part: Part::START, focus: Vec::new() };
            tell(&extract::items(&older), &wanted, counter)
        };
        let rest = offload(live.len() > newer.len(), rest).await;
        let told = state.summary.lines().chain(&rest).map(|line| &*line.text);
        Material {
            task: Task::Closing,
            model: state.head.policy.summary_model.clone(),
            told: told.collect(),
            said: newer,
            max_tokens: CLOSING_TOKENS,
            ..Material::default()
        }
    }

    /// Returns the newest stored utterances that a segment covers, as many as may be shown, and its lines
    /// about the others.
    async fn covered(
        self: &Arc<Self>,
        state: &Conversation,
        segment: &Segment,
    ) -> Result<(String, Vec<Arc<Utterance>>)> {
        let mut said = self.stored(state, &segment.covers).await?;
        said.retain(|utterance| utterance.is_live());
        let said = newest(&said).1.to_vec();
        let shown: Ranges = said.iter().map(|utterance| utterance.sequence).collect();
        let others = segment.own_lines.iter().filter(|line| !shown.holds(&line.from));
        Ok((others.map(|line| &*line.text).collect(), said))
    }
}

/// Splits the utterances into the older ones and the newest ones, which a model is shown in full.
pub(crate) fn newest(utterances: &[Arc<Utterance>]) -> (&[Arc<Utterance>], &[Arc<Utterance>]) {
    let mut tokens = 0;
    let fitting = utterances.iter().rev().take_while(|utterance| {
        tokens += u64::from(utterance.counted_tokens());
        tokens <= MOST_TOKENS
    });
    utterances.split_at(utterances.len() - fitting.count())
}

/// Returns the newest summaries from before `segment` that fit, and the sequences they were made from.
fn before(state: &Conversation, segment: &Segment) -> (String, Ranges) {
    let older = state.summary.segments().iter().take_while(|other| other.number != segment.number);
    let (mut texts, mut from, mut bytes) = (Vec::new(), Ranges::new(), 0);
    for other in older.collect::<Vec<_>>().into_iter().rev() {
        let text = other.text();
        bytes += text.len();
        if bytes > MOST_BEFORE {
            break;
        }
        texts.push(text);
        from.union(&other.covers);
        other.llm_text.iter().for_each(|text| from.union(&text.from));
    }
    texts.reverse();
    (texts.concat(), from)
}
