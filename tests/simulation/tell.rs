//! The wording of a story.

use utterd::{
    domain::{Conversation, Ranges, Timestamp, Utterance, state::StateChange, update::UpdateUtterance},
    engine::{self, Address, Edit, EngineError, MemorizeCall, ToForget},
    store::{Commit, Write},
};

use crate::{
    calls::{Answer, Call},
    ledger::By,
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
        Call::Memorize(call) => format!("Memorize {}{}", contents(call), with_state(call)),
        Call::Replace(call, after) => {
            format!("Memorize behind {after} {}{}", contents(call), with_state(call))
        }
        Call::Forget(call) => match &call.forget {
            ToForget::Told(forget) => {
                let instruction = forget.instruction.at(Timestamp(0));
                format!("Forget {instruction} ({})", if forget.hard { "hard" } else { "soft" })
            }
            ToForget::Named(forget) => format!("Forget {:?} ({:?})", forget.selector, forget.how),
        },
        Call::Restore(call) => format!("Restore {:?}", call.command.ids),
        Call::Edit(call, says) => edit(call, says.as_ref()),
        Call::State(call) => format!("UpdateState {}", changed(&call.command.change)),
        Call::Update(call) => format!("UpdateConversation {:?}", call.command.title),
        Call::End(_) => "EndConversation".to_owned(),
        Call::Create(_) => "CreateConversation".to_owned(),
        Call::Delete(_) => "DeleteConversation".to_owned(),
        Call::Fork(call) => {
            let active = if call.activate { ", active" } else { "" };
            format!("ForkConversation at {:?} as {:?}{active}", call.at.map(|at| at.get()), call.id)
        }
        Call::Compact(call) => {
            format!("CompactConversation {:?}, summarised: {}", call.command.extent, call.command.summarises)
        }
        Call::Undo(_) => "UndoCompaction".to_owned(),
        Call::Capacity(_) => "GetCapacityInfo".to_owned(),
        Call::Get(_) => "GetConversation".to_owned(),
        Call::List(_) => "ListUtterances".to_owned(),
        Call::Export(_) => "ExportConversation".to_owned(),
        Call::Remember(call) => format!("Remember {:?}", call.prompt),
        Call::Conversations(list) => format!("ListConversations of {:?} in {:?}", list.recipient, list.order),
    };
    let address = call.address().map(|address| address_of(&address)).unwrap_or_default();
    let id = call.attempt().map(|attempt| format!(" as {}", attempt.id)).unwrap_or_default();
    format!("{what}{address}{id}")
}

fn contents(call: &utterd::engine::MemorizeCall) -> String {
    let words = |draft: &utterd::domain::Draft| {
        let mark = draft.content.split(' ').next().unwrap_or_default();
        format!("{} {mark}", draft.role)
    };
    call.drafts.iter().map(words).collect::<Vec<_>>().join(", ")
}

fn edit(call: &engine::Call<UpdateUtterance>, says: Option<&Edit>) -> String {
    let content = says.map(|edit| edit.content.split(' ').next().unwrap_or_default());
    let update = &call.command;
    format!(
        "UpdateUtterance {}: pin {:?}, notes {:?}, says {content:?}",
        update.id, update.pinned, update.metadata
    )
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

fn with_state(call: &MemorizeCall) -> String {
    call.state.as_ref().map(|change| format!(", state {}", changed(change))).unwrap_or_default()
}

fn changed(change: &StateChange) -> String {
    let set: Vec<_> = change.set.iter().map(|(name, _)| name).collect();
    format!("set {set:?}, delete {:?}", change.delete)
}
