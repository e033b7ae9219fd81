//! Another process, which changes what an engine is about to change.

use std::sync::Arc;

use utterd::{
    domain::{
        ChangeId, Conversation, Draft, Encoding, Loaded, More, Role, Transition, Verdict,
        change::Context,
        end::{End, end},
        memorize::{Memorize, memorize},
        update::{Update, update},
    },
    engine::Clock,
    store::{Commit, PointerWrite, RecipientKey, Write},
};

use crate::{clock::WORDS, disk::Disk, ledger::By};

/// Changes one of the conversations that `commit` changes.
pub fn interfere(disk: &Disk, commit: &Commit) {
    let Some(write) = disk.dice.lock().pick(&commit.writes) else { return };
    let ledger = disk.ledger.lock();
    let Some(before) = ledger.newest(&write.key().id).and_then(|version| version.state.clone()) else {
        return;
    };
    let is_active = ledger.active(&before.head.identity.recipient).as_ref() == Some(&before.key().id);
    drop(ledger);
    let kind = disk.dice.lock().weighted(&[(4, Kind::Title), (4, Kind::Words), (2, Kind::End)]);
    let Some(transition) = change(disk, &before, kind) else { return };
    let mut after = transition.after;
    after.head.change = ChangeId(disk.clock.unique().to_be_bytes());
    let ended = after.head.ended.is_some();
    let write = Write::Change {
        before: Some(before.clone()),
        changes: [Arc::new(transition.change)].into_iter().collect(),
        after: Arc::new(after),
    };
    let identity = &before.head.identity;
    let pointer = PointerWrite {
        recipient: RecipientKey { namespace: identity.key.namespace.clone(), id: identity.recipient.clone() },
        before: Some(identity.key.id.clone()),
        after: None,
    };
    let pointers = (ended && is_active).then_some(pointer).into_iter().collect();
    let commit = Commit { writes: vec![write], pointers, ..Commit::default() };
    let name = format!("another process changes {} ({kind:?}), which", before.key().id);
    let _ = disk.apply(&commit, By::Stranger, &name);
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Title,
    Words,
    End,
}

/// The change by the rules, unless they refuse or need more data.
fn change(disk: &Disk, before: &Conversation, kind: Kind) -> Option<Transition> {
    let now = disk.clock.now().max(before.head.update_time);
    let counter = WORDS(before.head.identity.encoding);
    let context = Context { now, counter, loaded: &Loaded::default(), llm: false };
    let verdict = match kind {
        Kind::Title => update(before, &titled(), &context),
        Kind::Words => memorize(before, &words(), &context).map(|said| said.map(|said| said.transition)),
        Kind::End => {
            end(before, &End { reason: "elsewhere".into(), expected: None }, &context).map(Verdict::Decided)
        }
    };
    match verdict {
        Ok(Verdict::Decided(transition)) => Some(transition),
        _ => None,
    }
}

fn titled() -> Update {
    Update { title: Some(Some("elsewhere".into())), ..Update::default() }
}

fn words() -> Memorize {
    let draft = Draft::of(Role::User, "said elsewhere", More::default());
    let (encoding, lenient) = (Encoding::default(), false);
    Memorize {
        drafts: vec![draft],
        tokens: vec![6],
        encoding,
        expected: None,
        lenient,
        upsert: false,
        state: None,
    }
}
