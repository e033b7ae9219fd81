//! The room that one call's messages take, from when they are begun until they are answered.

use std::{collections::VecDeque, sync::Arc};

use super::{
    budget::{Share, Taken},
    kind::Kind,
};
use crate::domain::limits::{SMALL_MESSAGE_BYTES, SMALL_STREAM_BYTES};

/// A stream's messages take room in steps, so that not each asks for some.
const STEP: usize = 64 << 10;
/// What a message takes beside its bytes, once it is decoded.
const DECODED: usize = 512;

/// The room of one call.
pub struct Room {
    share: Arc<Share>,
    kind: Kind,
    taken: Option<Taken>,
    /// The longest message of a stream: its decoder's buffer stays as long.
    longest: usize,
    /// Messages that are not answered, and what they take: those that were handed on together.
    unanswered: VecDeque<(usize, usize)>,
    /// What those take in all.
    bytes: usize,
    /// What the message takes that comes.
    coming: usize,
}

impl Room {
    /// The room of a call.
    pub fn new(share: Arc<Share>, kind: Kind) -> Self {
        Self { share, kind, taken: None, longest: 0, unanswered: VecDeque::new(), bytes: 0, coming: 0 }
    }

    /// The caller's share that it is part of.
    pub fn share(&self) -> &Arc<Share> {
        &self.share
    }

    /// Takes room for messages of so many bytes that come; what is lacking is the error.
    pub fn receive(&mut self, bytes: usize) -> Result<(), usize> {
        self.coming = bytes;
        let lacking = self.wanted().saturating_sub(self.has());
        if lacking == 0 {
            return Ok(());
        }
        let taken = self.share.try_take(lacking).ok_or(lacking)?;
        self.add(taken);
        Ok(())
    }

    /// Adds what was lacking.
    pub fn add(&mut self, taken: Taken) {
        match &mut self.taken {
            Some(before) => before.join(taken),
            None => self.taken = Some(taken),
        }
    }

    /// So many messages are handed on, which came.
    pub fn hand_on(&mut self, count: usize) {
        let bytes = std::mem::take(&mut self.coming);
        if self.kind != Kind::One {
            self.longest = self.longest.max(bytes);
        }
        if matches!(self.kind, Kind::Each | Kind::All) {
            let bytes = bytes + count * DECODED;
            self.unanswered.push_back((count, bytes));
            self.bytes += bytes;
        }
    }

    /// So many answers were made.
    pub fn answered(&mut self, mut count: usize) {
        while let Some((together, bytes)) = self.unanswered.front_mut() {
            if *together > count {
                *together -= count;
                break;
            }
            count -= *together;
            self.bytes -= *bytes;
            self.unanswered.pop_front();
        }
        let wanted = self.wanted();
        if let Some(taken) = &mut self.taken {
            taken.shrink_to(wanted);
        }
    }

    /// The call is answered: none of its messages is kept.
    pub fn all_answered(&mut self) {
        if self.kind != Kind::Each {
            *self = Self::new(self.share.clone(), self.kind);
        }
    }

    fn has(&self) -> usize {
        self.taken.as_ref().map_or(0, Taken::bytes)
    }

    /// What to take for all of it.
    fn wanted(&self) -> usize {
        match self.kind {
            Kind::One if self.coming <= SMALL_MESSAGE_BYTES => 0,
            Kind::One => self.coming,
            Kind::All => (self.bytes + self.coming).next_multiple_of(STEP),
            Kind::Each | Kind::Unknown => {
                let all = self.longest.max(self.coming) + self.bytes + self.coming;
                all.saturating_sub(SMALL_STREAM_BYTES).next_multiple_of(STEP)
            }
        }
    }
}
