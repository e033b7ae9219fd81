//! Creating a conversation, and changing what is kept about it and its utterances.

use std::{collections::BTreeMap, sync::Arc};

use crate::domain::{
    Conversation, Identity, More, Need, Policy, Refusal, Revision, Timestamp, Transition, Utterance, Verdict,
    change::Context, locate, policy::PolicyUpdate,
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

/// The first revision of a conversation in which nothing was said yet.
pub fn create(command: &Create, now: Timestamp) -> Transition {
    let before = Conversation::new(command.identity.clone(), command.policy);
    let mut transition = Transition::from(&before, now);
    transition.after.head.title.clone_from(&command.title);
    transition.after.head.labels = Arc::new(command.labels.clone());
    transition.finish(&before.summary)
}

/// Changes to a conversation; `None` leaves as it is.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// A title, or none.
    pub title: Option<Option<Arc<str>>>,
    /// All labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// Limits.
    pub policy: Option<PolicyUpdate>,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
}

/// Changes the conversation. Smaller limits evict, fold and drop at once.
pub fn update(
    before: &Conversation,
    command: &Update,
    context: &Context<'_>,
) -> Result<Verdict<Transition>, Refusal> {
    before.expect(command.expected)?;
    let mut transition = Transition::from(before, context.now);
    let head = &mut transition.after.head;
    if let Some(title) = &command.title {
        head.title.clone_from(title);
        transition.retell(context.counter);
    }
    let head = &mut transition.after.head;
    if let Some(labels) = &command.labels {
        head.labels = Arc::new(labels.clone());
    }
    if let Some(update) = &command.policy {
        head.policy = update.apply(&before.head.policy, "policy")?;
        let limit = head.policy.summary_token_limit;
        transition.after.summary = transition.after.summary.fit(limit);
        if let Err(need) = transition.evict(context) {
            return Ok(Verdict::Need(need));
        }
    }
    Ok(Verdict::Decided(transition.finish(&before.summary)))
}

/// Changes to one utterance; `None` leaves as it is.
#[derive(Clone, Debug)]
pub struct UpdateUtterance {
    /// The utterance.
    pub id: Box<str>,
    /// Whether its unit is important.
    pub pinned: Option<bool>,
    /// All of its metadata.
    pub metadata: Option<BTreeMap<String, String>>,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
}

/// An utterance that was changed.
#[derive(Clone, Debug)]
pub struct UpdatedUtterance {
    /// What changed; `None` when everything was so already.
    pub transition: Option<Transition>,
    /// The utterance as it is now.
    pub utterance: Arc<Utterance>,
}

/// Pins or unpins the unit of an utterance, or replaces its metadata. Unpinning evicts when
/// the window is above a limit.
///
/// Refuses an id that names no stored utterance.
pub fn update_utterance(
    before: &Conversation,
    command: &UpdateUtterance,
    context: &Context<'_>,
) -> Result<Verdict<UpdatedUtterance>, Refusal> {
    before.expect(command.expected)?;
    let found = match locate::by_ids(before, std::slice::from_ref(&command.id), context.loaded) {
        Ok(found) => found.map_err(locate::unknown)?,
        Err(need) => return Ok(Verdict::Need(need)),
    };
    let Some(target) = found.first() else { return Err(locate::unknown(&command.id)) };
    match rewrite(before, target, command, context) {
        Ok(updated) => Ok(Verdict::Decided(updated)),
        Err(need) => Ok(Verdict::Need(need)),
    }
}

fn rewrite(
    before: &Conversation,
    target: &Arc<Utterance>,
    command: &UpdateUtterance,
    context: &Context<'_>,
) -> Result<UpdatedUtterance, Need> {
    let mut transition = Transition::from(before, context.now);
    let (mut utterance, mut rewritten) = (target.clone(), Vec::new());
    for member in locate::unit_of(before, target, context.loaded)? {
        let mut changed = (*member).clone();
        changed.pinned = command.pinned.unwrap_or(member.pinned);
        if member.sequence == target.sequence {
            replace_metadata(&mut changed, command.metadata.as_ref());
        }
        if changed == *member {
            continue;
        }
        let changed = Arc::new(changed);
        if member.sequence == target.sequence {
            utterance = changed.clone();
        }
        transition.change.updated.add(member.sequence);
        rewritten.push(changed);
    }
    if rewritten.is_empty() {
        return Ok(UpdatedUtterance { transition: None, utterance });
    }
    transition.rewrite(rewritten);
    transition.evict(context)?;
    let transition = Some(transition.finish(&before.summary));
    Ok(UpdatedUtterance { transition, utterance })
}

fn replace_metadata(utterance: &mut Utterance, metadata: Option<&BTreeMap<String, String>>) {
    let Some(metadata) = metadata else { return };
    let mut more: More = utterance.more.take().map_or_else(More::default, |more| *more);
    more.metadata.clone_from(metadata);
    utterance.more = (more != More::default()).then(|| Box::new(more));
}
