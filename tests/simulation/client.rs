//! A client: it calls, gives up in the middle now and then, and tries again by its request ids.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::sleep;
use utterd::engine::{Caller, CapacityWatch, EngineError, MemorizeCall, MemorizePipeline};

use crate::{
    calls::{Answer, Call, applied},
    checks::Wrong,
    dice::Dice,
    disk::Life,
    habits::Kind,
    plan::Planner,
    story::Tick,
    tell,
    world::{End, Try, Watch, World},
};

/// Calls that a client makes.
const CALLS: usize = 14;
/// Attempts of a call, at most. The faults of a run end long before the last.
const ATTEMPTS: u32 = 80;

pub struct Client {
    pub world: Arc<World>,
    pub name: usize,
    pub dice: Dice,
}

impl Client {
    /// Makes its calls, one after another.
    pub async fn work(mut self) {
        for _ in 0..CALLS {
            sleep(Duration::from_millis(self.dice.weighted(&[(5, 0), (3, 2), (2, 20), (1, 150)]))).await;
            let kind = self.dice.weighted(self.world.habits.mix);
            match kind {
                Kind::Line => self.line().await,
                Kind::Watch => self.watch(),
                kind => self.insist(kind).await,
            }
        }
    }

    /// Makes a call, again until it is answered where that is safe.
    async fn insist(&mut self, kind: Kind) {
        let number = self.world.number();
        let Some(call) = self.plan(number, kind) else { return };
        for attempt in 1..=ATTEMPTS {
            let patience = self.dice.below(12) as u32;
            let patience = (attempt < 4 && self.dice.percent(12)).then_some(patience);
            let is_answered = match call.attempt().is_some() && self.dice.percent(12) {
                // sent again before the first answer is there
                true => {
                    tokio::join!(self.attempt(number, &call, patience), self.attempt(number, &call, None)).1
                }
                false => self.attempt(number, &call, patience).await,
            };
            if is_answered || call.attempt().is_none() {
                return;
            }
            if self.dice.percent(60) {
                sleep(Duration::from_millis(5 << attempt.min(10))).await;
            }
        }
        self.world.note(Wrong::new("an answer comes in the end", format!("call {number} is never answered")));
    }

    fn plan(&mut self, number: u64, kind: Kind) -> Option<Call> {
        let ledger = self.world.disk.ledger.lock();
        Planner { dice: &mut self.dice, habits: &self.world.habits, ledger: &ledger, number }.call(kind)
    }

    fn host(&self) -> usize {
        self.name % self.world.hosts()
    }

    /// One attempt; whether there is nothing left to try.
    async fn attempt(&self, number: u64, call: &Call, patience: Option<u32>) -> bool {
        let (run, engine, life) = self.world.engine(self.host());
        let invoked = self.tell(format_args!("call {number} to engine {run}: {}", tell::call(call)));
        let answering = UntilImpatient { inner: Box::pin(call.clone().answer(engine)), patience };
        let answered =
            tokio::select! { biased; () = life.end.wait() => None, answered = answering => answered };
        let attempt = (number, run, Arc::new(call.clone()));
        self.note(attempt, invoked, answered)
    }

    /// Notes how an attempt ended; whether there is nothing left to try.
    fn note(
        &self,
        (number, run, call): (u64, usize, Arc<Call>),
        invoked: Tick,
        answered: Option<Result<Answer, EngineError>>,
    ) -> bool {
        self.world.see_events();
        let ended = match &answered {
            Some(result) => self.tell(format_args!("call {number}: {}", tell::ending(result))),
            None => self.tell(format_args!("call {number} is given up")),
        };
        let is_final = matches!(answered, Some(Ok(_) | Err(EngineError::Refused(_))));
        let end = match answered {
            Some(Ok(answer)) => End::Answered(answer),
            Some(Err(error)) => End::Failed(error),
            None => End::Dropped,
        };
        self.world.tries.lock().push(Try { number, run, call, invoked, ended, end });
        is_final
    }

