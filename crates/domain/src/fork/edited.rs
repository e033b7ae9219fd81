//! An edit as a fork: the conversation before an utterance, and then something else.

use std::sync::Arc;

use crate::{
    Conversation, Draft, Refusal, Result, Sequence, Undecided, Utterance,
    change::Context,
    fork::{Fork, Forked, freeze, origin::Copied, start},
    locate, memorize,
    segment::Summary,
    update::UpdateUtterance,
};

/// A fork in which an utterance is changed.
#[derive(Clone, Debug)]
pub struct ForkEdited {
    /// The fork; the utterance determines its point.
    pub fork: Fork,
    /// The utterance, and the change to it.
    pub update: UpdateUtterance,
}

/// A conversation that was forked before an utterance.
#[derive(Clone, Debug)]
pub struct ForkedEdited {
    /// Both conversations.
    pub forked: Forked,
    /// The utterance as it is in the fork, where it is the newest.
    pub utterance: Arc<Utterance>,
}

/// Forks `before` in front of the unit of an utterance; the fork continues with the unit up to the utterance,
/// which is changed according to `command`.
///
/// The repeated utterances keep their place, turn, given id and [origin](crate::fork::origin), and
/// are memorized like any others, so they can cause evictions. The other conversation is not changed.
///
/// Refuses an id that names no stored utterance, an utterance that is forgotten, content that is not
/// accepted, and a revision that is not the expected one.
pub fn fork_edited(
    before: &Conversation,
    command: &ForkEdited,
    context: &Context<'_>,
) -> Result<ForkedEdited, Undecided> {
    before.expect(command.update.expected)?;
    let id = &command.update.id;
    let found = locate::by_ids(before, std::slice::from_ref(id), context.loaded)?;
    let target = found.first().ok_or_else(|| locate::unknown(id))?;
    if target.forgotten {
        let text = "names a soft-forgotten utterance: Restore it first";
        return Err(Refusal::invalid("utterance_id", text).into());
    }
    let unit = locate::unit_of(before, target, context.loaded)?;
    let changed = command.update.applied(&unit, target.sequence, before.head.identity.encoding, context)?;
    let said: Vec<_> = changed.iter().take_while(|member| member.sequence <= target.sequence).collect();
    let at = Sequence(target.unit.get() - 1);
    let mut fork = start(before, at, &command.fork, context)?;
    let drafts: Vec<Draft> = said.iter().map(|member| draft(member, target)).collect();
    let tokens: Vec<u32> = said.iter().map(|member| member.tokens).collect();
    memorize::join(&mut fork, &drafts, &tokens, context)?;
    let places = (at.next().0..).map(Sequence).zip(&said);
    let copies = places.flat_map(|(place, member)| copies(before, (place, member), target));
    fork.after.head.note_copies(copies);
    fork.evict(context)?;
    let newest = fork.after.window.last().or_else(|| fork.change.appended.last());
    let utterance = newest.ok_or_else(|| locate::unknown(id))?.clone();
    let parent = freeze(before, command.fork.branch);
    Ok(ForkedEdited { forked: Forked { parent, fork: fork.finish(&Summary::default()) }, utterance })
}

/// Of what `member` is a copy at `place` of the fork; marked as edited for the utterance whose content is changed.
fn copies(
    before: &Conversation,
    (place, member): (Sequence, &Utterance),
    target: &Utterance,
) -> impl Iterator<Item = Copied> {
    let is_edited = member.sequence == target.sequence && member.content != target.content;
    let origins = before.head.origins_at(member.sequence).into_iter();
    origins.map(move |from| Copied { first: place, last: place, edited: from.edited || is_edited, ..from })
}

/// `member` as a draft for the fork, without its original content and without the mark of a late result.
fn draft(member: &Utterance, target: &Utterance) -> Draft {
    let mut more = member.more.clone();
    if let Some(more) = &mut more {
        more.original = None;
        more.late = None;
    }
    Draft {
        id: member.given_id().map(Box::from),
        role: member.role,
        content: member.content.clone(),
        turn: Some(member.turn),
        create_time: (member.sequence != target.sequence).then_some(member.create_time),
        pinned: member.pinned,
        more: more.filter(|more| **more != Default::default()),
    }
}
