//! A client: it calls, sometimes gives up midway, and retries with its request ids.

use std::{
    future::Future,
    mem::take,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};

use http::Response;
use tokio::time::sleep;
use utterd::engine::{Caller, CapacityWatch, Clock, EngineError, MemorizePipeline};

use crate::{
    calls::{Answer, Call, address_of, applied, to_memorize},
    checks::Wrong,
    dice::Dice,
    disk::Life,
    door::{Begun, Came, Head, TurnedAway},
    habits::Kind,
    naive::{Command, Doing},
    plan::Planner,
    shares::Kind as Open,
    story::Tick,
    tell,
    world::{End, Try, Watch, World},
};

/// Calls that a client makes.
const CALLS: usize = 14;
/// Maximum attempts per call. The faults of a run end long before the last one.
const ATTEMPTS: u32 = 80;

pub struct Client {
    pub world: Arc<World>,
    pub name: usize,
    pub dice: Dice,
    /// For how long it waits at the door, and when it reads responses.
    pub manners: Dice,
}

/// What to do after an attempt.
enum Tried {
    Done,
    /// It is unknown whether it took effect.
    Again,
    /// It did not take effect.
    Later(TurnedAway),
}

/// An attempt in progress.
struct Trying {
    number: u64,
    run: usize,
    call: Arc<Call>,
    invoked: Tick,
    time: i64,
    begun: Begun,
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

