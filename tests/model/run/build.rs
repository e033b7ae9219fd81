//! Turns commands into calls: their numbers are fitted to what exists.

use prost::Message;
use prost_types::FieldMask;
use utterd::proto::{
    CompactConversationRequest, CreateConversationRequest, DeleteConversationRequest, EndConversationRequest,
    ForgetMode, ForgetRequest, ForkConversationRequest, MemorizeRequest, RestoreRequest,
    UndoCompactionRequest, UpdateConversationRequest, UpdateStateRequest, UpdateUtteranceRequest,
};

use super::{Run, messages};
use crate::{
    commands::{Attempt, Command, How, Place, Step},
    naive::{Call, Conversation, Criterion, Facts, Said, Selection},
    text::{marker, markers},
};

impl Place {
    /// The conversation id and the recipient id that it stands for.
    pub fn ids(self) -> (&'static str, &'static str) {
        match self {
            Self::First => ("first", ""),
            Self::Second => ("second", "ann"),
            Self::Active => ("", ""),
            Self::Forked => ("forked", ""),
        }
    }
}

/// The start of every request.
struct Heading {
    conversation_id: String,
    recipient_id: String,
    request_id: String,
    expected_revision: Option<i64>,
}

impl Run {
    /// The call of a command that can change something; `None` for the others.
    pub(super) fn call(&mut self, step: &Step) -> Option<Call> {
        let (id, recipient) = step.at.ids();
        let found = self.world.find(id, recipient).cloned();
        let found = found.as_ref();
        let mut heading = |attempt: &Attempt| self.heading(step.at, attempt, found);
        Some(match &step.command {
            Command::Memorize { says, lenient, instead, upsert, messages, state, own, attempt } => {
                let heading = heading(attempt);
                let replace_after = found.zip(*instead).map(|(one, count)| point(one, count));
                let left = found.zip(replace_after).map(|(one, after)| left(one, after));
                let mut utterances = self.drafts(says, left.as_ref().or(found));
                let messages = messages.then(|| messages::written(&mut utterances, self.markers)).flatten();
                let request = MemorizeRequest {
                    utterances,
                    replace_after,
                    lenient: *lenient,
                    upsert: *upsert,
                    state: state.as_ref().map(|values| self.values(values, found)),
                    recipient_state: own.as_ref().map(|values| self.own_values(values, recipient)),
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..Default::default()
                };
                Call::Memorize(request, messages)
            }
            Command::Forget { form, english, hard, dry_run, told, attempt } => {
                let heading = heading(&Attempt { named: attempt.named && !dry_run, ..*attempt });
                let (instructions, selection) = form.spell(found, *english);
                let mode = if *hard { ForgetMode::Hard } else { ForgetMode::Unspecified };
                let request = ForgetRequest {
                    instructions,
                    mode: mode.into(),
                    dry_run: *dry_run,
                    return_messages: *told,
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..Default::default()
                };
                Call::Forget(request, selection)
            }
            Command::Drop { named, how, dry_run, told, attempt } => {
                let heading = heading(&Attempt { named: attempt.named && !dry_run, ..*attempt });
                let selector = named.selector(found);
                let mode = if *how == How::Soft { ForgetMode::Soft } else { ForgetMode::Hard };
                let request = ForgetRequest {
                    selector: Some(selector.clone()),
                    exact: *how == How::Exact,
                    mode: mode.into(),
                    dry_run: *dry_run,
                    return_messages: *told,
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..Default::default()
                };
                let criteria = vec![Criterion::Named(selector)];
                Call::Forget(request, Some(Selection { criteria, take: None, english: false }))
            }
            Command::Restore { picks, unknown, attempt } => {
                let named = picks.iter().filter_map(|pick| forgotten_id(found?, *pick));
                let nobody = unknown.then(|| "nobody".to_owned());
                restore(heading(attempt), named.chain(nobody).collect())
            }
            Command::Mark { pick, pinned, note, attempt } => {
                let target = found.filter(|one| !one.said.is_empty());
                let said = target.map(|one| &one.said[usize::from(*pick) % one.said.len()]);
                mark(heading(attempt), said, *pinned, *note)
            }
            Command::Update { policy, title, attempt } => {
                let heading = heading(attempt);
                Call::Update(UpdateConversationRequest {
                    title: title.map(|title| format!("title {title}")).unwrap_or_default(),
                    policy: policy.clone(),
                    update_mask: mask([(policy.is_some(), "policy"), (title.is_some(), "title")]),
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..UpdateConversationRequest::default()
                })
            }
            Command::Create { policy, cl100k, attempt } => {
                let heading = heading(attempt);
                Call::Create(CreateConversationRequest {
                    policy: policy.clone(),
                    encoding: if *cl100k { "cl100k_base".to_owned() } else { String::new() },
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    ..CreateConversationRequest::default()
                })
            }
            Command::Keep { values, own: true, attempt } => self.keep_own(values, attempt, recipient),
            Command::Keep { values, own: false, attempt } => {
                let heading = heading(attempt);
                Call::Keep(UpdateStateRequest {
                    change: Some(self.values(values, found)),
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..Default::default()
                })
            }
            Command::Compact { count, no_summary, preview, attempt } => {
                let heading = heading(&Attempt { named: attempt.named && !preview, ..*attempt });
                Call::Compact(CompactConversationRequest {
                    count: Some(i32::from(*count)),
                    no_summary: *no_summary,
                    preview: *preview,
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..Default::default()
                })
            }
            Command::Fork { back, attempt } => {
                let heading = heading(attempt);
                let said = found.map_or(0, |one| one.said.len());
                Call::Fork(ForkConversationRequest {
                    at_sequence: (*back > 0).then(|| (said + 1 - usize::from(*back) % (said + 2)) as i64),
                    new_conversation_id: "forked".to_owned(),
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    ..Default::default()
                })
            }
            Command::Undo { attempt } => {
                let heading = heading(attempt);
                Call::Undo(UndoCompactionRequest {
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                })
            }
            Command::End { attempt } => {
                let heading = heading(attempt);
                Call::End(EndConversationRequest {
                    reason: "all is said".to_owned(),
                    conversation_id: heading.conversation_id,
                    recipient_id: heading.recipient_id,
                    request_id: heading.request_id,
                    expected_revision: heading.expected_revision,
                    wait_for_llm: false,
                })
            }
            Command::Delete { attempt } => {
                let Heading { conversation_id, expected_revision, .. } = heading(attempt);
                Call::Delete(DeleteConversationRequest { conversation_id, expected_revision })
            }
            Command::Retry(back) => {
                let call = self.earlier(*back)?;
                self.marked_anew(call)
            }
            Command::Reuse(back) => altered(self.earlier(*back)?),
            _ => return None,
        })
    }

