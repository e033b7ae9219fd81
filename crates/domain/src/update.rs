//! Creating a conversation, and changing what is kept about it and its utterances.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Conversation, Encoding, Identity, More, Policy, Result, Revision, Sequence, Timestamp, Transition,
    Undecided, Utterance, change::Context, edit::NewContent, locate, policy::PolicyUpdate,
};

/// What a new conversation starts with.
#[derive(Clone, Debug)]
pub struct Create {
    /// What never changes.
    pub identity: Identity,
    /// Its limits.
    pub policy: Policy,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// The caller's labels.
    pub labels: BTreeMap<String, String>,
}

/// Creates the first revision of a conversation in which nothing was said yet.
pub fn create(command: &Create, now: Timestamp) -> Transition {
    let before = Conversation::new(command.identity.clone(), command.policy.clone());
    let mut transition = Transition::from(&before, now);
    transition.after.head.title.clone_from(&command.title);
    transition.after.head.labels = Arc::new(command.labels.clone());
    transition.finish(&before.summary)
}

/// Changes to a conversation; `None` leaves a value unchanged.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// A new title; the inner `None` replaces it by one made from what was said.
    pub title: Option<Option<Arc<str>>>,
    /// All labels, replacing the old ones.
    pub labels: Option<BTreeMap<String, String>>,
    /// Changes to the limits.
    pub policy: Option<PolicyUpdate>,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// Changes the conversation. Smaller limits evict, fold and drop immediately.
pub fn update(
    before: &Conversation,
    command: &Update,
    context: &Context<'_>,
) -> Result<Transition, Undecided> {
    before.expect(command.expected)?;
    let mut transition = Transition::from(before, context.now);
    let head = &mut transition.after.head;
    if let Some(title) = &command.title {
        head.title.clone_from(title);
        transition.renew_title(context);
    }
    let head = &mut transition.after.head;
    if let Some(labels) = &command.labels {
        head.labels = Arc::new(labels.clone());
    }
    if let Some(update) = &command.policy {
        head.policy = update.apply(&before.head.policy, "policy")?;
        let with = context.summary_context(&head.policy);
        if head.policy.llm_summaries == Some(false) {
            transition.after.summary = transition.after.summary.settle(None);
            transition.settle_closing();
        }
        transition.after.summary = transition.after.summary.fit(&with);
        transition.evict_by_policy(context)?;
    }
    Ok(transition.finish(&before.summary))
}

/// Changes to one utterance; `None` leaves a value unchanged.
#[derive(Clone, Debug)]
pub struct UpdateUtterance {
    /// The utterance's id.
    pub id: Box<str>,
    /// Whether its unit is important.
    pub pinned: Option<bool>,
    /// All of its metadata, replacing the old.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Its new content.
    pub content: Option<NewContent>,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// An utterance that was changed.
#[derive(Clone, Debug)]
pub struct UpdatedUtterance {
    /// What changed; `None` if nothing did.
    pub transition: Option<Transition>,
    /// The utterance as it is now.
    pub utterance: Arc<Utterance>,
}

/// Pins or unpins the unit of an utterance, replaces its metadata, or edits its content. Unpinning it, or
/// content with more tokens, causes an eviction if the window is then above a limit.
///
/// An edit keeps the first content, and a segment that covers the utterance is updated to the new one.
///
/// Refuses an id that names no stored utterance, and content that is not accepted.
pub fn update_utterance(
    before: &Conversation,
    command: &UpdateUtterance,
    context: &Context<'_>,
) -> Result<UpdatedUtterance, Undecided> {
    before.expect(command.expected)?;
    let found = locate::by_ids(before, std::slice::from_ref(&command.id), context.loaded)?;
    let target = found.first().ok_or_else(|| locate::unknown(&command.id))?;
    let unit = locate::unit_of(before, target, context.loaded)?;
    let changed = command.applied(&unit, target.sequence, before.head.identity.encoding, context)?;
    let utterance =
        changed.iter().find(|member| member.sequence == target.sequence).unwrap_or(target).clone();
    let both = unit.iter().cloned().zip(changed.iter().cloned());
    let (were, rewritten): (Vec<_>, Vec<_>) = both.filter(|(was, now)| was != now).unzip();
    if rewritten.is_empty() {
        return Ok(UpdatedUtterance { transition: None, utterance });
    }
    let mut transition = Transition::from(before, context.now);
    transition.change.updated = rewritten.iter().map(|member| member.sequence).collect();
    transition.rewrite_texts(&were, rewritten);
    if utterance.content != target.content {
        transition.say_anew(&changed, context)?;
    }
    transition.evict(context)?;
    if utterance.content != target.content {
        transition.renew_closing(context);
    }
    let transition = Some(transition.finish(&before.summary));
    Ok(UpdatedUtterance { transition, utterance })
}

impl UpdateUtterance {
    /// The members of `unit` after the change to the one with `target`.
    pub(super) fn applied(
        &self,
        unit: &[Arc<Utterance>],
        target: Sequence,
        encoding: Encoding,
        context: &Context<'_>,
    ) -> Result<Vec<Arc<Utterance>>> {
        let changed = |member: &Arc<Utterance>| {
            let mut changed = (**member).clone();
            changed.pinned = self.pinned.unwrap_or(member.pinned);
            if member.sequence == target {
                replace_metadata(&mut changed, self.metadata.as_ref());
                if let Some(content) = &self.content {
                    changed = content.applied(&changed, encoding, context)?;
                }
            }
            Ok(Arc::new(changed))
        };
        unit.iter().map(changed).collect()
    }
}

fn replace_metadata(utterance: &mut Utterance, metadata: Option<&BTreeMap<String, String>>) {
    let Some(metadata) = metadata else { return };
    let mut more: More = utterance.more.take().map_or_else(More::default, |more| *more);
    more.metadata.clone_from(metadata);
    utterance.more = (more != More::default()).then(|| Box::new(more));
}
