//! BuildContext.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Ranges, Sequence, Utterance,
        context::{Archived, Context, Omission, Request, build_with},
        recall::Query,
    },
    engine::{Address, Caller, Engine, EngineError, Operation, aside, events::Event, remember::search},
};

/// What to build.
#[derive(Clone, Debug)]
pub struct BuildContextCall {
    /// The conversation.
    pub address: Address,
    /// The context; [`Request::recall`] is set by `recall`.
    pub request: Request,
    /// What to recall of what the context would not hold.
    pub recall: Option<Recall>,
}

/// What to recall.
#[derive(Clone, Debug)]
pub struct Recall {
    /// What to look for.
    pub prompt: String,
    /// Utterances at most.
    pub limit: usize,
}

/// A context, and the state that it is of.
#[derive(Clone, Debug)]
pub struct BuildContextReply {
    /// The conversation as it was read.
    pub state: Arc<Conversation>,
    /// What goes to the model.
    pub context: Context,
}

/// A window of more tokens is rendered beside the threads that serve calls.
const BUILD_ASIDE_TOKENS: u64 = 20_000;

impl Engine {
    /// Builds what goes to the model; stores nothing.
    pub async fn build_context(
        &self,
        caller: &Caller,
        call: &BuildContextCall,
    ) -> Result<BuildContextReply, EngineError> {
        let state = self.read(caller, &call.address).await?;
        let request = Request { recall: call.recall.is_some(), ..call.request.clone() };
        let pinned: Arc<[_]> = self.stored(&state, &state.head.pinned_away).await?.into();
        let mut context = self.built(&state, &request, &pinned, Vec::new()).await?;
        if let Some(recall) = &call.recall {
            let found = self.found(&state, recall, &missing(&context)).await?;
            context = self.built(&state, &request, &pinned, found).await?;
        }
        self.events.push(Event::read(Operation::BuildContext, &state, context.messages.len()));
        Ok(BuildContextReply { state, context })
    }

    async fn built(
        &self,
        state: &Arc<Conversation>,
        request: &Request,
        pinned: &Arc<[Arc<Utterance>]>,
        found: Vec<Arc<Utterance>>,
    ) -> Result<Context, EngineError> {
        let counter = self.counter(state.head.identity.encoding);
        let most = request.budget.map_or(u64::MAX, u64::from);
        if state.window.tokens().min(most) <= BUILD_ASIDE_TOKENS {
            let archived = Archived { pinned, recalled: &found };
            return Ok(build_with(state, archived, request, counter)?);
        }
        let (state, request, pinned) = (state.clone(), request.clone(), pinned.clone());
        let work = move || {
            let archived = Archived { pinned: &pinned, recalled: &found };
            build_with(&state, archived, &request, counter)
        };
        Ok(aside(true, work).await??)
    }

    /// The stored utterances among `wanted` that tell most about the prompt, the best first.
    async fn found(
        &self,
        state: &Arc<Conversation>,
        recall: &Recall,
        wanted: &Ranges,
    ) -> Result<Vec<Arc<Utterance>>, EngineError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.index(state).await?;
        let query = Query::new(&recall.prompt);
        let hits = search(&query, &[index], std::slice::from_ref(wanted), recall.limit);
        let sequences: Vec<Sequence> = hits.iter().map(|hit| Sequence(hit.sequence)).collect();
        let mut found = self.stored(state, &sequences.iter().copied().collect()).await?;
        let rank = |utterance: &Arc<Utterance>| sequences.iter().position(|hit| *hit == utterance.sequence);
        found.sort_by_key(rank);
        Ok(found)
    }
}

/// What limits and evictions keep out of a context.
fn missing(context: &Context) -> Ranges {
    let mut missing = Ranges::new();
    for (omission, ranges) in &context.omitted {
        if matches!(omission, Omission::Evicted | Omission::Budget | Omission::MaxTurns) {
            missing.union(ranges);
        }
    }
    missing
}