    fn heading(&mut self, at: Place, attempt: &Attempt, found: Option<&Conversation>) -> Heading {
        let (conversation_id, recipient_id) = at.ids();
        let revision = found.map_or(0, |conversation| conversation.revision);
        let (request_id, expected_revision) = self.named(attempt, revision);
        Heading {
            conversation_id: conversation_id.to_owned(),
            recipient_id: recipient_id.to_owned(),
            request_id,
            expected_revision,
        }
    }

    /// The request id of an attempt, and the revision that it expects.
    pub(super) fn named(&mut self, attempt: &Attempt, revision: i64) -> (String, Option<i64>) {
        self.requests += u32::from(attempt.named);
        let request_id = if attempt.named { format!("request {}", self.requests) } else { String::new() };
        (request_id, attempt.expects.map(|off| (revision + i64::from(off)).max(0)))
    }

    /// A call that named its attempt, counted back from the last one.
    fn earlier(&self, back: u8) -> Option<Call> {
        self.sent.iter().nth_back(usize::from(back) % self.sent.len().max(1)).cloned()
    }

    /// A call whose outcome is forgotten is made again, and then says something new.
    fn marked_anew(&mut self, mut call: Call) -> Call {
        if self.world.remembers(&call, self.now()) {
            return call;
        }
        if let Call::Memorize(request, messages) = &mut call {
            for (place, said) in request.utterances.iter_mut().enumerate() {
                self.markers += 1;
                let (own, new) = (markers(&said.encode_to_vec()), marker(self.markers));
                for old in own.into_iter().map(marker) {
                    let message = messages.iter_mut().flatten().nth(place);
                    message.into_iter().for_each(|message| *message = message.replace(&old, &new));
                    said.content = said.content.replace(&old, &new);
                    said.extras_json = said.extras_json.replace(&old, &new);
                    let calls = said.tool_calls.iter_mut();
                    calls.for_each(|call| call.arguments_json = call.arguments_json.replace(&old, &new));
                }
            }
        }
        call
    }
}

