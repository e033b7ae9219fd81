//! The processes of a run, what they share, and the record of the calls.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use parking_lot::Mutex;
use utterd::{
    domain::{Conversation, ConversationId, Encoding, Policy, RecipientId, conversation::Timeouts},
    engine::{Caller, Defaults, Engine, EngineError, Event, EventStream, Watched},
};

use crate::{
    calls::{Answer, Call},
    checks::Wrong,
    clock::{VirtualClock, WORDS},
    dice::Dice,
    disk::{Disk, Life},
    door::Door,
    faults::Faults,
    habits::{self, Habits, IDLE_TIMEOUT},
    house::House,
    ledger::By,
    moment::Moment,
    naive,
    place::Opened,
    port::Port,
    story::{Story, Tick},
    teller::{self, Teller},
};

/// Everything of one run.
pub struct World {
    pub story: Arc<Story>,
    pub clock: Arc<VirtualClock>,
    pub disk: Arc<Disk>,
    pub habits: Habits,
    pub house: House,
    pub tries: Mutex<Vec<Try>>,
    pub watches: Mutex<Vec<Watch>>,
    /// Recipients whose conversations a watch of an engine follows.
    pub followed: Mutex<BTreeSet<(usize, RecipientId)>>,
    /// The events of each engine, as seen.
    pub events: Mutex<Vec<Vec<Event>>>,
    /// The violations seen during the run.
    pub wrongs: Mutex<Vec<Wrong>>,
    /// The doors of all engines that ever ran.
    pub doors: Mutex<Vec<Arc<Door>>>,
    hosts: Vec<Mutex<Host>>,
    setup: Setup,
    calls: AtomicU64,
}

/// What the engines of a run start with.
#[derive(Clone, Debug)]
struct Setup {
    policy: Policy,
    retained: usize,
    cache_bytes: u64,
    shared: bool,
    /// The seed of the model that writes summaries, if there is one.
    teller: Option<u64>,
}

/// A process, and its current engine.
pub struct Host {
    pub run: usize,
    pub engine: Arc<Engine>,
    pub door: Arc<Door>,
    pub life: Life,
    events: EventStream,
}

/// One attempt of a call.
pub struct Try {
    /// The number of the call, the same for all attempts.
    pub number: u64,
    pub run: usize,
    pub call: Arc<Call>,
    pub invoked: Tick,
    pub ended: Tick,
    /// When, by the clock.
    pub times: [i64; 2],
    /// Whether it reached the engine.
    pub begun: bool,
    pub end: End,
}

/// How an attempt ended.
pub enum End {
    Answered(Answer),
    Failed(EngineError),
    TurnedAway,
    /// Its deadline passed.
    TooLate,
    /// Its caller disconnected, or its process ended.
    Dropped,
}

/// What one watch of a conversation's capacity saw.
pub struct Watch {
    pub run: usize,
    pub id: ConversationId,
    pub seen: Vec<(Tick, Arc<Conversation>)>,
    /// Whether it was told that there is nothing more to see.
    pub over: bool,
}

impl World {
    /// A run with `hosts` processes over one store.
    pub fn new(hosts: usize, house: House, store: Opened, dice: &mut Dice) -> Arc<Self> {
        let (story, clock) = (Arc::new(Story::default()), Arc::new(VirtualClock::new()));
        let faults = Faults::of(dice);
        let setup = Setup {
            policy: habits::policy(dice),
            retained: dice.pick(&[0, 0, 2]).unwrap_or(0),
            cache_bytes: dice.pick(&[1 << 30, 1 << 30, 20_000]).unwrap_or(1 << 30),
            shared: hosts > 1 || faults.stranger > 0,
            teller: dice.percent(30).then(|| dice.below(1 << 40)),
        };
        let habits = Habits::of(dice);
        story.tell("seed", format_args!("{faults:?}, {setup:?}, {house:?}"));
        let idle = i64::try_from(IDLE_TIMEOUT.as_micros()).expect("a time");
        let naive = naive::World::new((&setup.policy).into(), idle);
        let disk = Arc::new(Disk::new(story.clone(), clock.clone(), faults, dice.split(), store, naive));
        disk.ledger.lock().has_teller = setup.teller.is_some();
        let mut events = Vec::new();
        let hosts = (0..hosts).map(|run| {
            events.push(Vec::new());
            Mutex::new(setup.start(run, &disk, &house))
        });
        let hosts: Vec<_> = hosts.collect();
        let doors = Mutex::new(hosts.iter().map(|host| host.lock().door.clone()).collect());
        let (tries, watches, followed, wrongs) = Default::default();
        let (events, calls) = (Mutex::new(events), AtomicU64::new(0));
        Arc::new(Self {
            story,
            clock,
            disk,
            habits,
            house,
            tries,
            watches,
            followed,
            events,
            wrongs,
            doors,
            hosts,
            setup,
            calls,
        })
    }

