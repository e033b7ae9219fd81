//! Summarize.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Ranges, Utterance,
        extractive::{Focus, Sentence, select, summarise},
        limits::DEFAULT_SUMMARY_TOKENS,
    },
    engine::{Address, Caller, Engine, EngineError, Operation, aside, events::Event},
};

/// What to summarise.
#[derive(Clone, Debug)]
pub struct SummarizeCall {
    /// The conversation.
    pub address: Address,
    /// The part of it.
    pub scope: SummarizeScope,
    /// The most tokens; `None` is the policy's limit.
    pub token_limit: Option<u32>,
    /// What makes a sentence matter more.
    pub focus: Vec<String>,
}

/// A part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummarizeScope {
    /// The summary, and the window.
    All,
    /// The last so many utterances of the window.
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
    /// One line a sentence.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The sequences that it was made from.
    pub sources: Ranges,
    /// Tokens of these utterances.
    pub source_tokens: u64,
}

/// Utterances of more tokens are summarised off the threads that serve calls.
const SUMMARISE_ASIDE_TOKENS: u64 = 20_000;
/// Archived utterances that are read at a time.
const ARCHIVE_CHUNK: u64 = 1_024;

/// What a summary is made from.
struct Sources {
    sentences: Vec<Sentence>,
    utterances: Vec<Arc<Utterance>>,
    sequences: Ranges,
    tokens: u64,
}

impl Engine {
    /// Summarises a part of a conversation; stores nothing.
    pub async fn summarize(
        &self,
        caller: &Caller,
        call: &SummarizeCall,
    ) -> Result<SummarizeReply, EngineError> {
        let state = self.read(caller, &call.address).await?;
        let sources = self.sources(&state, call.scope).await?;
        let limit =
            call.token_limit.or(state.head.policy.summary_token_limit).unwrap_or(DEFAULT_SUMMARY_TOKENS);
        let counter = self.counter(state.head.identity.encoding);
        let focus = Focus::new(&call.focus);
        let Sources { mut sentences, utterances, sequences, tokens } = sources;
        let long = utterances.iter().map(|utterance| u64::from(utterance.tokens)).sum::<u64>()
            > SUMMARISE_ASIDE_TOKENS;
        let work = move || {
            sentences.extend(summarise(&utterances, &focus, limit, counter));
            select(sentences, &focus, limit)
        };
        let chosen = aside(long, work).await?;
        self.events.push(Event::read(Operation::Summarize, &state, chosen.len()));
        Ok(SummarizeReply {
            text: chosen.iter().map(|sentence| &*sentence.text).collect(),
            tokens: chosen.iter().map(|sentence| u64::from(sentence.tokens)).sum(),
            sources: sequences,
            source_tokens: tokens,
            state,
        })
    }

    async fn sources(
        &self,
        state: &Arc<Conversation>,
        scope: SummarizeScope,
    ) -> Result<Sources, EngineError> {
        let window = || state.window.iter().cloned().collect::<Vec<_>>();
        Ok(match scope {
            SummarizeScope::All => Sources::summary(state).and(window()),
            SummarizeScope::Evicted => Sources::summary(state),
            SummarizeScope::Recent(count) => {
                let length = state.window.len();
                let recent = state.window.slice(length.saturating_sub(count)..length).cloned();
                Sources::none().and(recent.collect())
            }
            SummarizeScope::Turns(first, last) => {
                let mut utterances = Vec::new();
                let mut archived = (*state.head.archived).clone();
                while !archived.is_empty() {
                    let chunk = archived.take_first(ARCHIVE_CHUNK);
                    utterances.extend(self.stored(state, &chunk).await?);
                }
                utterances.extend(window());
                utterances.retain(|utterance| (first..=last).contains(&utterance.turn));
                utterances.sort_by_key(|utterance| utterance.sequence);
                Sources::none().and(utterances)
            }
        })
    }
}

impl Sources {
    fn none() -> Self {
        Self { sentences: Vec::new(), utterances: Vec::new(), sequences: Ranges::new(), tokens: 0 }
    }

    fn summary(state: &Conversation) -> Self {
        let segments = state.summary.segments();
        Self {
            sentences: segments.iter().flat_map(|segment| segment.sentences.clone()).collect(),
            utterances: Vec::new(),
            sequences: state.summary.covers(),
            tokens: segments.iter().map(|segment| segment.source_tokens).sum(),
        }
    }

    /// Adds the utterances that take part.
    fn and(mut self, utterances: Vec<Arc<Utterance>>) -> Self {
        self.utterances = utterances;
        self.utterances.retain(|utterance| utterance.is_live() && !utterance.instruction);
        let sequences: Ranges = self.utterances.iter().map(|utterance| utterance.sequence).collect();
        self.sequences.union(&sequences);
        self.tokens += self.utterances.iter().map(|utterance| u64::from(utterance.tokens)).sum::<u64>();
        self
    }
}
