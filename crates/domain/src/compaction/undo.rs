//! Undoing a compaction.

use std::sync::Arc;

use crate::{
    Conversation, Need, Ranges, Result, Revision, Transition, Undecided, Utterance,
    change::Context,
    compaction::{Compaction, Unable},
};

/// Undoes the last compaction that was not undone.
#[derive(Clone, Debug)]
pub struct Undo {
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// A compaction that was undone.
#[derive(Clone, Debug)]
pub struct Undone {
    /// What changed.
    pub transition: Transition,
    /// The compaction.
    pub compaction: Arc<Compaction>,
    /// What returned to the window, ascending.
    pub returned: Vec<Arc<Utterance>>,
}

/// Undoes the last compaction that was not undone.
///
/// Its utterances return to their places in the window. The summary is restored to what it was without them,
/// minus what was hard-forgotten since. Later utterances stay. Nothing is evicted, so the window may be above
/// a limit until the next eviction.
///
/// Refuses if there is none, if it is too old to be undone, if the archive no longer has all of its
/// utterances, if the conversation has ended, and if the revision is not the expected one.
pub fn undo(before: &Conversation, command: &Undo, context: &Context<'_>) -> Result<Undone, Undecided> {
    before.expect(command.expected)?;
    before.check_open()?;
    let mut standing = before.compactions.iter().rev().filter(|compaction| compaction.undone.is_none());
    let Some(compaction) = standing.next() else { return Err(Unable::NothingToUndo.into()) };
    let Some(folded) = &compaction.folded else { return Err(Unable::NothingToUndo.into()) };
    let compacted = &compaction.compacted;
    let mut lost = compacted.clone();
    lost.subtract(&before.head.archived);
    if !lost.is_empty() {
        return Err(Unable::SourcesGone {
            number: compaction.number,
            lost: lost.count(),
            all: compacted.count(),
        }
        .into());
    }
    let sources = before.summary.sources_of_unfold(compacted, folded, &before.head.archived);
    let seen =
        context.loaded.archive(compacted).and_then(|back| Ok((back, context.loaded.archive(&sources)?)));
    let (returned, sources) = match seen {
        Ok(seen) => seen,
        Err(Need::Archive(mut wanted)) => {
            wanted.union(&sources);
            return Err(Need::Archive(wanted).into());
        }
        Err(need) => return Err(need.into()),
    };
    let mut transition = Transition::from(before, context.now);
    transition.give_back(returned.clone(), compacted);
    transition.begin_instructions();
    let with = context.summary_context(&before.head.policy);
    transition.after.summary = before.summary.unfold(compacted, folded, &sources, &with);
    transition.after.head.compacted_at = before.head.next;
    let undone = Compaction { undone: Some(context.now), folded: None, ..(**compaction).clone() };
    let compaction = transition.write_compaction(undone);
    transition.change.compaction = Some(compaction.number);
    let transition = transition.finish(&before.summary);
    Ok(Undone { transition, compaction, returned })
}

impl Conversation {
    /// Whether [`undo`] could undo `compaction` after undoing the later ones.
    pub fn can_undo(&self, compaction: &Compaction) -> bool {
        self.head.ended.is_none()
            && compaction.is_undoable()
            && self.head.archived.holds(&compaction.compacted)
    }
}

impl Transition {
    /// Moves archived utterances back to their places in the window.
    fn give_back(&mut self, returned: Vec<Arc<Utterance>>, sequences: &Ranges) {
        self.after.window = self.after.window.with(&returned);
        let head = &mut self.after.head;
        Arc::make_mut(&mut head.left).subtract(sequences);
        Arc::make_mut(&mut head.archived).subtract(sequences);
        Arc::make_mut(&mut head.pinned_away).subtract(sequences);
        self.change.returned = returned;
    }
}