    /// The number of the next call.
    pub fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Records a violation.
    pub fn note(&self, wrong: Wrong) {
        self.wrongs.lock().push(wrong);
    }

    /// How many processes there are.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// The engines that are running.
    pub fn living(&self) -> Vec<usize> {
        self.hosts.iter().map(|host| host.lock().run).collect()
    }

    /// The current engine of a process: its number, the engine, its life.
    pub fn engine(&self, host: usize) -> (usize, Arc<Engine>, Life) {
        let host = self.hosts[host].lock();
        (host.run, host.engine.clone(), host.life.clone())
    }

    /// The door of a process's current engine.
    pub fn door(&self, host: usize) -> Arc<Door> {
        self.hosts[host].lock().door.clone()
    }

    /// Ends all processes, and starts no other.
    pub fn end(&self) {
        self.hosts.iter().for_each(|host| host.lock().life.end.come());
    }

    /// Ends the process of a host abruptly, and starts another one.
    pub fn restart(&self, host: usize) {
        let mut host = self.hosts[host].lock();
        let mut events = self.events.lock();
        host.see_events(&mut events);
        events.push(Vec::new());
        let run = events.len() - 1;
        self.story.tell("weather", format_args!("engine {} is killed, engine {run} starts", host.run));
        host.life.end.come();
        *host = self.setup.start(run, &self.disk, &self.house);
        self.doors.lock().push(host.door.clone());
    }

    /// Records the events that were published since the last time.
    pub fn see_events(&self) {
        let mut events = self.events.lock();
        self.hosts.iter().for_each(|host| host.lock().see_events(&mut events));
    }

    /// Lets a host do what is due by the clock, or because conversations have ended.
    pub fn sweep(&self, host: usize) {
        let (run, engine, life) = self.engine(host);
        self.story.tell("weather", format_args!("engine {run} sweeps"));
        tokio::spawn(async move {
            tokio::select! { biased; () = life.end.wait() => {}, _ = engine.sweep() => {} }
        });
    }

    /// Whether something still waits for the model.
    pub fn waits_for_the_model(&self) -> bool {
        let ledger = self.disk.ledger.lock();
        let mut newest = ledger.conversations.keys().filter_map(|id| ledger.newest(id)?.state.as_ref());
        self.setup.teller.is_some() && newest.any(|state| state.awaits_since().is_some())
    }

    /// An unused engine over what is stored now.
    pub fn fresh(&self) -> Arc<Engine> {
        self.setup.start(usize::MAX, &self.disk, &self.house).engine
    }
}

impl Setup {
    fn start(&self, run: usize, disk: &Arc<Disk>, house: &House) -> Host {
        let life = Life { by: By::Run(run), end: Moment::default() };
        let port = Port { disk: disk.clone(), life: life.clone(), shared: self.shared };
        let defaults = Defaults {
            policy: self.policy.clone(),
            encoding: Encoding::default(),
            timeouts: Timeouts { idle: IDLE_TIMEOUT, ..Timeouts::default() },
            max_conversations_retained: self.retained,
            event_capacity: 100_000,
            cache_bytes: self.cache_bytes,
            index_bytes: 64 << 20,
        };
        let mut engine = Engine::new(Arc::new(port), disk.clock.clone(), WORDS, defaults);
        if let Some(seed) = self.teller {
            let teller = Teller(Mutex::new(Dice::new(seed ^ run as u64)));
            engine = engine.with_summarizer(Arc::new(teller), 1, 2, Duration::from_secs(5));
        }
        let engine = Arc::new(engine);
        teller::works(&engine, &life);
        let events = engine
            .watch_events(&Caller::default(), None)
            .now_or_never()
            .expect("in memory")
            .expect("a trace");
        Host { run, engine, door: Door::new(house), life, events }
    }
}

impl Host {
    fn see_events(&mut self, all: &mut [Vec<Event>]) {
        while let Some(Ok(Watched::Event(event, _))) = self.events.next().now_or_never() {
            all[self.run].push(event);
        }
    }
}
