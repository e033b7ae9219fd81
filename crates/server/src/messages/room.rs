//! The room that the messages of one call take, from their beginning until they are answered.

use std::{collections::VecDeque, sync::Arc};

use super::{
    budget::{Share, Taken},
    kind::Kind,
};
use utterd_domain::limits::{SMALL_MESSAGE_BYTES, SMALL_STREAM_BYTES};

/// The messages of a stream take room in steps of this many bytes, so that not every message asks for room.
const STEP: usize = 64 << 10;
/// The bytes that a decoded message takes in addition to its own.
const DECODED: usize = 512;

/// The room of one call.
pub struct Room {
    share: Arc<Share>,
    kind: Kind,
    taken: Option<Taken>,
    /// The length of the longest message of a stream: the decoder's buffer stays that long.
    longest: usize,
    /// Unanswered messages: the number and the bytes of those that were passed on together.
    unanswered: VecDeque<(usize, usize)>,
    /// The bytes of all unanswered messages.
    bytes: usize,
    /// The bytes of the message that is arriving.
    coming: usize,
}

impl Room {
    /// The room of a call.
    pub fn new(share: Arc<Share>, kind: Kind) -> Self {
        Self { share, kind, taken: None, longest: 0, unanswered: VecDeque::new(), bytes: 0, coming: 0 }
    }

    /// Returns the caller's share that the room is taken from.
    pub fn share(&self) -> &Arc<Share> {
        &self.share
    }

    /// Takes room for arriving messages of `bytes`. The error is how many bytes are lacking.
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

    /// Adds the bytes that were lacking.
    pub fn add(&mut self, taken: Taken) {
        match &mut self.taken {
            Some(before) => before.join(taken),
            None => self.taken = Some(taken),
        }
    }

    /// Notes that `count` messages that have arrived are passed on.
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

    /// Notes that `count` messages are answered.
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

    /// Notes that the whole call is answered, and keeps none of its messages.
    pub fn all_answered(&mut self) {
        if self.kind != Kind::Each {
            *self = Self::new(self.share.clone(), self.kind);
        }
    }

    fn has(&self) -> usize {
        self.taken.as_ref().map_or(0, Taken::bytes)
    }

    /// Returns the bytes to hold for all messages.
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
