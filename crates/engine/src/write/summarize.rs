//! Summarizing on demand.

use std::{sync::Arc, time::Duration};

use crate::{
    Address, Caller, Engine, Operation, Result,
    events::Event,
    models::llm::{LlmSummary, Material, Task, newest},
    offload::{LONG_TOKENS, offload},
};
use utterd_domain::{
    Conversation, Ranges, TokenCounter, Utterance,
    extract::{self, Item, Line, Part, Untold, Wanted, facts, tell},
    limits::DEFAULT_SUMMARY_TOKENS,
    segment::lines,
};

/// What to summarise.
#[derive(Clone, Debug)]
pub struct SummarizeCall {
    /// The conversation.
    pub address: Address,
    /// The part to summarise.
    pub scope: SummarizeScope,
    /// The most tokens; by default the policy's limit.
    pub token_limit: Option<u32>,
    /// Words that make a sentence more important.
    pub focus: Vec<String>,
    /// How long to wait for a model's summary; `None` if no model should write it.
    pub wait: Option<Patience>,
}

/// How long a caller waits for a model; `None` for as long as a model call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience(pub Option<Duration>);

/// A part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummarizeScope {
    /// The summary and the window.
    All,
    /// The last utterances of the window, this many.
    Recent(usize),
    /// The summary.
    Evicted,
    /// These turns, in the window or the archive.
    Turns(u32, u32),
}

/// A summary.
#[derive(Clone, Debug)]
pub struct SummarizeReply {
    /// The conversation that was summarised.
    pub state: Arc<Conversation>,
    /// The lines, or the model's text.
    pub text: String,
    /// The tokens of the text.
    pub tokens: u64,
    /// The sequences it was made from; empty if the summary is empty.
    pub sources: Ranges,
    /// The tokens of these utterances.
    pub source_tokens: u64,
    /// The model that wrote it, if one did.
    pub model: Option<String>,
    /// Why no model wrote it, if the caller waited for one.
    pub without: Option<String>,
    /// Why the summary is empty, if it is.
    pub untold: Option<Untold>,
}

/// The input of a summary.
struct Sources {
    /// What segments tell.
    lines: Vec<Line>,
    /// What they can tell.
    items: Vec<Item>,
    /// Whether more was said after all this.
    goes_on: bool,
    utterances: Vec<Arc<Utterance>>,
    sequences: Ranges,
    tokens: u64,
}

impl Engine {
    /// Summarises a part of a conversation; stores nothing.
    ///
    /// A model's summary is dropped if something was forgotten or edited meanwhile.
    pub async fn summarize(
        self: &Arc<Self>,
        caller: &Caller,
        call: &SummarizeCall,
    ) -> Result<SummarizeReply> {
        let mut state = self.read_or_blank(caller, &call.address).await?;
        let (mut told, mut without) = (None, None);
        if let Some(Patience(patience)) = call.wait {
            match self.told(&state, call, patience).await? {
                Ok(answer) => told = Some(answer),
                Err(why) => without = Some(why),
            }
            let now = self.read_or_blank(caller, &call.address).await?;
            if told.is_some() && was_changed(&state, &now) {
                (told, without) = (None, Some("something was forgotten or edited meanwhile".to_owned()));
            }
            if told.is_none() {
                state = now;
            }
        }
        let reply = match told {
            Some((sources, lines, model)) => SummarizeReply {
                model: Some(model),
                ..reply(state, &lines, sources.sequences, sources.tokens)
            },
            None => self.extract(state, call).await?,
        };
        self.events.push(Event::read(Operation::Summarize, &reply.state, reply.text.lines().count()));
        Ok(SummarizeReply { without, ..reply })
    }

    /// Makes the extractive summary.
    async fn extract(
        self: &Arc<Self>,
        state: Arc<Conversation>,
        call: &SummarizeCall,
    ) -> Result<SummarizeReply> {
        let sources = self.sources(&state, call.scope).await?;
        let limit = limit(&state, call);
        let counter = self.counter(state.head.identity.encoding);
        let is_long = sources.is_long();
        let Sources { mut items, utterances, sequences, tokens, goes_on, .. } = sources;
        let (focus, is_empty) = (call.focus.clone(), sequences.is_empty());
        let (chosen, untold) = offload(is_long, move || {
            items.extend(extract::items(&utterances));
            let part = Part { begins: true, goes_on };
            let telling = |budget| tell(&items, &Wanted { budget, part, focus: focus.clone() }, counter);
            let chosen = telling(limit);
            let why = || Untold::of(!is_empty, limit, |more| !telling(more).is_empty());
            let untold = chosen.is_empty().then(why);
            (chosen, untold)
        })
        .await;
        Ok(match untold {
            None => reply(state, &chosen, sequences, tokens),
            Some(_) => SummarizeReply { untold, ..reply(state, &[], Ranges::new(), 0) },
        })
    }

