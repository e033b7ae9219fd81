//! One conversation as its callers know it.

use std::collections::BTreeMap;

use utterd::proto::{MemorizeResponse, Utterance};

use crate::{crash::observed::same, ensure};

/// What was written and read. It must be as if each call took effect at one moment between its beginning and its
/// answer.
#[derive(Debug, Default)]
pub struct History {
    /// Its id, once an answer has named it.
    pub id: Option<String>,
    writes: Vec<Write>,
    /// The greatest sequence that a caller knows of.
    known: i64,
}

#[derive(Debug)]
struct Write {
    texts: Vec<String>,
    /// The greatest sequence that was known when it began.
    after: i64,
    /// The sequences of its texts; empty until it is acknowledged.
    sequences: Vec<i64>,
}

/// A write that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Begun(usize);

impl History {
    /// A caller begins to write these texts, which occur nowhere else.
    pub fn write(&mut self, texts: Vec<String>) -> Begun {
        self.writes.push(Write { texts, after: self.known, sequences: Vec::new() });
        Begun(self.writes.len() - 1)
    }

    /// A write is acknowledged: after everything that was known when it began.
    pub fn acknowledge(&mut self, Begun(place): Begun, answer: &MemorizeResponse) -> Result<(), String> {
        let id = self.id.get_or_insert_with(|| answer.conversation_id.clone());
        same("the conversation", &answer.conversation_id, id)?;
        let write = &mut self.writes[place];
        let sequences: Vec<i64> = answer.memorized.iter().map(|stored| stored.sequence).collect();
        let first = sequences.first().copied().unwrap_or_default();
        let consecutive = (first..).take(write.texts.len()).collect();
        same("the sequences of one write", &sequences, &consecutive)?;
        ensure!(first > write.after, "{first} was acknowledged, although {} was known before", write.after);
        self.known = self.known.max(first + sequences.len() as i64 - 1);
        write.sequences = sequences;
        Ok(())
    }

    /// A caller begins to read; it must see this sequence.
    pub fn read(&self) -> i64 {
        self.known
    }

    /// A caller that had to see `after` sees so many utterances.
    pub fn counted(&mut self, after: i64, count: i64) -> Result<(), String> {
        let said: usize = self.writes.iter().map(|write| write.texts.len()).sum();
        ensure!(count >= after, "{count} utterances are there, although {after} was known before");
        ensure!(count <= said as i64, "{count} utterances are there, and {said} were said");
        self.known = self.known.max(count);
        Ok(())
    }

    /// A caller that had to see `after` sees these utterances.
    pub fn listed(&mut self, after: i64, list: &[Utterance]) -> Result<(), String> {
        let acknowledged = self.acknowledged()?;
        for (said, sequence) in list.iter().zip(1..) {
            same("the sequence", &said.sequence, &sequence)?;
            match acknowledged.get(&sequence) {
                Some(text) => same("an acknowledged text", &said.content.as_str(), text)?,
                None => self.is_pending(&said.content)?,
            }
        }
        self.counted(after, list.len() as i64)
    }

    /// Nobody calls any more: these utterances, which are distinct, are exactly those that were acknowledged.
    pub fn is_exactly(&self, list: &[Utterance]) -> Result<(), String> {
        let unanswered = self.writes.iter().find(|write| write.sequences.is_empty());
        ensure!(unanswered.is_none(), "{unanswered:?} was given up");
        let list: Vec<_> = list.iter().map(|said| (said.sequence, said.content.as_str())).collect();
        let acknowledged: Vec<_> = self.acknowledged()?.into_iter().collect();
        same("what is stored", &list, &acknowledged)?;
        let sequences = list.iter().map(|(sequence, _)| *sequence).collect();
        same("the sequences", &(1..=list.len() as i64).collect::<Vec<_>>(), &sequences)
    }

    fn acknowledged(&self) -> Result<BTreeMap<i64, &str>, String> {
        let mut all = BTreeMap::new();
        for write in &self.writes {
            for (sequence, text) in write.sequences.iter().zip(&write.texts) {
                let other = all.insert(*sequence, text.as_str());
                ensure!(other.is_none(), "{sequence} was acknowledged for {text:?} and {other:?}");
            }
        }
        Ok(all)
    }

    /// It belongs to a write without an answer.
    fn is_pending(&self, text: &str) -> Result<(), String> {
        let mut pending = self.writes.iter().filter(|write| write.sequences.is_empty());
        let is_pending = pending.any(|write| write.texts.iter().any(|other| other == text));
        ensure!(is_pending, "{text:?} is at a place that was not acknowledged");
        Ok(())
    }
}
