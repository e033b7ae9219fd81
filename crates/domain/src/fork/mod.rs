//! Fork: a second conversation that starts with what was said in the first one up to a point.
//!
//! Nothing is copied: both read the lineages written before, which are frozen (see [`Trunk`]), and each
//! writes to its own branch. So a fork at the newest utterance always costs the same; the cost of an earlier
//! point depends on how many utterances its window takes over or leaves out.

mod bytes;
pub(super) mod copies;
mod edited;
pub(super) mod lineage;
pub mod origin;
mod point;
mod revival;
#[cfg(test)]
mod tests;
pub(super) mod trunk;

use std::sync::Arc;

use crate::{
    Change, Conversation, ConversationKey, ForkedFrom, Head, Identity, LineageId, Need, Ranges, RecipientId,
    Result, Revision, Sequence, Timestamp, Transition, Trunk, Undecided, Window,
    change::Context,
    segment::{Cut, Summary},
};

pub use edited::{ForkEdited, ForkedEdited, fork_edited};

/// A fork to make.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The fork's key.
    pub key: ConversationKey,
    /// The fork's recipient; by default its parent's.
    pub recipient: Option<RecipientId>,
    /// The fork's lineage, which it writes to.
    pub lineage: LineageId,
    /// The lineage that the parent writes to from now on.
    pub branch: LineageId,
    /// The last sequence that both share; by default the newest.
    pub at: Option<Sequence>,
    /// Its title; by default its parent's.
    pub title: Option<Arc<str>>,
    /// Its start time; by default now.
    pub start: Option<Timestamp>,
    /// The revision that the caller expects of the parent.
    pub expected: Option<Revision>,
}

/// A conversation that was forked: one commit writes both.
#[derive(Clone, Debug)]
pub struct Forked {
    /// The parent: nothing of it changes but the branch that it writes to.
    pub parent: Transition,
    /// The fork.
    pub fork: Transition,
}

/// Forks `before`.
///
/// The fork has its parent's utterances up to the point, with the same forgotten and pinned marks. If the
/// point is in the window, the window is cut after it. If the point is in the archive, the newest units
/// before it return to the window as far as the policy's `keep` allows; the rest becomes the fork's archive.
/// Labels, policy and encoding are its parent's.
///
/// A segment of the summary may also cover utterances that the fork lacks, or has in its window. It is then
/// made again from the stored utterances. If these are gone, it keeps the sentences from the utterances that
/// the fork has, and [`ForkedFrom::approximate`] is set.
///
/// Refuses a point where nothing was said, a point inside an exchange (naming the nearest ones that are
/// accepted), and a revision that is not the expected one. An exchange that is open at the newest utterance
/// is open in both.
pub fn fork(before: &Conversation, command: &Fork, context: &Context<'_>) -> Result<Forked, Undecided> {
    before.expect(command.expected)?;
    let at = point::accepted(before, command.at, context)?;
    let fork = start(before, at, command, context)?.finish(&Summary::default());
    Ok(Forked { parent: freeze(before, command.branch), fork })
}

/// The conversation after a fork received a part of it. Its branch is frozen, unless nothing was written to
/// it. Callers see no change: revision and time stay the same.
fn freeze(before: &Conversation, branch: LineageId) -> Transition {
    let mut after = before.clone();
    if !before.head.fresh_branch {
        after.head.trunks = before.head.trunks_through(before.head.newest());
        after.head.branch = branch;
        after.head.fresh_branch = true;
    }
    Transition { change: Change { before: before.head.revision, ..Change::default() }, after }
}