    /// Makes a call, and retries until it is answered if that is safe.
    async fn insist(&mut self, kind: Kind) {
        let number = self.world.number();
        let Some(call) = self.plan(number, kind) else { return };
        for attempt in 1..=ATTEMPTS {
            let patience = self.dice.below(12) as u32;
            let patience = (attempt < 4 && self.dice.percent(12)).then_some(patience);
            let (ways, others) = (self.manners.split(), self.manners.split());
            let tried = match call.attempt().is_some() && self.dice.percent(12) {
                true => {
                    let first = self.attempt(number, &call, patience, ways);
                    // sent again before the first answer arrives
                    tokio::join!(first, self.attempt(number, &call, None, others)).1
                }
                false => self.attempt(number, &call, patience, ways).await,
            };
            match tried {
                Tried::Done => return,
                Tried::Later(away) => {
                    sleep(away.delay).await;
                    continue;
                }
                Tried::Again if call.attempt().is_none() => return,
                Tried::Again => {}
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

    /// One attempt.
    async fn attempt(&self, number: u64, call: &Call, patience: Option<u32>, mut manners: Dice) -> Tried {
        let (run, engine, life) = self.world.engine(self.host());
        let (door, house) = (self.world.door(self.host()), &self.world.house);
        let invoked = self.tell(format_args!("call {number} to engine {run}: {}", tell::call(call)));
        let deadline =
            manners.percent(house.deadlines).then(|| Duration::from_millis(1 + manners.below(120)));
        let kind = if matches!(call, Call::Export(_)) { Open::Stream } else { Open::Unary };
        let trying = self.trying(number, run, call.clone(), invoked, Begun::default());
        let answering = door.call(self.head(kind, deadline), &trying.begun, call.clone().answer(engine));
        let answering = UntilImpatient { inner: Box::pin(answering), patience };
        let mut came = tokio::select! { biased; () = life.end.wait() => None, came = answering => came };
        let unread = match &mut came {
            Some(Came::Answered(_, response)) if manners.percent(house.unread) => Some(take(response)),
            _ => None,
        };
        let tried = self.note(&trying, came);
        if let Some(unread) = unread {
            sleep(Duration::from_millis(manners.below(50))).await;
            drop(unread);
        }
        tried
    }

    /// An attempt that starts now; from now on it may take effect.
    fn trying(&self, number: u64, run: usize, call: Call, invoked: Tick, begun: Begun) -> Trying {
        if let Call::Do(command, attempt) = &call {
            let request = attempt.as_ref().map(|attempt| attempt.id.as_str());
            self.world.disk.ledger.lock().begin(number, run, command, request, invoked);
        }
        Trying { number, run, call: Arc::new(call), invoked, time: self.world.clock.now().0, begun }
    }

    fn head(&self, kind: Open, deadline: Option<Duration>) -> Head {
        Head { caller: self.name as u64, kind, deadline }
    }

    /// Records how an attempt ended; returns what to do then.
    fn note(&self, trying: &Trying, came: Option<Came<Result<Answer, EngineError>>>) -> Tried {
        self.world.see_events();
        let number = trying.number;
        let ended = match &came {
            Some(Came::Answered(result, _)) => {
                self.tell(format_args!("call {number}: {}", tell::ending(result)))
            }
            Some(Came::TurnedAway(away)) => {
                self.tell(format_args!("call {number} is turned away: {}", away.reason))
            }
            Some(Came::TooLate) => self.tell(format_args!("call {number} takes too long")),
            None => self.tell(format_args!("call {number} is given up")),
        };
        let (end, tried) = match came {
            Some(Came::Answered(Ok(answer), _)) => (End::Answered(answer), Tried::Done),
            Some(Came::Answered(Err(error @ EngineError::Refused(_)), _)) => {
                (End::Failed(error), Tried::Done)
            }
            Some(Came::Answered(Err(error), _)) => (End::Failed(error), Tried::Again),
            Some(Came::TurnedAway(away)) => (End::TurnedAway, Tried::Later(away)),
            Some(Came::TooLate) => (End::TooLate, Tried::Again),
            None => (End::Dropped, Tried::Again),
        };
        let has_no_effect = matches!(end, End::Failed(EngineError::Refused(_)) | End::TurnedAway);
        if has_no_effect || matches!(end, End::Answered(_)) {
            self.world.disk.ledger.lock().give_up(number);
        }
        let Trying { run, invoked, .. } = *trying;
        let times = [trying.time, self.world.clock.now().0];
        let (call, begun) = (trying.call.clone(), trying.begun.load(Ordering::Relaxed));
        self.world.tries.lock().push(Try { number, run, call, invoked, ended, times, begun, end });
        tried
    }

    /// Sends several messages on one stream; unanswered ones are not sent again.
    async fn line(&mut self) {
        let (run, engine, life) = self.world.engine(self.host());
        let head = self.head(Open::Stream, None);
        let Came::Answered((), open) =
            self.world.door(self.host()).call(head, &Begun::default(), async {}).await
        else {
            return;
        };
        let mut line = MemorizePipeline::new(engine, Caller::default());
        let mut sent = std::collections::VecDeque::new();
        let (count, patience) = (2 + self.dice.below(4), self.dice.below(60) as u32);
        let patience = self.dice.percent(10).then_some(patience);
        let mut calls = Vec::new();
        for _ in 0..count {
            let number = self.world.number();
            let Some(Call::Do(command, attempt)) = self.plan(number, Kind::Line) else { continue };
            calls.push((number, Command { expected: None, ..command }, attempt));
        }
        let talking = async {
            for (number, command, attempt) in calls {
                let Doing::Memorize(said) = command.doing.clone() else { continue };
                let message = to_memorize(said, address_of(&command), None, attempt.clone());
                let call = Call::Do(command, attempt);
                let told = tell::call(&call);
                let invoked = self.tell(format_args!("call {number} to engine {run}, in line: {told}"));
                sent.push_back(Arc::new(self.trying(number, run, call, invoked, Begun::new(true.into()))));
                line.push(Ok(message)).await;
            }
            while let Some(trying) = sent.front().cloned() {
                let Some(answer) = line.next().await else { break };
                sent.pop_front();
                let answer = answer.map(applied);
                self.note(&trying, Some(Came::Answered(answer, Response::default())));
            }
        };
        let talking = UntilImpatient { inner: Box::pin(talking), patience };
        tokio::select! { biased; () = life.end.wait() => {}, _ = talking => {} }
        drop((line, open));
        for trying in sent {
            self.note(&trying, None);
        }
    }

    /// Watches a conversation in the background, until its process ends.
    fn watch(&mut self) {
        let Some(Call::Capacity(address)) = self.plan(self.world.number(), Kind::Watch) else { return };
        let (run, engine, life) = self.world.engine(self.host());
        let (world, name, caller) = (self.world.clone(), self.name, Caller::default());
        let followed = (run, address.recipient_or_default());
        // which of two is woken first does not depend on the seed
        if address.conversation.is_none() && !world.followed.lock().insert(followed) {
            return;
        }
        let (door, head) = (world.door(self.host()), self.head(Open::Stream, None));
        tokio::spawn(async move {
            let open = async move {
                let watching = async move { engine.watch_capacity(&caller, address).await };
                door.call(head, &Begun::default(), watching).await
            };
            let opened = tokio::select! { biased; () = life.end.wait() => return, opened = open => opened };
            if let Came::Answered(Ok(watch), _open) = opened {
                see(world, format!("client {name}"), run, life, watch).await;
            }
        });
    }

    fn tell(&self, what: impl std::fmt::Display) -> Tick {
        self.world.story.tell(format_args!("client {}", self.name), what)
    }
}

/// Records what a watch sees; a watch of a recipient is recorded separately for each conversation.
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
            // which of two is woken first does not depend on the seed
            watches[place].over = true;
            return;
        }
    }
}

/// A call whose caller disconnects after this many polls, whatever it is waiting for.
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
