//! Lists utterances, and reads capacity and summary.

use std::sync::Arc;

use crate::{
    Address, Caller, Engine, Operation, Result,
    events::Event,
    read::{
        page::PageRoom,
        walk::{Course, Walk},
    },
};
use utterd_domain::{Conversation, Sequence, Utterance};

/// The utterances to list.
#[derive(Clone, Debug)]
pub struct ListUtterances {
    /// The conversation.
    pub address: Address,
    /// Only the newest utterances, at most this many.
    pub last: Option<usize>,
    /// Only those after this sequence.
    pub after: Sequence,
    /// Only those before this sequence.
    pub before: Option<Sequence>,
    /// List the newest utterance first.
    pub newest_first: bool,
    /// Include the archive.
    pub archive: bool,
    /// Include the soft-forgotten.
    pub forgotten: bool,
    /// The sequences of the remaining pages; `None` on the first page.
    pub rest: Option<(Sequence, Sequence)>,
    /// The most entries.
    pub limit: usize,
}

/// The part of the stored utterances to read, oldest first.
#[derive(Clone, Debug)]
pub struct Part {
    /// The sequences of the remaining pages; `None` on the first page.
    pub rest: Option<(Sequence, Sequence)>,
    /// The most utterances.
    pub limit: usize,
}

impl ListUtterances {
    fn course(&self) -> Course {
        Course { backwards: self.newest_first, archive: self.archive, forgotten: self.forgotten }
    }

    /// Lists the window, oldest first, without the soft-forgotten; at most `limit` utterances.
    pub fn window(address: Address, limit: usize) -> Self {
        Self {
            address,
            last: None,
            after: Sequence(0),
            before: None,
            newest_first: false,
            archive: false,
            forgotten: false,
            rest: None,
            limit,
        }
    }

    /// Lists a part of a known conversation, without the soft-forgotten.
    pub(crate) fn part(archive: bool, Part { rest, limit }: Part) -> Self {
        Self { archive, rest, ..Self::window(Address::default(), limit) }
    }
}

/// A page of utterances.
#[derive(Clone, Debug)]
pub struct UtterancePage {
    /// The state the utterances were read from.
    pub state: Arc<Conversation>,
    /// The sequences of the remaining pages; `None` on the last one.
    pub rest: Option<(Sequence, Sequence)>,
    /// The utterances, in the requested order.
    pub utterances: Vec<Arc<Utterance>>,
}

impl Engine {
    /// Lists a conversation's utterances.
    pub async fn list_utterances(
        self: &Arc<Self>,
        caller: &Caller,
        list: &ListUtterances,
    ) -> Result<UtterancePage> {
        let state = self.read_or_blank(caller, &list.address).await?;
        let page = self.page_of(state, list, 0).await?;
        self.events.push(Event::read(Operation::ListUtterances, &page.state, page.utterances.len()));
        Ok(page)
    }

    /// Returns a page of the utterances of `state`, in an answer with `taken` other bytes.
    pub(crate) async fn page_of(
        self: &Arc<Self>,
        state: Arc<Conversation>,
        list: &ListUtterances,
        taken: usize,
    ) -> Result<UtterancePage> {
        let (first, last) = match list.rest {
            Some(rest) => rest,
            None => self.listed(&state, list).await?,
        };
        let mut room = PageRoom::new(list.limit, taken);
        let mut walk = Walk::new(self, &state, list.course(), first, last);
        let (mut utterances, mut more) = (Vec::<Arc<Utterance>>::new(), false);
        while let Some(utterance) = walk.next().await? {
            if !room.takes(utterance.answer_bytes()) {
                more = true;
                break;
            }
            utterances.push(utterance);
        }
        let rest = utterances.last().filter(|_| more).map(|reached| match list.newest_first {
            true => (first, Sequence(reached.sequence.get() - 1)),
            false => (reached.sequence.next(), last),
        });
        Ok(UtterancePage { state, rest, utterances })
    }

    /// Returns all stored utterances of `state` that are not forgotten, ascending.
    pub(crate) async fn everything(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
    ) -> Result<Vec<Arc<Utterance>>> {
        let mut walk = Walk::new(self, state, Course::ALL, Sequence::FIRST, state.head.next);
        let mut utterances = Vec::new();
        while let Some(utterance) = walk.next().await? {
            utterances.push(utterance);
        }
        Ok(utterances)
    }

    /// Returns the first and last sequence of the range that `list` selects.
    async fn listed(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        list: &ListUtterances,
    ) -> Result<(Sequence, Sequence)> {
        let newest = state.head.newest();
        let end = list.before.map_or(newest, |before| newest.min(Sequence(before.get() - 1)));
        let start = list.after.min(end).next();
        let Some(last) = list.last else { return Ok((start, end)) };
        let backwards = Course { backwards: true, ..list.course() };
        let mut walk = Walk::new(self, state, backwards, start, end);
        let mut first = end.next();
        for _ in 0..last {
            let Some(utterance) = walk.next().await? else { break };
            first = utterance.sequence;
        }
        Ok((first, end))
    }

    /// Reads a conversation for the answer to `operation`, which has this many results; a blank one if the recipient
    /// has none.
    pub async fn read_for(
        self: &Arc<Self>,
        caller: &Caller,
        address: &Address,
        operation: Operation,
        results: fn(&Conversation) -> usize,
    ) -> Result<Arc<Conversation>> {
        let state = self.read_or_blank(caller, address).await?;
        self.events.push(Event::read(operation, &state, results(&state)));
        Ok(state)
    }

    /// Records that the tokens of some items were counted.
    pub fn counted(&self, caller: &Caller, results: usize, tokens: u64) {
        self.meters.tokens.inc_by(tokens);
        self.events.push(Event::wide(Operation::CountTokens, caller, None, results));
    }

    /// Records that a history sent by the caller was prepared.
    pub fn prepared(&self, caller: &Caller, messages: usize) {
        self.events.push(Event::wide(Operation::PrepareHistory, caller, None, messages));
    }
}
