//! BuildContext.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Ranges, Role, Utterance,
        context::{Archived, Context, Found, Omission, Request, Source, asked_before, build_with},
    },
    engine::{
        Address, COUNT_ASIDE_BYTES, Caller, Engine, EngineError, Operation, RememberCall, Scope, aside,
        events::Event, page::PageRoom,
    },
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
    /// At most so many per cent of the budget.
    pub percent: u32,
    /// Where: the conversation, or every one of its recipient.
    pub scope: Scope,
}

/// A context, and the state that it is of.
#[derive(Clone, Debug)]
pub struct BuildContextReply {
    /// The conversation as it was read.
    pub state: Arc<Conversation>,
    /// What goes to the model.
    pub context: Context,
}

/// A context of more tokens is built aside.
const BUILD_ASIDE_TOKENS: u64 = 20_000;

/// Archived utterances that are looked at first for what the user asked; four times as many each
/// time that it is not among them.
const ASKED_CHUNK: u64 = 32;

/// What is rendered from the archive.
#[derive(Clone)]
struct Archive {
    pinned: Vec<Arc<Utterance>>,
    asked: Option<Arc<Utterance>>,
    found: Vec<Found>,
}

impl Archive {
    fn borrowed(&self) -> Archived<'_> {
        Archived { pinned: &self.pinned, asked: self.asked.as_ref(), recalled: &self.found }
    }
}

impl Engine {
    /// Builds what goes to the model; stores nothing.
    pub async fn build_context(
        self: &Arc<Self>,
        caller: &Caller,
        call: &BuildContextCall,
    ) -> Result<BuildContextReply, EngineError> {
        let state = self.read_or_blank(caller, &call.address).await?;
        let request =
            Request { recall: call.recall.as_ref().map(|recall| recall.percent), ..call.request.clone() };
        let mut archive = Archive {
            pinned: match state.head.pinned_away.is_empty() {
                true => Vec::new(),
                false => Box::pin(self.stored(&state, &state.head.pinned_away)).await?,
            },
            asked: match asked_before(&state) {
                None => None,
                Some(turn) => Box::pin(self.asked(&state, turn)).await?,
            },
            found: Vec::new(),
        };
        let mut context = self.built(&state, &request, &archive).await?;
        if let Some(recall) = &call.recall {
            archive.found = Box::pin(self.found(caller, &state, recall, missing(&context))).await?;
            context = self.built(&state, &request, &archive).await?;
        }
        self.events.push(Event::read(Operation::BuildContext, &state, context.messages.len()));
        Ok(BuildContextReply { state, context })
    }

    async fn built(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        request: &Request,
        archive: &Archive,
    ) -> Result<Context, EngineError> {
        let counter = self.counter(state.head.identity.encoding);
        let given = request.instructions.as_ref().map_or(0, |text| text.len());
        let long = given > COUNT_ASIDE_BYTES
            || state.window.tokens().min(request.budget.map_or(u64::MAX, u64::from)) > BUILD_ASIDE_TOKENS;
        Ok(aside(long, || build_with(state, archive.borrowed(), request, counter))?)
    }

    /// What the user asked for in a turn whose beginning has left the window.
    async fn asked(
        self: &Arc<Self>,
        state: &Conversation,
        turn: u32,
    ) -> Result<Option<Arc<Utterance>>, EngineError> {
        let mut rest = (*state.head.archived).clone();
        let mut chunk = ASKED_CHUNK;
        while !rest.is_empty() {
            let read = self.stored(state, &rest.take_last(chunk)).await?;
            let asked = read.iter().rev().find(|other| other.turn == turn && other.role == Role::User);
            if asked.is_some() || read.iter().any(|other| other.turn < turn) {
                return Ok(asked.cloned());
            }
            chunk *= 4;
        }
        Ok(None)
    }

    /// The stored utterances that tell most about the prompt, the best first: those `wanted` of this
    /// conversation and, where they are asked for, those of the recipient's others that are not also its own.
    async fn found(
        self: &Arc<Self>,
        caller: &Caller,
        state: &Arc<Conversation>,
        recall: &Recall,
        wanted: Ranges,
    ) -> Result<Vec<Found>, EngineError> {
        let mut searched = vec![(state.clone(), wanted)];
        if recall.scope == Scope::Recipient {
            let all = self.of_recipient(caller, state.head.identity.recipient.clone()).await?;
            let others = all.into_iter().filter(|other| other.key() != state.key());
            searched.extend(others.map(|other| (other.clone(), of_another(&other, state))));
        }
        searched.retain(|(_, wanted)| !wanted.is_empty());
        let (states, wanted): (Vec<_>, Vec<_>) = searched.into_iter().unzip();
        let call = RememberCall::ranking(&recall.prompt, recall.scope, recall.limit);
        let room = PageRoom::of_items(recall.limit);
        let found = self.ranked(&states, &wanted, &call, room).await?.found;
        let source = |other: &Conversation| (other.key() != state.key()).then(|| Arc::new(Source::of(other)));
        Ok(found
            .into_iter()
            .map(|one| Found { source: source(&one.state), utterance: one.utterance })
            .collect())
    }
}

/// What may be recalled of `other` in the context of `state`: neither instructions nor what both share.
fn of_another(other: &Conversation, state: &Conversation) -> Ranges {
    let mut wanted = other.head.kept();
    let instructions = other.window.iter().take_while(|utterance| utterance.instruction);
    wanted.subtract(&instructions.map(|utterance| utterance.sequence).collect());
    wanted.subtract(&state.head.shared_with(&other.head));
    wanted
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
