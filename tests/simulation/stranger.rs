//! Another process, which changes what an engine is about to change.

use std::sync::Arc;

use utterd::{
    domain::{
        ChangeId, Conversation, Draft, Loaded, More, Role, Transition,
        change::Context,
        end::{End, end},
        memorize::{Memorize, memorize},
        update::{Update, update},
    },
    engine::Clock,
    store::{Commit, PointerWrite, RecipientKey, Write},
};

use crate::{
    clock::WORDS,
    disk::Disk,
    ledger::By,
    naive::{self, Command, Doing},
};

/// Changes one of the conversations that `commit` changes.
pub fn interfere(disk: &Disk, commit: &Commit) {
    let Some(write) = disk.dice.lock().pick(&commit.writes).filter(|write| !write.key().id.is_of_state())
    else {
        return;
    };
    let ledger = disk.ledger.lock();
    let Some(before) = ledger.newest(&write.key().id).and_then(|version| version.state.clone()) else {
        return;
    };
    let is_active = ledger.active(&before.head.identity.recipient).as_ref() == Some(&before.key().id);
    drop(ledger);
    let kind = disk.dice.lock().weighted(&[(4, Kind::Title), (4, Kind::Words), (2, Kind::End)]);
    let doing = kind.doing();
    let Some(transition) = change(disk, &before, &doing) else { return };
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
    let conversation = Some(before.key().id.to_string());
    let command = Command { conversation, recipient: None, expected: None, doing };
    let _ = disk.apply(&commit, By::Stranger, &name, Some(&command));
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Title,
    Words,
    End,
}

impl Kind {
    fn doing(self) -> Doing {
        match self {
            Self::Title => Doing::Update { title: Some("elsewhere".to_owned()), policy: None },
            Self::Words => {
                let drafts = vec![Draft::of(Role::User, "said elsewhere", More::default())];
                let (lenient, upsert, after, state, own) = Default::default();
                Doing::Memorize(naive::Memorize { drafts, lenient, upsert, after, state, own })
            }
            Self::End => Doing::End("elsewhere".to_owned()),
        }
    }
}

/// The change by the rules, unless they refuse or need more data.
fn change(disk: &Disk, before: &Conversation, doing: &Doing) -> Option<Transition> {
    let now = disk.clock.now().max(before.head.update_time);
    let counter = WORDS(before.head.identity.encoding);
    let context = Context { now, counter, loaded: &Loaded::default(), llm: false };
    let (encoding, expected, state, upsert, lenient) = Default::default();
    match doing {
        Doing::Update { title, .. } => {
            let title = title.as_deref().map(|title| Some(title.into()));
            update(before, &Update { title, ..Update::default() }, &context).ok()
        }
        Doing::Memorize(said) => {
            let (drafts, tokens) = (said.drafts.clone(), vec![6]);
            let words = Memorize { drafts, tokens, encoding, expected, lenient, upsert, state };
            memorize(before, &words, &context).map(|said| said.transition).ok()
        }
        Doing::End(reason) => {
            let reason = reason.as_str().into();
            end(before, &End { reason, expected: None }, &context).ok()
        }
        _ => None,
    }
}