    /// Returns the input, the model's summary as lines, and the model's name; or the reason why there is no
    /// summary.
    async fn told(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        call: &SummarizeCall,
        patience: Option<Duration>,
    ) -> Result<Result<(Sources, Vec<Line>, String), String>> {
        let (sources, limit) = (self.sources(state, call.scope).await?, limit(state, call));
        if sources.sequences.is_empty() && sources.lines.is_empty() {
            return Ok(Err("there is nothing to summarise".to_owned()));
        }
        let counter = self.counter(state.head.identity.encoding);
        let asked = Material {
            task: Task::Summary,
            model: state.head.policy.summary_model.clone(),
            focus: call.focus.clone(),
            max_tokens: limit,
            ..Material::default()
        };
        let (sources, material) = offload(sources.is_long(), move || {
            let material = sources.material(asked, counter);
            (sources, material)
        })
        .await;
        let answer = self.tell_now(&state.key().namespace, material, patience).await;
        Ok(answer.and_then(|LlmSummary { text, model, .. }| match lines(&text, limit, counter) {
            Ok(lines) => Ok((sources, lines, model)),
            Err(unfit) => Err(format!("the model's answer cannot be used: {unfit}")),
        }))
    }

    async fn sources(self: &Arc<Self>, state: &Arc<Conversation>, scope: SummarizeScope) -> Result<Sources> {
        let window = || state.window.iter().cloned().collect::<Vec<_>>();
        Ok(match scope {
            SummarizeScope::All => Sources::summary(state).and(window()),
            SummarizeScope::Evicted => {
                Sources { goes_on: !state.window.is_empty(), ..Sources::summary(state) }
            }
            SummarizeScope::Recent(count) => {
                let length = state.window.len();
                let recent = state.window.slice(length.saturating_sub(count)..length).cloned();
                Sources::none().and(recent.collect())
            }
            SummarizeScope::Turns(first, last) => {
                let mut utterances = self.everything(state).await?;
                let goes_on = utterances.iter().any(|utterance| utterance.turn > last);
                utterances.retain(|utterance| (first..=last).contains(&utterance.turn));
                Sources { goes_on, ..Sources::none().and(utterances) }
            }
        })
    }
}

fn limit(state: &Conversation, call: &SummarizeCall) -> u32 {
    call.token_limit.or(state.head.policy.summary_token_limit).unwrap_or(DEFAULT_SUMMARY_TOKENS)
}

/// Whether anything in `before` was forgotten, restored or edited by the time of `now`.
fn was_changed(before: &Conversation, now: &Conversation) -> bool {
    let (was, is) = (&before.head, &now.head);
    was.identity.lineage != is.identity.lineage
        || (was.erased_at, was.silenced_at) != (is.erased_at, is.silenced_at)
}

fn reply(state: Arc<Conversation>, lines: &[Line], sources: Ranges, source_tokens: u64) -> SummarizeReply {
    SummarizeReply {
        text: lines.iter().map(|line| &*line.text).collect(),
        tokens: lines.iter().map(|line| u64::from(line.tokens)).sum(),
        sources,
        source_tokens,
        state,
        model: None,
        without: None,
        untold: None,
    }
}

impl Sources {
    fn none() -> Self {
        let (lines, items, utterances) = (Vec::new(), Vec::new(), Vec::new());
        Self { lines, items, goes_on: false, utterances, sequences: Ranges::new(), tokens: 0 }
    }

    fn summary(state: &Conversation) -> Self {
        let segments = state.summary.segments();
        Self {
            lines: state.summary.lines().cloned().collect(),
            items: state.summary.items(),
            sequences: state.summary.covers(),
            tokens: segments.iter().map(|segment| segment.source_tokens).sum(),
            ..Self::none()
        }
    }

    /// Whether work on all utterances takes long.
    fn is_long(&self) -> bool {
        self.utterances.iter().map(|utterance| u64::from(utterance.tokens)).sum::<u64>() > LONG_TOKENS
    }

    /// Returns the material for a model: the request `asked`, with the text to summarise.
    fn material(&self, asked: Material, counter: &dyn TokenCounter) -> Material {
        let (older, newer) = newest(&self.utterances);
        let wanted = Wanted { budget: asked.max_tokens, part: Part::START, focus: Vec::new() };
        let rest = tell(&extract::items(older), &wanted, counter);
        let told = self.lines.iter().chain(&rest).map(|line| &*line.text);
        Material {
            kind: extract::talk(newer),
            facts: facts(&self.items, Part::START).into_iter().map(|fact| fact.text).collect(),
            told: told.collect(),
            said: newer.to_vec(),
            ..asked
        }
    }

    /// Adds the utterances that are live and are not instructions.
    fn and(mut self, utterances: Vec<Arc<Utterance>>) -> Self {
        self.utterances = utterances;
        self.utterances.retain(|utterance| utterance.is_live() && !utterance.instruction);
        let sequences: Ranges = self.utterances.iter().map(|utterance| utterance.sequence).collect();
        self.sequences.union(&sequences);
        self.tokens += self.utterances.iter().map(|utterance| u64::from(utterance.tokens)).sum::<u64>();
        self
    }
}
