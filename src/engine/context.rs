//! Building the context for a model.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Refusal, Role, TokenCounter, Utterance,
        context::{
            Archived, ContentParts, Context, Format, Match, RecallLimits, Request, asked_before, build_with,
            recallable,
        },
    },
    engine::{
        Address, COUNT_ASIDE_BYTES, Caller, Engine, EngineError, Operation, Scope, aside, events::Event,
    },
};

/// A context to build.
#[derive(Clone, Debug)]
pub struct BuildContextCall {
    /// The conversation.
    pub address: Address,
    /// The context; [`Request::recall`] is set by `recall`.
    pub request: Request,
    /// What to recall from outside the context.
    pub recall: Option<Recall>,
    /// Returns an utterance's original content in a format, as a JSON array, if it contains more than text.
    pub content_parts: fn(&Utterance, Format) -> Option<String>,
}

/// What to recall.
#[derive(Clone, Debug)]
pub struct Recall {
    /// The text to search for.
    pub prompt: String,
    /// The limits of the search.
    pub limits: RecallLimits,
    /// Where to search: in the conversation, or in all of its recipient's.
    pub scope: Scope,
}

/// A context, and the state it was built from.
#[derive(Clone, Debug)]
pub struct BuildContextReply {
    /// The conversation as it was read.
    pub state: Arc<Conversation>,
    /// The messages for the model.
    pub context: Context,
}

/// Computes something from a conversation for a request.
type Make<T> = fn(&Conversation, Archived<'_>, &Request, &dyn TokenCounter) -> Result<T, Refusal>;

/// Contexts with more tokens than this are built with `aside`.
const BUILD_ASIDE_TOKENS: u64 = 20_000;

/// How many archived utterances are first searched for the user's question; four times as many each time it is
/// not among them.
const ASKED_CHUNK: u64 = 32;

/// The limit in bytes for content with images and the like, so that clients can receive the context.
const MAX_PARTS_BYTES: usize = 2 << 20;

/// What is rendered besides the text of the window.
#[derive(Clone)]
struct Archive {
    pinned: Vec<Arc<Utterance>>,
    asked: Option<Arc<Utterance>>,
    found: Vec<Match>,
    parts: ContentParts,
}

impl Archive {
    /// Returns the newest parts that fit; the newest of all whatever its size.
    fn content_parts(&self, state: &Conversation, of: impl Fn(&Utterance) -> Option<String>) -> ContentParts {
        let mut parts = ContentParts::default();
        let mut room = None;
        let said = state.window.iter().rev().chain(self.pinned.iter().rev()).chain(&self.asked);
        for utterance in said.filter(|utterance| utterance.is_live()) {
            let Some(json) = of(utterance) else { continue };
            match room.unwrap_or(MAX_PARTS_BYTES.max(json.len())).checked_sub(json.len()) {
                Some(rest) => {
                    room = Some(rest);
                    parts.insert(utterance.sequence, json);
                }
                None => {
                    parts.left_out = true;
                    break;
                }
            }
        }
        parts
    }

    fn borrowed(&self) -> Archived<'_> {
        Archived {
            pinned: &self.pinned,
            asked: self.asked.as_ref(),
            recalled: &self.found,
            content_parts: Some(&self.parts),
        }
    }
}

impl Engine {
    /// Builds the context for the model; stores nothing.
    pub async fn build_context(
        self: &Arc<Self>,
        caller: &Caller,
        call: &BuildContextCall,
    ) -> Result<BuildContextReply, EngineError> {
        let state = self.read_or_blank(caller, &call.address).await?;
        let limits = call.recall.as_ref().map(|recall| recall.limits);
        let request = Request { recall: limits, ..call.request.clone() };
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
            parts: ContentParts::default(),
        };
        archive.parts =
            archive.content_parts(&state, |utterance| (call.content_parts)(utterance, request.format));
        if let Some(recall) = &call.recall {
            let wanted = self.made(&state, &request, &archive, recallable)?;
            archive.found =
                Box::pin(self.matches(caller, &state, call, recall, (wanted, request.budget))).await?;
        }
        let context = self.made(&state, &request, &archive, build_with)?;
        self.events.push(Event::read(Operation::BuildContext, &state, context.messages.len()));
        Ok(BuildContextReply { state, context })
    }

    fn made<T: Send>(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        request: &Request,
        archive: &Archive,
        make: Make<T>,
    ) -> Result<T, EngineError> {
        let counter = self.counter(state.head.identity.encoding);
        let given = request.instructions.as_ref().map_or(0, |text| text.len());
        let found = archive.found.iter().flat_map(|one| one.around.iter().chain([&one.found.utterance]));
        let found: usize = found.map(|utterance| utterance.content.len()).sum();
        let long = given + found > COUNT_ASIDE_BYTES
            || state.window.tokens().min(request.budget.map_or(u64::MAX, u64::from)) > BUILD_ASIDE_TOKENS;
        Ok(aside(long, || make(state, archive.borrowed(), request, counter))?)
    }

    /// Returns what the user asked for in a turn whose beginning has left the window.
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
}
