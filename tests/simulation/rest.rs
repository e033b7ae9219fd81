//! The final state: the engines return what a new one over the same store returns.

use std::sync::Arc;

use utterd::{
    domain::{Conversation, ConversationId, capacity::Capacity},
    engine::{Address, Caller, Engine, EngineError, Found, ListConversations, ListOrder, Operation},
};

use crate::{
    calls::{Answer, Call, recipient},
    checks::Wrong,
    habits::RECIPIENTS,
    ledger::{By, Version, shown},
    naive,
    plan::{list, remember},
    world::World,
};

/// Compares each engine with a new one, and both with what took effect.
pub async fn look(world: &Arc<World>) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    let fresh = world.fresh();
    let ids: Vec<_> = world.disk.ledger.lock().conversations.keys().cloned().collect();
    for host in 0..world.hosts() {
        let (run, engine, _) = world.engine(host);
        let rest = Rest { run, engine, fresh: fresh.clone() };
        for id in &ids {
            let last = world.disk.ledger.lock().versions(id).pop().expect("a version");
            wrongs.extend(rest.conversation(id, &last).await);
        }
        for name in RECIPIENTS {
            wrongs.extend(rest.recipient(name).await);
        }
        wrongs.extend(rest.watches(world));
    }
    wrongs
}

/// A used engine, and a new one.
struct Rest {
    run: usize,
    engine: Arc<Engine>,
    fresh: Arc<Engine>,
}

impl Rest {
    async fn conversation(&self, id: &ConversationId, last: &Version) -> Vec<Wrong> {
        let address = Address { conversation: Some(id.clone()), ..Address::default() };
        let calls = [
            Call::Capacity(address.clone()),
            Call::List(list(address.clone(), true)),
            Call::Export(address.clone()),
        ];
        let mut wrongs = Vec::new();
        for call in calls {
            wrongs.extend(self.compare(call, &id.to_string()).await);
        }
        let told = self.engine.state(&Caller::default(), &address, &[]).await;
        let told = told.map(|reply| reply.values.iter().map(|value| value.entry()).collect::<Vec<_>>());
        let kept = last.state.as_ref().map(|state| state.head.state.to_vec());
        if let (Ok(told), Some(kept)) = (told, kept)
            && told != kept
        {
            wrongs.push(
                self.wrong(id.as_str(), &format!("has the values {told:?}; its head tells of {kept:?}")),
            );
        }
        let read =
            self.engine.read_for(&Caller::default(), &address, Operation::GetCapacity, |_| 1).await.ok();
        if read != last.state {
            wrongs.push(self.wrong(id.as_str(), "is not what took effect last"));
        }
        if let Some(naive) = &last.naive {
            wrongs.extend(self.searches(address, naive).await);
        }
        wrongs
    }

    /// Everything that is stored and not forgotten is found by its mark.
    async fn searches(&self, address: Address, naive: &naive::Conversation) -> Vec<Wrong> {
        let mut wrongs = Vec::new();
        for sequence in naive.listed(false) {
            let mark = naive.get(sequence).mark().to_owned();
            let call = Call::Remember(remember(address.clone(), mark));
            let found = call.answer(self.engine.clone()).await;
            let is_it = |found: &Found| found.utterance.sequence.get() == sequence;
            if !matches!(&found, Ok(Answer::Found(found)) if found.iter().any(is_it)) {
                wrongs.push(self.wrong(&naive.id, &format!("{sequence} is not found any more")));
            }
        }
        wrongs
    }

    async fn recipient(&self, name: &str) -> Vec<Wrong> {
        let list = ListConversations {
            recipient: Some(recipient(name)),
            status: None,
            id_prefix: "".into(),
            order: ListOrder { by_update: true, newest_first: true },
            after: None,
            limit: 1_000,
        };
        let mut wrongs: Vec<_> = self.compare(Call::Conversations(list), name).await.into_iter().collect();
        let address = Address { recipient: Some(recipient(name)), ..Address::default() };
        wrongs.extend(self.compare(Call::Get(address), name).await);
        wrongs
    }

    /// Calls both.
    async fn compare(&self, call: Call, of: &str) -> Option<Wrong> {
        let used = self.seen(call.clone().answer(self.engine.clone()).await);
        let fresh = self.seen(call.clone().answer(self.fresh.clone()).await);
        (used != fresh).then(|| {
            let how = format!("{} is {used:?}; a new engine says {fresh:?}", crate::tell::call(&call));
            self.wrong(of, &how)
        })
    }

    /// The part of an answer that must be the same.
    fn seen(&self, answer: Result<Answer, EngineError>) -> String {
        let state = |state: &Conversation| format!("{} {:?}", crate::tell::state(state), Capacity::of(state));
        match answer {
            Ok(Answer::State(read, active)) => format!("{} {active:?}", state(&read)),
            Ok(Answer::Listed(read, listed)) => format!("{} {listed:?}", state(&read)),
            Ok(Answer::Conversations(page)) => format!("{:?}", page.heads),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }

    /// The watches of this engine must have seen the last state of what they watch.
    fn watches(&self, world: &World) -> Vec<Wrong> {
        let ledger = world.disk.ledger.lock();
        let mut wrongs = Vec::new();
        for watch in world.watches.lock().iter().filter(|watch| watch.run == self.run && !watch.over) {
            let last = ledger.newest(&watch.id).filter(|last| last.by == By::Run(self.run));
            let seen = watch.seen.last().map(|(_, state)| state);
            let last = last.map(|last| last.state.as_deref().map(shown));
            if last.is_some_and(|last| last != seen.map(|seen| shown(seen))) {
                wrongs.push(self.wrong(watch.id.as_str(), "its watch has not seen the last state"));
            }
        }
        wrongs
    }

    fn wrong(&self, of: &str, how: &str) -> Wrong {
        Wrong::new("an engine at rest says what is stored", format!("engine {}, {of}: {how}", self.run))
    }
}
