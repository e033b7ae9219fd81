//! Builds the context for a model.

use std::{cmp::Reverse, sync::Arc};

use crate::{
    Address, Caller, Engine, LONG_TEXT_BYTES, Operation, Result, Scope, events::Event,
    lane::decide::is_large, offload, read::page::ReadSize,
};
use utterd_domain::{
    Conversation, Ranges, Refusal, Role, TokenCounter, Utterance,
    context::{
        Archived, Content, ContentParts, Context, Earlier, Format, Match, Reach, RecallLimits, Request,
        asked_before, build_with, recallable,
    },
};
use utterd_store::List;

/// A context to build.
#[derive(Clone, Debug)]
pub struct BuildContextCall {
    /// The conversation.
    pub address: Address,
    /// The context; [`Request::recall`] is set by `recall`.
    pub request: Request,
    /// What to recall from outside the context.
    pub recall: Option<Recall>,
    /// Whether to say how the recipient's earlier conversations ended.
    pub earlier: bool,
    /// Returns what of an utterance goes out in a format beyond its text and its calls.
    pub content: fn(&Utterance, Format) -> Content,
}

/// What to recall.
#[derive(Clone, Debug)]
pub struct Recall {
    /// The text to search for.
    pub prompt: String,
    /// The limits of the search.
    pub limits: RecallLimits,
    /// The least relevance of a match, from 0 to 1; by default, that of
    /// [`Floor::of_recall`](utterd_domain::recall::Floor::of_recall).
    pub min_relevance: Option<f64>,
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

/// Computes a result from the sources of a context.
type Make<T> = fn(&Conversation, Archived<'_>, &Request, &dyn TokenCounter) -> Result<T, Refusal>;

/// How many archived utterances to search first for the user's question; quadrupled each time the question is
/// not among them.
const ASKED_CHUNK: u64 = 4;

/// The limit in bytes for content with images and the like, so that clients can receive the context.
const MAX_PARTS_BYTES: usize = 2 << 20;

/// How many of the recipient's newest conversations are looked at.
const NEWEST: usize = 16;

/// The input of a context.
struct Sources {
    state: Arc<Conversation>,
    request: Request,
    counter: &'static dyn TokenCounter,
    pinned: Vec<Arc<Utterance>>,
    turns: Vec<Arc<Utterance>>,
    asked: Option<Arc<Utterance>>,
    earlier: Vec<Earlier>,
    found: Vec<Match>,
    /// The original contents in a provider's format; `None` before the first use.
    parts: Option<ContentParts>,
    content: fn(&Utterance, Format) -> Content,
}

impl Sources {
    /// Returns the newest original contents that fit. The newest of all is included whatever its size.
    fn newest_parts(&self) -> ContentParts {
        let mut parts = ContentParts::default();
        let mut room = None;
        let window = &self.state.window;
        let first_turn_with_images = self.request.first_turn_with_images(self.state.head.turn);
        // most windows have none
        let places = if window.extras_bytes() == 0 { 0..0 } else { 0..window.len() };
        let recent = window.slice(places).rev().chain(self.turns.iter().rev());
        let said = recent.chain(self.pinned.iter().rev()).chain(&self.asked);
        for utterance in said.filter(|utterance| utterance.is_live()) {
            let Content { original, stored_words, left_out } = (self.content)(utterance, self.request.format);
            if !left_out.is_empty() {
                parts.leave_out(utterance.sequence, left_out);
            }
            if self.request.as_stored {
                parts.count_stored(utterance.sequence, self.counter.count(&stored_words));
            }
            let Some(original) = original else { continue };
            let bytes = original.shown(utterance.turn >= first_turn_with_images).len();
            match room.unwrap_or(MAX_PARTS_BYTES.max(bytes)).checked_sub(bytes) {
                Some(rest) => {
                    room = Some(rest);
                    let words = self.counter.count(&original.words);
                    parts.insert(utterance.sequence, original, words);
                }
                None => (parts.left_out, room) = (true, Some(0)),
            }
        }
        parts
    }

    async fn make<T: Send + 'static>(mut self, make: Make<T>) -> (Self, Result<T, Refusal>) {
        let is_long = self.is_long();
        offload(is_long, move || {
            self.parts = Some(self.parts.take().unwrap_or_else(|| self.newest_parts()));
            let made = make(&self.state, self.archived(), &self.request, self.counter);
            (self, made)
        })
        .await
    }

    fn archived(&self) -> Archived<'_> {
        Archived {
            pinned: &self.pinned,
            turns: &self.turns,
            asked: self.asked.as_ref(),
            earlier: &self.earlier,
            recalled: &self.found,
            content_parts: self.parts.as_ref(),
        }
    }

