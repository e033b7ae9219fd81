//! The part of a conversation's head that almost every change modifies.

use std::sync::Arc;

use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Encoding, Ending, Head, Identity, LineageId, Namespace,
    Policy, Ranges, RecipientId, Sequence, Timestamp,
    exchange::{AbandonedCall, OpenExchange},
    segment::Summary,
};

use super::{
    Description, Fault,
    field::{Field, Message, message},
    fields::Fields,
    kind::RecordValue,
    payload::{Payload, Stored},
};

/// A head as stored, with the numbers of its summary.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadRecord {
    /// Without the parts that have records of their own: the identity except the lineage, the policy, the
    /// description and the ending. See [`HeadRecord::complete`].
    pub head: Head,
    /// The number of the next segment, from 1.
    pub next_segment: u32,
    /// Number of segments.
    pub segments: u32,
}

impl HeadRecord {
    /// Returns the record of a conversation's head and summary.
    pub fn of(head: &Head, summary: &Summary) -> Self {
        let segments = summary.segments().len() as u32;
        Self { head: head.clone(), next_segment: summary.next_number(), segments }
    }

    /// Returns the record with the whole head: with the parts stored in other records.
    pub fn complete(
        self,
        identity: Arc<Identity>,
        policy: Policy,
        description: Description,
        ended: Option<Ending>,
    ) -> Self {
        let Description { title, labels, shares, forked_from, copies, state } = description;
        let ended = ended.map(Arc::new);
        let head =
            Head { identity, policy, title, labels, shares, forked_from, copies, state, ended, ..self.head };
        Self { head, ..self }
    }

    /// Returns a head with no fields read yet.
    pub(super) fn blank(lineage: LineageId) -> Head {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::assigned(0) },
            recipient: RecipientId::default(),
            lineage,
            start_time: Timestamp(0),
            encoding: Encoding::default(),
        };
        Conversation::new(identity, Policy::ROLLING).head
    }
}

impl RecordValue<LineageId> for HeadRecord {
    fn write(&self, lineage: &LineageId, to: &mut Fields<'_>) {
        let Self { head, next_segment, segments } = self;
        head.revision.put(1, to);
        head.change.put(2, to);
        head.update_time.put(3, to);
        // The time from the last utterance to the update.
        Timestamp(head.update_time.0.wrapping_sub(head.said_time.0)).put(4, to);
        head.next.put(5, to);
        head.turn.put(6, to);
        head.only_instructions.put(7, to);
        if let Some(open) = &head.open {
            to.message(8, |to| {
                // The distance from the unit's start to the next sequence.
                head.next.0.wrapping_sub(open.unit.0).put(1, to);
                open.calls.put(2, to);
            });
        }
        head.awaits_answer.put(9, to);
        head.left.put(10, to);
        // Absent if all utterances that left the window are archived.
        if head.archived != head.left {
            to.message(11, |to| head.archived.put(1, to));
        }
        head.stored.put(12, to);
        head.stored_bytes.put(13, to);
        head.window_tokens.put(14, to);
        next_segment.put(15, to);
        segments.put(16, to);
        head.erased_at.put(17, to);
        head.silenced_at.put(18, to);
        head.pinned_away.put(19, to);
        head.abandoned.put(20, to);
        head.advice_answered.put(21, to);
        head.compacted_at.put(22, to);
        // Number of compactions made.
        head.next_compaction.wrapping_sub(1).put(23, to);
        head.trunks.put(24, to);
        // Absent if it is the conversation's own lineage.
        Some(head.branch).filter(|branch| branch != lineage).put(25, to);
        head.fresh_branch.put(26, to);
    }

    fn read(lineage: &LineageId, from: &Payload<'_>) -> Result<Self, Fault> {
        let update_time: Timestamp = Field::get("the time of the update", 3, from)?;
        let before: Timestamp = Field::get("the time since the last utterance", 4, from)?;
        let next = Field::get("the next sequence", 5, from)?;
        let left: Arc<Ranges> = Field::get("the ranges that left", 10, from)?;
        let head = Head {
            revision: Field::get("the revision", 1, from)?,
            change: Field::get("the change", 2, from)?,
            update_time,
            said_time: Timestamp(update_time.0.wrapping_sub(before.0)),
            next,
            turn: Field::get("the turn", 6, from)?,
            only_instructions: Field::get("whether only instructions were said", 7, from)?,
            open: open(next, from.one(8))?,
            awaits_answer: Field::get("whether an answer is awaited", 9, from)?,
            archived: match from.one(11) {
                Stored::Nothing => left.clone(),
                stored => Field::get(ARCHIVED, 1, &stored.message(ARCHIVED)?)?,
            },
            left,
            stored: Field::get("the utterances stored", 12, from)?,
            stored_bytes: Field::get("the bytes of the utterances", 13, from)?,
            window_tokens: Field::get("the tokens of the window", 14, from)?,
            erased_at: Field::get("the revision that erased", 17, from)?,
            silenced_at: Field::get("the revision that forgot or restored", 18, from)?,
            pinned_away: Field::get("the ranges pinned in the archive", 19, from)?,
            abandoned: Field::get("an abandoned call", 20, from)?,
            advice_answered: Field::get("the advice that was answered", 21, from)?,
            compacted_at: Field::get("the last compaction", 22, from).map(Sequence)?,
            next_compaction: next_compaction(Field::get(COMPACTIONS, 23, from)?)?,
            trunks: Field::get("a trunk", 24, from)?,
            branch: Option::get("the branch", 25, from)?.unwrap_or(*lineage),
            fresh_branch: Field::get("whether the branch is fresh", 26, from)?,
            ..Self::blank(*lineage)
        };
        let next_segment = Field::get("the number of the next segment", 15, from)?;
        let record = Self { head, next_segment, segments: Field::get("the segments", 16, from)? };
        check(&record).map(|()| record)
    }
}

message! {
    AbandonedCall {
        1 id: "the id of an abandoned call",
        2 caller: "the utterance of an abandoned call",
        3 answer: "the late result of an abandoned call",
    }
}

const ARCHIVED: &str = "the archived ranges";
const COMPACTIONS: &str = "the compactions";

fn open(next: Sequence, stored: Stored<'_>) -> Result<Option<Arc<OpenExchange>>, Fault> {
    const PART: &str = "the open exchange";
    if let Stored::Nothing = stored {
        return Ok(None);
    }
    let from = stored.message(PART)?;
    let (back, calls) = (u64::get(PART, 1, &from)?, Vec::get("an unanswered call", 2, &from)?);
    if calls.is_empty() {
        return Err(Fault::wrong(PART, "waits for no call"));
    }
    if !(1..next.0).contains(&back) {
        return Err(Fault::wrong(PART, format_args!("starts {back} before {next}")));
    }
    Ok(Some(Arc::new(OpenExchange { unit: Sequence(next.0 - back), calls })))
}

fn next_compaction(made: u32) -> Result<u32, Fault> {
    made.checked_add(1).ok_or_else(|| Fault::wrong(COMPACTIONS, "are too many to number"))
}

/// Checks the fields against each other.
fn check(HeadRecord { head, next_segment, segments }: &HeadRecord) -> Result<(), Fault> {
    head.check().map_err(|(part, problem)| Fault::wrong(part, problem))?;
    if *next_segment == 0 {
        return Err(Fault::wrong("the number of the next segment", "is 0; segments count from 1"));
    }
    match segments >= next_segment {
        true => Err(Fault::wrong("the segments", "are more than were numbered")),
        false => Ok(()),
    }
}