/// The point after which `count` were said, or a few of them.
fn point(conversation: &Conversation, count: u8) -> i64 {
    let said = conversation.said.len();
    let most = if count.is_multiple_of(11) { said } else { said.min(6) };
    (said - usize::from(count) % (most + 1)) as i64
}

/// The conversation without what comes after a point.
fn left(conversation: &Conversation, after: i64) -> Conversation {
    let mut left = conversation.clone();
    left.erase_behind(after, &mut Facts::default());
    left
}

fn restore(heading: Heading, utterance_ids: Vec<String>) -> Call {
    Call::Restore(RestoreRequest {
        utterance_ids,
        conversation_id: heading.conversation_id,
        recipient_id: heading.recipient_id,
        request_id: heading.request_id,
        expected_revision: heading.expected_revision,
    })
}

fn mark(heading: Heading, said: Option<&Said>, pinned: Option<bool>, note: Option<u8>) -> Call {
    Call::Mark(UpdateUtteranceRequest {
        utterance_id: said.map_or("nobody".to_owned(), |said| said.id.clone()),
        pinned: pinned.unwrap_or(false),
        metadata: note.iter().flat_map(|note| notes(said, *note)).collect(),
        update_mask: mask([(pinned.is_some(), "pinned"), (note.is_some(), "metadata")]),
        conversation_id: heading.conversation_id,
        recipient_id: heading.recipient_id,
        request_id: heading.request_id,
        expected_revision: heading.expected_revision,
        ..Default::default()
    })
}

fn mask(paths: [(bool, &str); 2]) -> Option<FieldMask> {
    let set = paths.into_iter().filter(|(set, _)| *set).map(|(_, path)| path.to_owned());
    Some(FieldMask { paths: set.collect() })
}

/// The id of something soft-forgotten; of anything if there is nothing.
fn forgotten_id(conversation: &Conversation, which: u8) -> Option<String> {
    let forgotten = conversation.sequences(|said| said.is_stored() && said.forgotten);
    match forgotten.get(usize::from(which) % forgotten.len().max(1)) {
        Some(sequence) => Some(conversation.get(*sequence).id.clone()),
        None => conversation.any_id(which),
    }
}

/// Notes that contain the marker of what they are about.
fn notes(said: Option<&Said>, note: u8) -> Vec<(String, String)> {
    let number = said.and_then(|said| said.markers.first().copied());
    let about = number.map(|number| ("about".to_owned(), marker(number)));
    let team = note.is_multiple_of(2).then(|| ("team".to_owned(), "red".to_owned()));
    about.into_iter().chain(team).collect()
}

/// Another request with the same id.
fn altered(mut call: Call) -> Call {
    match &mut call {
        Call::Memorize(request, _) => request.lenient = !request.lenient,
        Call::Forget(request, _) if request.exact => {
            let selector = request.selector.iter_mut();
            selector.for_each(|selector| selector.utterance_ids.push("other".to_owned()));
        }
        Call::Forget(request, _) => {
            let soft = request.mode() != ForgetMode::Hard;
            request.mode = if soft { ForgetMode::Hard } else { ForgetMode::Soft }.into();
        }
        Call::Restore(request) => request.utterance_ids.push("nobody".to_owned()),
        Call::Mark(request) => request.pinned = !request.pinned,
        Call::Update(request) => request.title.push('!'),
        Call::Create(request) => request.title.push('!'),
        Call::Keep(request) => {
            request.change.get_or_insert_default().delete.push("other".to_owned());
        }
        Call::Fork(request) => request.title.push('!'),
        Call::Compact(request) => request.no_summary = !request.no_summary,
        Call::Undo(request) => request.expected_revision = Some(request.expected_revision.unwrap_or(0) + 1),
        Call::End(request) => request.reason.push('!'),
        Call::Delete(_) => {}
    }
    call
}
