//! Iterates over the stored utterances of a conversation.

use std::{collections::VecDeque, sync::Arc};

use crate::{Engine, Result, read::page::ReadSize};
use utterd_domain::{Conversation, Ranges, Sequence, Utterance};

/// Which utterances to visit, and in which direction.
#[derive(Clone, Copy)]
pub struct Course {
    /// By descending sequence.
    pub backwards: bool,
    /// Include the archive.
    pub archive: bool,
    /// Include the soft-forgotten.
    pub forgotten: bool,
}

impl Course {
    /// Forward over everything that is not forgotten.
    pub const ALL: Self = Self { backwards: false, archive: true, forgotten: false };
}

/// Iterates over stored utterances in one direction, merging window and archive.
pub struct Walk<'a> {
    engine: &'a Arc<Engine>,
    state: &'a Arc<Conversation>,
    backwards: bool,
    forgotten: bool,
    /// The archived sequences still to visit.
    archive: Ranges,
    chunk: VecDeque<Arc<Utterance>>,
    size: ReadSize,
    /// The places in the window still to visit.
    window: std::ops::Range<usize>,
}

impl<'a> Walk<'a> {
    pub fn new(
        engine: &'a Arc<Engine>,
        state: &'a Arc<Conversation>,
        course: Course,
        first: Sequence,
        last: Sequence,
    ) -> Self {
        let place = |sequence| state.window.place(sequence).unwrap_or_else(|place| place);
        let archive = match course.archive && first <= last {
            true => state.head.archived.intersection(&Ranges::of(first, last)),
            false => Ranges::new(),
        };
        Self {
            engine,
            state,
            backwards: course.backwards,
            forgotten: course.forgotten,
            archive,
            chunk: VecDeque::new(),
            size: ReadSize::of(&state.head),
            window: place(first)..place(last.next()).max(place(first)),
        }
    }

    /// Returns the next utterance; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Arc<Utterance>>> {
        loop {
            let Some(utterance) = self.step().await? else { return Ok(None) };
            if self.forgotten || !utterance.forgotten {
                return Ok(Some(utterance));
            }
        }
    }

    async fn step(&mut self) -> Result<Option<Arc<Utterance>>> {
        let place = match self.backwards {
            true => self.window.end.wrapping_sub(1),
            false => self.window.start,
        };
        let in_window = (!self.window.is_empty()).then(|| self.state.window.at(place)).flatten();
        while let Some(archived) = self.next_archived() {
            if in_window.is_some_and(|window| (window.sequence < archived) != self.backwards) {
                break;
            }
            match self.chunk.pop_front() {
                Some(utterance) => return Ok(Some(utterance)),
                // all of a chunk may have been removed by now
                None => self.read_chunk().await?,
            }
        }
        let Some(utterance) = in_window else { return Ok(None) };
        if self.backwards {
            self.window.end -= 1
        } else {
            self.window.start += 1
        }
        Ok(Some(utterance.clone()))
    }

    /// Returns the next sequence of the archive, without reading the archive: it need not be read while the
    /// window's next utterance comes first.
    fn next_archived(&self) -> Option<Sequence> {
        let read = self.chunk.front().map(|utterance| utterance.sequence);
        read.or_else(|| if self.backwards { self.archive.last() } else { self.archive.first() })
    }

    async fn read_chunk(&mut self) -> Result<()> {
        let wanted = match self.backwards {
            true => self.archive.take_last(self.size.get()),
            false => self.archive.take_first(self.size.get()),
        };
        let read = self.engine.archived(self.state, &wanted).await?;
        self.size.learn(&read);
        match self.backwards {
            true => self.chunk.extend(read.into_iter().rev()),
            false => self.chunk.extend(read),
        }
        Ok(())
    }
}