/// The unfinished fork of `before` at `at`: its first change, except for the changes of segments.
fn start(
    before: &Conversation,
    at: Sequence,
    command: &Fork,
    context: &Context<'_>,
) -> Result<Transition, Need> {
    let taken = Taken::of(before, at, context)?;
    let identity = Identity {
        key: command.key.clone(),
        recipient: command.recipient.clone().unwrap_or_else(|| before.head.identity.recipient.clone()),
        lineage: command.lineage,
        start_time: command.start.unwrap_or(context.now),
        encoding: before.head.identity.encoding,
    };
    let from = ForkedFrom {
        conversation: before.key().id.clone(),
        sequence: at,
        approximate: taken.summary.approximate,
    };
    let head = Head {
        identity: Arc::new(identity),
        revision: Revision::NONE.next(),
        update_time: context.now,
        said_time: context.now,
        next: at.next(),
        title: command.title.clone().or_else(|| before.head.title.clone()),
        stored: taken.window.len() as u64 + taken.archived.count(),
        stored_bytes: bytes::through(before, at, context)?,
        left: Arc::new(taken.left),
        pinned_away: Arc::new(before.head.pinned_away.intersection(&taken.archived)),
        archived: Arc::new(taken.archived),
        shares: Arc::default(),
        erased_at: match before.head.erased_at {
            Revision::NONE => Revision::NONE,
            _ => Revision::NONE.next(),
        },
        silenced_at: Revision::NONE,
        compacted_at: before.head.compacted_at.min(at.next()),
        next_compaction: 1,
        trunks: before.head.trunks_through(at),
        branch: command.lineage,
        fresh_branch: true,
        forked_from: Some(Arc::new(from)),
        copies: before.head.copies_through(at).into(),
        ..point::end_of(before, at, &taken.window)
    };
    let change = Change { inherits: Some(before.key().clone()), ..Change::default() };
    let (window, summary) = (taken.window, taken.summary.summary);
    let after = Conversation { head, window, summary, compactions: Arc::default() };
    let mut transition = Transition { change, after };
    transition.begin_instructions();
    transition.inherit_state(&before.head, context)?;
    Ok(transition)
}

impl Head {
    /// The sequence of the newest utterance, stored or not; 0 before the first.
    pub fn newest(&self) -> Sequence {
        Sequence(self.next.get() - 1)
    }

    /// The lineages read by a conversation that shares everything up to `last`, oldest first. Lineages that
    /// began after `last` are included, because they may contain changes to earlier utterances.
    fn trunks_through(&self, last: Sequence) -> Arc<[Trunk]> {
        let branch = (!self.fresh_branch).then_some(Trunk { lineage: self.branch, through: self.newest() });
        let trunks = self.trunks.iter().copied().chain(branch);
        match last.get() {
            0 => Arc::default(),
            _ => trunks.map(|trunk| Trunk { through: trunk.through.min(last), ..trunk }).collect(),
        }
    }
}

/// What a fork takes over from its parent.
struct Taken {
    window: Window,
    left: Ranges,
    archived: Ranges,
    summary: Cut,
}

impl Taken {
    fn of(before: &Conversation, at: Sequence, context: &Context<'_>) -> Result<Self, Need> {
        let mut window = before.window.clone();
        window.truncate(at);
        let newest = window.last().map(|newest| newest.sequence);
        if at == Sequence(0) {
            // nothing is shared, and imported summaries are not either
            let summary = Cut { summary: Summary::default(), approximate: false };
            return Ok(Self { window, left: Ranges::new(), archived: Ranges::new(), summary });
        }
        if before.head.left.is_empty() || before.head.left.last() < newest {
            let (left, archived) = ((*before.head.left).clone(), (*before.head.archived).clone());
            let summary = Cut { summary: before.summary.clone(), approximate: false };
            return Ok(Self { window, left, archived, summary });
        }
        let shared = Ranges::before(at.next());
        let (mut left, mut archived) =
            (before.head.left.intersection(&shared), before.head.archived.intersection(&shared));
        let policy = &before.head.policy;
        let revived = revival::revived(&window, &archived, policy, context)?;
        let live: Ranges = revived.iter().map(|utterance| utterance.sequence).collect();
        left.subtract(&live);
        archived.subtract(&live);
        let sources = context.loaded.archive(&before.summary.sources_of_cut(&left, &archived))?;
        let summary = before.summary.cut(&left, &sources, &context.summary_context(policy));
        Ok(Self { window: window.with(&revived), left, archived, summary })
    }
}
