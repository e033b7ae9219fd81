//! kill -9 under load, round after round on one directory.

use std::{cell::Cell, sync::mpsc, thread, time::Duration};

use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use crate::{
    crash::{
        check::check,
        ledger::Ledger,
        load::{self, Watch},
        server::{Backend, Server, Start, spin},
        tally::Tally,
    },
    support::{asked, random::Random},
};

/// Maximum spins from an answer to the kill: a few milliseconds.
const SPINS_OF_A_CALL: usize = 200_000;
/// Approximate spins in which a server starts, or files are scrubbed.
const SPINS_OF_A_START: usize = 20_000_000;
/// A server that runs this long without being killed hangs.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn what_fjall_acknowledged_survives_a_kill() -> Result<(), String> {
    survives(Backend::Fjall, Load::USUAL, 6);
    Ok(())
}

pub fn what_fjall_acknowledged_survives_a_kill_while_it_begins_new_files() -> Result<(), String> {
    survives(Backend::Fjall, Load::BULKY, 2);
    Ok(())
}

pub fn what_sled_acknowledged_survives_a_kill() -> Result<(), String> {
    survives(Backend::Sled, Load::USUAL, 3);
    Ok(())
}

pub fn what_sled_acknowledged_of_long_texts_survives_a_kill() -> Result<(), String> {
    survives(Backend::Sled, Load::BULKY, 1);
    Ok(())
}

/// The check can fail.
pub fn what_a_server_keeps_in_memory_is_missed() -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory");
    let mut run = Run::new(1, Load::USUAL);
    let start = Start::new(Backend::Memory, directory.path());
    let first = run.round(&start, &()).unwrap();
    let error = run.round(&start, &()).expect_err("nothing of it is there any more");
    assert_eq!((first.acknowledged, error.contains("gone")), (0, true), "{error}");
    Ok(())
}

/// The check passes if nothing happened.
pub fn what_a_server_keeps_in_memory_is_known_while_it_runs() -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Start::new(Backend::Memory, directory.path()).start().unwrap();
    let mut run = Run::new(2, Load::USUAL);
    run.work(&server, 1_500, &());
    let figures = run.check(&server, &()).unwrap();
    assert_eq!((figures.unanswered_stored, figures.unanswered_lost), (0, 0));
    assert!(figures.acknowledged >= 1_500 && figures.replayed > 0, "{figures}");
    Ok(())
}

/// Kills a server this many times, unless the environment sets another number, in a run of `load`.
fn survives(backend: Backend, load: Load, rounds: u64) {
    let seed = asked("UTTERD_CRASH_SEED").unwrap_or(1);
    let rounds = asked("UTTERD_CRASH_ROUNDS").unwrap_or(rounds);
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let mut run = Run::new(seed, load);
    let mut tally = Tally::default();
    let start = Start::new(backend, &data);
    for round in 0..=rounds {
        let done = run.round(&start, &()).and_then(|figures| {
            start.verify()?;
            run.between(&start)?;
            Ok(figures)
        });
        let figures = done.unwrap_or_else(|error| panic!("{}", told(backend, seed, round, &error)));
        tally += Tally { acknowledged: 0, crashes: usize::from(round > 0), ..figures };
    }
    tally.acknowledged = run.ledger.answered();
    println!("{} after kills: {tally}", backend.name());
}

fn told(backend: Backend, seed: u64, round: u64, error: &str) -> String {
    format!("{}, seed {seed}, round {round}: {error}", backend.name())
}

/// The behaviour of the callers.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Concurrent conversations.
    conversations: usize,
    /// How many of them are bulky.
    bulky: usize,
    /// The maximum number of answers before a kill.
    answers: usize,
    /// Whether files are scrubbed between kills.
    scrubs: bool,
}

impl Load {
    /// Many small calls, and scrubs.
    pub const USUAL: Self = Self { conversations: 8, bulky: 0, answers: 200, scrubs: true };
    /// Enough data that engines start new files while serving.
    pub const BULKY: Self = Self { conversations: 8, bulky: 5, answers: 60, scrubs: false };
}

