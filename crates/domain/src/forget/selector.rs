//! Forgetting named utterances: by ids, by sequences, or as the newest messages.

use std::sync::Arc;

use crate::{
    Conversation, Need, Ranges, Result, Revision, Undecided, Utterance,
    change::Context,
    forget::{Forgotten, How, ToForget},
    locate,
};

/// A command to forget named utterances.
#[derive(Clone, Debug)]
pub struct ForgetSelected {
    /// Selects the utterances at the time of the change.
    pub selector: Selector,
    /// How it is forgotten.
    pub how: How,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// Selects everything that any of its fields names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Ids of utterances.
    pub ids: Vec<Box<str>>,
    /// Sequences.
    pub sequences: Ranges,
    /// This many of the newest messages that are not forgotten, with all the utterances of each.
    pub newest_messages: usize,
}

/// Forgets the selected utterances: as whole units, or exactly these. A name of nothing stored selects
/// nothing.
pub fn forget_selected(
    before: &Conversation,
    command: &ForgetSelected,
    context: &Context<'_>,
) -> Result<Forgotten, Undecided> {
    before.expect(command.expected)?;
    let named = command.selector.sequences_in(before, context)?;
    let mut told = before.summary.covers().intersection(&named);
    told.subtract(&before.head.archived);
    let mut utterances = match command.how {
        How::Exact => locate::stored(before, &named, context.loaded)?,
        How::Soft | How::Hard => locate::units_of(before, &named, context.loaded)?,
    };
    utterances.retain(|utterance| command.how != How::Soft || !utterance.forgotten);
    Ok(ToForget { utterances, told, instruction: None }.forget(before, command.how, context)?)
}

impl Selector {
    /// The sequences it names in a conversation, stored or not.
    fn sequences_in(&self, of: &Conversation, context: &Context<'_>) -> Result<Ranges, Need> {
        let mut named = self.sequences.clone();
        let archived = match self.ids.is_empty() || of.head.archived.is_empty() {
            true => None,
            false => Some(context.loaded.ids(|| self.ids.clone())?),
        };
        let sequence = |id| of.sequence_of(id).or_else(|| archived?.get(id).copied());
        let ids = self.ids.iter().filter_map(|id| sequence(id)).filter(|sequence| of.stores(*sequence));
        ids.for_each(|sequence| named.add(sequence));
        for utterance in newest(of, self.newest_messages, context)? {
            named.add(utterance.sequence);
        }
        Ok(named)
    }
}

/// The utterances of the newest `count` messages.
fn newest(of: &Conversation, count: usize, context: &Context<'_>) -> Result<Vec<Arc<Utterance>>, Need> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let archived = of.head.archived.last();
    let behind = of.window.iter().rev().take_while(|live| archived < Some(live.sequence));
    let taken = take(behind, count);
    // the first utterance of a message may come before those looked at
    if archived.is_none() || taken.iter().filter(|utterance| !utterance.continues()).count() == count {
        return Ok(taken);
    }
    let mut all = context.loaded.archive(&of.head.archived)?;
    all.extend(of.window.iter().cloned());
    all.sort_by_key(|utterance| utterance.sequence);
    Ok(take(all.iter().rev(), count))
}

/// The utterances of the first `count` messages; `newest_first` begins with the newest.
fn take<'a>(newest_first: impl Iterator<Item = &'a Arc<Utterance>>, count: usize) -> Vec<Arc<Utterance>> {
    let (mut taken, mut messages) = (Vec::<Arc<Utterance>>::new(), 0);
    for utterance in newest_first.filter(|utterance| !utterance.forgotten) {
        let goes_on = taken.last().is_some_and(|next| next.continues_after(utterance));
        if !goes_on {
            messages += 1;
        }
        if messages > count {
            break;
        }
        taken.push(utterance.clone());
    }
    taken
}