    /// Whether it takes long to make a context.
    fn is_long(&self) -> bool {
        let given = self.request.instructions.as_ref().map_or(0, |text| text.len());
        let found = self.found.iter().flat_map(|one| one.around.iter().chain([&one.found.utterance]));
        let found: usize = found.map(|utterance| utterance.content.len()).sum();
        let turns: usize = self.turns.iter().map(|utterance| utterance.content.len()).sum();
        given + found + turns > LONG_TEXT_BYTES
            || is_large(&self.state)
            || self.extras_bytes() > LONG_TEXT_BYTES
    }

    /// The bytes in which original contents are looked for; they have no tokens.
    fn extras_bytes(&self) -> usize {
        let archived = self.turns.iter().chain(&self.pinned).map(|utterance| utterance.extras_bytes());
        self.state.window.extras_bytes() + archived.sum::<usize>()
    }
}

impl Engine {
    /// Builds the context for the model; stores nothing.
    pub async fn build_context(
        self: &Arc<Self>,
        caller: &Caller,
        call: &BuildContextCall,
    ) -> Result<BuildContextReply> {
        let state = self.read_or_blank(caller, &call.address).await?;
        let turns = Box::pin(self.archived_turns(&state, &call.request)).await?;
        let is_read = |turn: &u32| turns.iter().any(|said| said.turn == *turn && said.role == Role::User);
        let limits = call.recall.as_ref().map(|recall| recall.limits);
        let mut sources = Sources {
            request: Request {
                recall: limits,
                include_archive: call.request.include_archive || !turns.is_empty(),
                ..call.request.clone()
            },
            counter: self.counter(state.head.identity.encoding),
            pinned: match state.head.pinned_away.is_empty() {
                true => Vec::new(),
                false => Box::pin(self.stored(&state, &state.head.pinned_away)).await?,
            },
            asked: match asked_before(&state).filter(|turn| !is_read(turn)) {
                None => None,
                Some(turn) => Box::pin(self.asked(&state, turn)).await?,
            },
            earlier: match call.earlier {
                true => Box::pin(self.earlier_conversations(caller, &state)).await?,
                false => Vec::new(),
            },
            turns,
            found: Vec::new(),
            parts: None,
            content: call.content,
            state: state.clone(),
        };
        if let Some(recall) = &call.recall {
            let (again, wanted) = sources.make(recallable).await;
            sources = again;
            let budget = sources.request.budget;
            sources.found = Box::pin(self.matches(caller, &state, call, recall, (wanted?, budget))).await?;
        }
        let (_, context) = sources.make(build_with).await;
        let context = context?;
        self.events.push(Event::read(Operation::BuildContext, &state, context.messages.len()));
        Ok(BuildContextReply { state, context })
    }

    /// Returns the user's request in a turn whose beginning has left the window.
    async fn asked(self: &Arc<Self>, state: &Conversation, turn: u32) -> Result<Option<Arc<Utterance>>> {
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

    /// Returns the newest archived utterances, whole units, ascending: as many as fill what the window leaves of
    /// the budget, or more.
    async fn archived_turns(
        self: &Arc<Self>,
        state: &Conversation,
        request: &Request,
    ) -> Result<Vec<Arc<Utterance>>> {
        let mut turns = Vec::new();
        let Some(mut reach) = Reach::of(state, request) else { return Ok(turns) };
        let (mut rest, mut size) = ((*state.head.archived).clone(), ReadSize::of(&state.head));
        while reach.goes_on() && !rest.is_empty() {
            let mut read = self.stored(state, &rest.take_last(size.get())).await?;
            size.learn(&read);
            reach.go_over(&read);
            read.append(&mut turns);
            turns = read;
        }
        reach.trim(&mut turns, rest.is_empty());
        Ok(turns)
    }

    /// Returns how other conversations of the recipient of `state` ended, the newest first, without those that
    /// share utterances with `state`.
    async fn earlier_conversations(&self, caller: &Caller, state: &Conversation) -> Result<Vec<Earlier>> {
        let recipient = caller.recipient(state.head.identity.recipient.clone());
        let mut heads = self.store.list(List::newest(&recipient, NEWEST)).await?;
        let own = state.head.origins_of(&Ranges::before(state.head.next));
        heads.retain(|head| head.identity.key != *state.key() && head.having(&own).all().is_empty());
        let mut earlier: Vec<Earlier> = heads.iter().filter_map(Earlier::of).collect();
        earlier.sort_by_key(|one| Reverse(one.end_time));
        Ok(earlier)
    }
}
