//! Listing messages, each with its utterances.

use std::{collections::HashSet, sync::Arc};

use crate::{
    Address, Caller, Engine, LONG_TEXT_BYTES, Operation, Result,
    events::Event,
    offload,
    read::{
        page::PageRoom,
        walk::{Course, Walk},
    },
};
use utterd_domain::{Conversation, Ranges, Role, Sequence, Utterance};

/// The number of utterances read at a time when looking for the end of a message.
const LOOK_AHEAD: u64 = 16;

/// The messages to list, from window and archive.
#[derive(Clone, Debug)]
pub struct ListMessages {
    /// The conversation.
    pub address: Address,
    /// Only the newest messages, at most this many.
    pub last: Option<usize>,
    /// Only messages that begin after this sequence.
    pub after: Sequence,
    /// Only messages that begin before this sequence.
    pub before: Option<Sequence>,
    /// Only messages that begin with one of these ids; empty for all.
    pub ids: HashSet<String>,
    /// Only messages that begin with one of these roles; empty for all.
    pub roles: Vec<Role>,
    /// List the newest message first.
    pub newest_first: bool,
    /// The number of messages to skip.
    pub skip: usize,
    /// The sequences of the remaining pages; `None` on the first page.
    pub rest: Option<(Sequence, Sequence)>,
    /// The most messages.
    pub limit: usize,
}

/// A page of messages, each converted to an `M`.
#[derive(Debug)]
pub struct MessagePage<M> {
    /// The state the messages were read from.
    pub state: Arc<Conversation>,
    /// The sequences of the remaining pages; `None` on the last one.
    pub rest: Option<(Sequence, Sequence)>,
    /// The messages, in the requested order.
    pub messages: Vec<M>,
}

impl ListMessages {
    fn has(&self, message: &[Arc<Utterance>]) -> bool {
        let Some(first) = message.first() else { return false };
        (self.roles.is_empty() || self.roles.contains(&first.role))
            && (self.ids.is_empty() || self.ids.contains(&first.id_text()))
    }
}

impl Engine {
    /// Lists a conversation's messages. `make` converts the utterances of a message to its form in the answer,
    /// and returns the bytes of that form.
    pub async fn list_messages<M: Send + 'static>(
        self: &Arc<Self>,
        caller: &Caller,
        list: &ListMessages,
        make: impl Fn(&Conversation, &[Arc<Utterance>]) -> (M, usize) + Copy + Send + 'static,
    ) -> Result<MessagePage<M>> {
        let state = self.read_or_blank(caller, &list.address).await?;
        let (first, last) = match list.rest {
            Some(rest) => rest,
            None => self.bounds(&state, list).await?,
        };
        let mut walk = Messages::new(self, &state, list.newest_first, first, last);
        let mut passed = if list.rest.is_none() { list.skip } else { 0 };
        let (mut room, mut messages) = (PageRoom::new(list.limit, 0), Vec::new());
        let (mut reached, mut more) = (None, false);
        while let Some(message) = walk.next().await? {
            if !list.has(&message) {
                continue;
            }
            if passed > 0 {
                passed -= 1;
                continue;
            }
            let span =
                message.first().zip(message.last()).map(|(first, last)| (first.sequence, last.sequence));
            let is_long = message.iter().map(|said| said.text_bytes()).sum::<usize>() > LONG_TEXT_BYTES;
            let of = state.clone();
            let (made, bytes) = offload(is_long, move || make(&of, &message)).await;
            if !room.takes(bytes) {
                more = true;
                break;
            }
            reached = span;
            messages.push(made);
        }
        let rest = reached.filter(|_| more).map(|(begin, end)| match list.newest_first {
            true => (first, Sequence(begin.get() - 1)),
            false => (end.next(), last),
        });
        self.events.push(Event::read(Operation::ListUtterances, &state, messages.len()));
        Ok(MessagePage { state, rest, messages })
    }

    /// Returns the first and last sequence of the range that contains the requested messages.
    async fn bounds(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        list: &ListMessages,
    ) -> Result<(Sequence, Sequence)> {
        let first = self.end_of_message(state, list.after).await?.next();
        let last = match list.before {
            Some(before) => self.end_of_message(state, Sequence(before.get() - 1)).await?,
            None => state.head.newest(),
        };
        let Some(count) = list.last else { return Ok((first, last)) };
        let mut walk = Messages::new(self, state, true, first, last);
        let (mut found, mut begin) = (0, last.next());
        while found < count {
            let Some(message) = walk.next().await? else { break };
            if list.has(&message) {
                found += 1;
                begin = message.first().map_or(begin, |first| first.sequence);
            }
        }
        Ok((begin, last))
    }

    /// Returns the last sequence of the message that contains the utterance `of`.
    async fn end_of_message(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        mut of: Sequence,
    ) -> Result<Sequence> {
        loop {
            let next = of.next();
            if let Some(utterance) = state.window.get(next) {
                match utterance.continues() {
                    true => of = next,
                    false => return Ok(of),
                }
                continue;
            }
            let ahead = Ranges::of(next, Sequence(of.get() + LOOK_AHEAD));
            let archived = self.archived(state, &state.head.archived.intersection(&ahead)).await?;
            let end = archived.iter().fold(of, |end, utterance| match end.next() == utterance.sequence {
                true if utterance.continues() => utterance.sequence,
                _ => end,
            });
            if end.get() < of.get() + LOOK_AHEAD {
                return Ok(end);
            }
            of = end;
        }
    }
}

/// Iterates over messages in one direction.
struct Messages<'a> {
    walk: Walk<'a>,
    backwards: bool,
    /// The utterance that was read ahead, which belongs to the next message.
    next: Option<Arc<Utterance>>,
}

impl<'a> Messages<'a> {
    fn new(
        engine: &'a Arc<Engine>,
        state: &'a Arc<Conversation>,
        backwards: bool,
        first: Sequence,
        last: Sequence,
    ) -> Self {
        let course = Course { backwards, ..Course::ALL };
        Self { walk: Walk::new(engine, state, course, first, last), backwards, next: None }
    }

    /// Returns the utterances of the next message, ascending.
    async fn next(&mut self) -> Result<Option<Vec<Arc<Utterance>>>> {
        let first = match self.next.take() {
            Some(first) => Some(first),
            None => self.walk.next().await?,
        };
        let Some(mut newest) = first else { return Ok(None) };
        let mut message = vec![newest.clone()];
        while let Some(next) = self.walk.next().await? {
            let is_one = match self.backwards {
                true => newest.continues_after(&next),
                false => next.continues_after(&newest),
            };
            if !is_one {
                self.next = Some(next);
                break;
            }
            message.push(next.clone());
            newest = next;
        }
        if self.backwards {
            message.reverse();
        }
        Ok(Some(message))
    }
}