    /// Sends several messages down one line; those that are not answered are not sent again.
    async fn line(&mut self) {
        let (run, engine, life) = self.world.engine(self.host());
        let mut line = MemorizePipeline::new(engine, Caller::default());
        let mut sent = std::collections::VecDeque::new();
        let (count, patience) = (2 + self.dice.below(4), self.dice.below(60) as u32);
        let patience = self.dice.percent(10).then_some(patience);
        let mut calls = Vec::new();
        for _ in 0..count {
            let number = self.world.number();
            let Some(Call::Memorize(call)) = self.plan(number, Kind::Memorize) else { continue };
            calls.push((number, MemorizeCall { expected: None, ..call }));
        }
        let world = self.world.clone();
        let talking = async {
            for (number, call) in calls {
                let told = tell::call(&Call::Memorize(call.clone()));
                let invoked = self.tell(format_args!("call {number} to engine {run}, in line: {told}"));
                sent.push_back((number, Arc::new(Call::Memorize(call.clone())), invoked));
                line.push(Ok(call)).await;
            }
            while let Some((number, call, invoked)) = sent.front().cloned() {
                let Some(answer) = line.next().await else { break };
                sent.pop_front();
                let answer = answer.map(|reply| applied(reply, |_| Vec::new()));
                self.note((number, run, call), invoked, Some(answer));
            }
        };
        let talking = UntilImpatient { inner: Box::pin(talking), patience };
        tokio::select! { biased; () = life.end.wait() => {}, _ = talking => {} }
        drop(line);
        let _ = world;
        for (number, call, invoked) in sent {
            self.note((number, run, call), invoked, None);
        }
    }

    /// Watches a conversation beside everything else, until its process ends.
    fn watch(&mut self) {
        let Some(Call::Capacity(address)) = self.plan(self.world.number(), Kind::Watch) else { return };
        let (run, engine, life) = self.world.engine(self.host());
        let (world, name, caller) = (self.world.clone(), self.name, Caller::default());
        let followed = (run, address.recipient_or_default());
        // which of two is woken first, no seed decides
        if address.conversation.is_none() && !world.followed.lock().insert(followed) {
            return;
        }
        tokio::spawn(async move {
            let opened = tokio::select! {
                biased;
                () = life.end.wait() => return,
                opened = engine.watch_capacity(&caller, address) => opened,
            };
            if let Ok(watch) = opened {
                drop(engine);
                see(world, format!("client {name}"), run, life, watch).await;
            }
        });
    }

    fn tell(&self, what: impl std::fmt::Display) -> Tick {
        self.world.story.tell(format_args!("client {}", self.name), what)
    }
}

/// Notes what a watch sees; one of a recipient's is noted anew for each conversation.
async fn see(world: Arc<World>, name: String, run: usize, life: Life, mut watch: CapacityWatch) {
    let mut place = None::<usize>;
    loop {
        let seen = tokio::select! { biased; () = life.end.wait() => return, seen = watch.next() => seen };
        let state = match seen {
            Ok(state) => state,
            Err(error) => {
                world.story.tell(&name, format_args!("watch ends: {error}"));
                place.into_iter().for_each(|place| world.watches.lock()[place].over = true);
                return;
            }
        };
        let tick = world.story.tell(&name, format_args!("watch sees {}", tell::state(&state)));
        let mut watches = world.watches.lock();
        let id = state.exists().then(|| state.key().id.clone());
        if let Some(left) = place.take_if(|place| id.as_ref() != Some(&watches[*place].id)) {
            watches[left].over = true;
        }
        let Some(id) = id else { continue };
        let place = *place.get_or_insert_with(|| {
            watches.push(Watch { run, id, seen: Vec::new(), over: false });
            watches.len() - 1
        });
        watches[place].seen.push((tick, state));
        let of = |watch: &Watch| (watch.run, watch.id.clone());
        let is_second = watches[..place].iter().any(|other| !other.over && of(other) == of(&watches[place]));
        if is_second {
            // which of two is woken first, no seed decides
            watches[place].over = true;
            return;
        }
    }
}

/// A call whose caller goes away after it was polled so often, at whatever it waits for then.
struct UntilImpatient<F> {
    inner: Pin<Box<F>>,
    patience: Option<u32>,
}

impl<F: Future> Future for UntilImpatient<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.inner.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        match &mut self.patience {
            Some(0) => Poll::Ready(None),
            Some(left) => {
                *left -= 1;
                Poll::Pending
            }
            None => Poll::Pending,
        }
    }
}
