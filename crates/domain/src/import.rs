//! Import: adds what was said elsewhere to a conversation, with its times and ids, and only once.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use crate::{
    Conversation, Ending, Need, Revision, Timestamp, Transition, Undecided,
    change::Context,
    memorize::{Irregularity, Memorize, memorize},
    segment::ImportedSummary,
};

/// The reason in the ending of an imported conversation.
pub const IMPORTED: &str = "imported";

/// A part of a conversation to import.
#[derive(Clone, Debug)]
pub struct Import {
    /// What was said, in order, and the state values for a new conversation.
    pub memorize: Memorize,
    /// The title for a new conversation that has not ended.
    pub title: Option<Arc<str>>,
    /// The summaries of what was said before, for a new conversation.
    pub summaries: Vec<ImportedSummary>,
    /// Labels to add to the existing ones.
    pub labels: BTreeMap<String, String>,
    /// The time of the newest utterance, if the source has it.
    pub said: Option<Timestamp>,
    /// How the conversation ended, if this is its last part.
    pub ends: Option<Ends>,
    /// Whether it continues after an earlier import of the same source ended the conversation.
    pub continues: bool,
}

/// Where a conversation left an earlier one of the same import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The position of the earlier one.
    pub of: usize,
    /// The position, in what the earlier one holds, of the last message that both have.
    pub after: usize,
}

/// How a conversation ended, according to the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The time it ended.
    pub time: Timestamp,
    /// The title that it had then; without one, it is made from what was said. A hard forget replaces it,
    /// because it may mention what is forgotten.
    pub title: Option<Arc<str>>,
    /// The summary made at that time; without one, it is made from what was said.
    pub summary: Option<Arc<str>>,
}

/// A part that was imported.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What changed; `None` if all of it was already there.
    pub transition: Option<Transition>,
    /// What was tolerated; the indexes are those in the part.
    pub irregularities: Vec<Irregularity>,
    /// How many utterances were already there.
    pub skipped: usize,
}

/// Adds the utterances to `before` that are not stored yet, by the rules of [`memorize`], and ends the
/// conversation if the source did.
///
/// Refuses what [`memorize`] refuses, except an id that is taken: that utterance is skipped.
pub fn import(before: &Conversation, command: &Import, context: &Context<'_>) -> Result<Imported, Undecided> {
    let kept = fresh(before, &command.memorize, context)?;
    let skipped = command.memorize.drafts.len() - kept.len();
    let new = before.head.revision == Revision::NONE;
    let ends = command.ends.as_ref().filter(|_| before.head.ended.is_none());
    if kept.is_empty() && !new && ends.is_none() {
        return Ok(Imported { transition: None, irregularities: Vec::new(), skipped });
    }
    let part = match skipped {
        0 if new || command.memorize.state.is_none() => &command.memorize,
        _ => &part(&command.memorize, &kept),
    };
    let reopened = reopened(before, command);
    let ends = command.ends.as_ref().filter(|_| reopened.head.ended.is_none());
    let memorized = memorize(&reopened, part, context)?;
    let mut transition = memorized.transition;
    let head = &mut transition.after.head;
    let said = command.said.unwrap_or(context.now);
    head.said_time = if new { said } else { said.max(before.head.said_time) };
    if new {
        head.title.clone_from(&command.title);
        let with = context.summary_context(&head.policy);
        transition.after.summary = transition.after.summary.import(&command.summaries, &with);
        transition.tell_segments(&before.summary);
    }
    let head = &mut transition.after.head;
    Arc::make_mut(&mut head.labels).extend(command.labels.clone());
    if let Some(ends) = ends {
        end(&mut transition, ends, context);
    }
    let place = |it: Irregularity| Irregularity { index: kept[it.index], ..it };
    let irregularities = memorized.irregularities.into_iter().map(place).collect();
    Ok(Imported { transition: Some(transition), irregularities, skipped })
}

/// The conversation as it was before an earlier import of the same source ended it.
fn reopened<'c>(before: &'c Conversation, command: &Import) -> Cow<'c, Conversation> {
    let imported = before.head.ended.as_ref().is_some_and(|ending| &*ending.reason == IMPORTED);
    if !(imported && command.continues && command.ends.is_some()) {
        return Cow::Borrowed(before);
    }
    let mut reopened = before.clone();
    reopened.head.ended = None;
    Cow::Owned(reopened)
}

/// The indexes of the drafts whose ids name no utterance that is, or was, in the conversation.
fn fresh(before: &Conversation, part: &Memorize, context: &Context<'_>) -> Result<Vec<usize>, Need> {
    let ids = || part.drafts.iter().filter_map(|draft| draft.id.clone());
    let archived = match before.head.archived.is_empty() || ids().next().is_none() {
        true => None,
        false => Some(context.loaded.ids(|| ids().collect())?),
    };
    let was = |id: &str| before.sequence_of(id).is_some_and(|sequence| sequence < before.head.next);
    let taken = |id: &str| was(id) || archived.is_some_and(|ids| ids.contains_key(id));
    let kept = part.drafts.iter().enumerate().filter(|(_, draft)| !draft.id.as_deref().is_some_and(taken));
    Ok(kept.map(|(place, _)| place).collect())
}

fn part(all: &Memorize, kept: &[usize]) -> Memorize {
    Memorize {
        drafts: kept.iter().map(|place| all.drafts[*place].clone()).collect(),
        tokens: kept.iter().map(|place| all.tokens[*place]).collect(),
        state: None,
        ..*all
    }
}

fn end(transition: &mut Transition, ends: &Ends, context: &Context<'_>) {
    let head = &mut transition.after.head;
    head.open = None;
    head.awaits_answer = false;
    head.ended = Some(Arc::new(Ending::at(ends.time, IMPORTED.into())));
    transition.renew_closing(context);
    let Some(ending) = &mut transition.after.head.ended else { return };
    let ending = Arc::make_mut(ending);
    if ends.title.is_some() {
        ending.title.clone_from(&ends.title);
    }
    if ends.summary.is_some() {
        ending.summary.clone_from(&ends.summary);
        ending.awaits = None;
    }
}