/// A load that continues across crashes.
pub struct Run {
    /// The calls and their answers.
    pub ledger: Ledger,
    load: Load,
    random: Random,
    runtime: Runtime,
}

impl Run {
    /// The run of `seed`.
    pub fn new(seed: u64, load: Load) -> Self {
        Self::with(Ledger::new(load.conversations, load.bulky), load, Random::new(seed))
    }

    /// A run that continues from `ledger`.
    pub fn with(ledger: Ledger, load: Load, random: Random) -> Self {
        Self { ledger, load, random, runtime: runtime() }
    }

    /// Starts the server, checks everything so far, and lets callers work until it is killed; `watch` is told
    /// of each attempt.
    pub fn round(&mut self, start: &Start<'_>, watch: &impl Watch) -> Result<Tally, String> {
        let server = start.start()?;
        let figures = self.check(&server, watch)?;
        self.work_until_killed(server, watch);
        Ok(figures)
    }

    /// What can happen to the files before the next start: usually nothing; or a server is killed while
    /// starting, or they are scrubbed, completely or not.
    pub fn between(&mut self, start: &Start<'_>) -> Result<(), String> {
        let spins = self.random.below(SPINS_OF_A_START);
        match self.random.below(6) {
            0 => start.start_and_kill(spins),
            1 if self.load.scrubs => start.scrub_and_kill(spins),
            2 if self.load.scrubs => start.scrub()?,
            _ => {}
        }
        Ok(())
    }

    /// Checks everything so far.
    pub fn check(&mut self, server: &Server, watch: &impl Watch) -> Result<Tally, String> {
        self.runtime.block_on(check(&server.address, &mut self.ledger, &mut self.random, watch))
    }

    /// Lets callers work until `answers` calls are answered, and then finishes the last ones.
    pub fn work(&mut self, server: &Server, answers: usize, watch: &impl Watch) {
        let enough = Enough { left: Cell::new(answers), watch };
        self.runtime.block_on(load::work(&[&server.address], &mut self.ledger, &mut self.random, &enough));
        // Connections end with their runtime: a stopping server would wait for them.
        self.runtime = runtime();
    }

    /// The kill comes slightly after this many calls are answered.
    fn work_until_killed(&mut self, server: Server, watch: &impl Watch) {
        let (reached, kill) = mpsc::channel();
        let (answers, spins) =
            (self.random.between(1, self.load.answers), self.random.below(SPINS_OF_A_CALL));
        let fuse = Fuse { left: Cell::new(answers), reached, watch };
        let address = server.address.clone();
        let killer = thread::spawn(move || {
            // An error means that the callers have finished: the server is killed nevertheless.
            let _ = kill.recv();
            spin(spins);
            server.kill()
        });
        let addresses = [address.as_str()];
        let work = load::work(&addresses, &mut self.ledger, &mut self.random, &fuse);
        let done = self.runtime.block_on(async { timeout(PATIENCE, work).await });
        drop(fuse);
        let said = killer.join().expect("the server is killed");
        assert!(done.is_ok(), "the server hangs: {said}");
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Counts answers down to the kill.
struct Fuse<'a, W> {
    left: Cell<usize>,
    reached: mpsc::Sender<()>,
    watch: &'a W,
}

impl Watch for () {}

impl<W: Watch> Watch for Fuse<'_, W> {
    fn begun(&self, name: &str) {
        self.watch.begun(name);
    }

    fn answered(&self, name: &str) {
        self.watch.answered(name);
        self.left.set(self.left.get().wrapping_sub(1));
        if self.left.get() == 0 {
            // The server might have exited already.
            let _ = self.reached.send(());
        }
    }
}

/// Counts answers down to the end of the work.
struct Enough<'a, W> {
    left: Cell<usize>,
    watch: &'a W,
}

impl<W: Watch> Watch for Enough<'_, W> {
    fn begun(&self, name: &str) {
        self.watch.begun(name);
    }

    fn answered(&self, name: &str) {
        self.watch.answered(name);
        self.left.set(self.left.get().saturating_sub(1));
    }

    fn is_over(&self) -> bool {
        self.left.get() == 0
    }
}
