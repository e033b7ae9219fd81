//! The wording of a story.

use utterd::{
    domain::{Conversation, Draft, Ranges, Utterance, state::StateChange},
    engine::{Address, EngineError},
    store::{Commit, Write},
};

use crate::{
    calls::{Answer, Call},
    ledger::By,
    naive::{Command, Doing},
};

/// Shortens the ids of engines in a text as far as they stay distinct.
pub fn short(text: &str) -> String {
    text.replace("00000000000000000000000", "~")
}

pub fn by(by: By) -> String {
    match by {
        By::Run(run) => format!("engine {run}"),
        By::Stranger => "stranger".to_owned(),
    }
}

pub fn commit(commit: &Commit) -> String {
    let writes = commit.writes.iter().map(|write| {
        let before = write.before().map_or_else(|| "nothing".to_owned(), |state| revision(state));
        match write {
            Write::Change { after, .. } => format!("{} {before} -> {}", write.key().id, revision(after)),
            Write::Delete { .. } => format!("{} {before} -> deleted", write.key().id),
        }
    });
    let pointers = commit.pointers.iter().map(|pointer| {
        format!("active for {}: {:?} -> {:?}", pointer.recipient.id, pointer.before, pointer.after)
    });
    let outcomes = commit.outcomes.iter().map(|(key, _)| format!("outcome of {}", key.request));
    writes.chain(pointers).chain(outcomes).collect::<Vec<_>>().join("; ")
}

pub fn call(call: &Call) -> String {
    let what = match call {
        Call::Do(command, _) => doing(&command.doing),
        Call::Delete(_) => "DeleteConversation".to_owned(),
        Call::Capacity(_) => "GetCapacityInfo".to_owned(),
        Call::Get(_) => "GetConversation".to_owned(),
        Call::List(_) => "ListUtterances".to_owned(),
        Call::Export(_) => "ExportConversation".to_owned(),
        Call::Remember(call) => format!("Remember {:?} of {:?}", call.prompt, call.scope),
        Call::Conversations(list) => format!("ListConversations of {:?} in {:?}", list.recipient, list.order),
    };
    let address = call.address().map(|address| address_of(&address)).unwrap_or_default();
    let id = call.attempt().map(|attempt| format!(" as {}", attempt.id)).unwrap_or_default();
    let expected = match call {
        Call::Do(Command { expected: Some(expected), .. }, _) => format!(", expecting revision {expected}"),
        _ => String::new(),
    };
    format!("{what}{address}{id}{expected}")
}

fn doing(doing: &Doing) -> String {
    match doing {
        Doing::Memorize(said) => {
            let behind = said.after.map(|after| format!(" behind {after}")).unwrap_or_default();
            let flags = [(said.lenient, " leniently"), (said.upsert, " or replace")];
            let flags: String = flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag).collect();
            let words: Vec<_> = said.drafts.iter().map(draft).collect();
            let state = said.state.as_ref().map(|change| format!(", state {}", changed(change)));
            let own = said.own.as_ref().map(|own| format!(", own state {}", changed(&own.change)));
            let values = format!("{}{}", state.unwrap_or_default(), own.unwrap_or_default());
            format!("Memorize{behind}{flags} {}{values}", words.join(", "))
        }
        Doing::Forget(selection, how) => {
            format!("Forget {:?} {:?} ({how:?})", selection.words, selection.criteria)
        }
        Doing::State(change) => format!("UpdateState {}", changed(change)),
        Doing::Own(own) => format!("UpdateState, own: {}", changed(&own.change)),
        other => format!("{other:?}"),
    }
}

/// What is said, without most of its text.
fn draft(draft: &Draft) -> String {
    let mark = draft.content.split(' ').next().unwrap_or_default();
    let calls: Vec<_> = draft.tool_calls().iter().map(|call| &*call.id).collect();
    let calls = if calls.is_empty() { String::new() } else { format!(" calls {}", calls.join(" ")) };
    let answers = draft.tool_call_id().map(|id| format!(" answers {id}")).unwrap_or_default();
    let id = draft.id.as_ref().map(|id| format!(" id {id}")).unwrap_or_default();
    let turn = draft.turn.map(|turn| format!(" turn {turn}")).unwrap_or_default();
    let pinned = if draft.pinned { " pinned" } else { "" };
    format!("{} {mark}{calls}{answers}{id}{turn}{pinned}", draft.role)
}

fn address_of(address: &Address) -> String {
    match (&address.conversation, &address.recipient) {
        (Some(id), _) => format!(" in {id}"),
        (None, Some(recipient)) => format!(" for {recipient}"),
        (None, None) => " for default".to_owned(),
    }
}

pub fn ending(result: &Result<Answer, EngineError>) -> String {
    match result {
        Ok(answer) => self::answer(answer),
        Err(error) => format!("ERROR {error}"),
    }
}

fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Now { after, change, outcome, .. } => {
            let ended = &outcome.ended;
            let appended: Ranges = change
                .iter()
                .flat_map(|change| &change.appended)
                .map(|utterance| utterance.sequence)
                .collect();
            let ended = ended.as_ref().map(|ended| format!(", {ended} ended")).unwrap_or_default();
            let nothing = if change.is_none() { ", nothing to change" } else { "" };
            format!("{} (memorized {appended}{ended}{nothing})", state(after))
        }
        Answer::Earlier(earlier) => {
            let outcome = &earlier.outcome;
            let seen = earlier.conversation.as_ref().map_or_else(|| "not there".to_owned(), |now| state(now));
            format!(
                "replayed: {} revision {} (memorized {}); now {seen}, with {}",
                outcome.conversation,
                outcome.revision,
                outcome.memorized,
                utterances(&earlier.utterances)
            )
        }
        Answer::State(read, _) => state(read),
        Answer::Listed(read, listed) => format!("{}: {}", state(read), utterances(listed)),
        Answer::Found(found) => {
            let one = |found: &utterd::engine::Found| {
                format!("{}:{}", found.state.key().id, found.utterance.sequence)
            };
            format!("found {:?}", found.iter().map(one).collect::<Vec<_>>())
        }
        Answer::Deleted(count) => format!("deleted, with {count} utterances"),
        Answer::Conversations(page) => {
            let told = page
                .heads
                .iter()
                .map(|(head, active)| format!("{} {} active {active}", head.identity.key.id, head.revision));
            format!("{:?}", told.collect::<Vec<_>>())
        }
    }
}

fn utterances<'a>(utterances: impl IntoIterator<Item = &'a std::sync::Arc<Utterance>>) -> Ranges {
    utterances.into_iter().map(|utterance| utterance.sequence).collect()
}

/// A conversation, its revision, and whether it has ended.
pub fn state(state: &Conversation) -> String {
    format!("{} {}", state.key().id, revision(state))
}

fn revision(state: &Conversation) -> String {
    let closed = if state.head.ended.is_some() { " closed" } else { "" };
    format!("revision {}{closed}", state.head.revision)
}

fn changed(change: &StateChange) -> String {
    let set: Vec<_> = change.set.iter().map(|(name, _)| name).collect();
    format!("set {set:?}, delete {:?}", change.delete)
}
