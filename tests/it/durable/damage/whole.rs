//! A store before it is damaged, and what happens afterwards.

use std::{any::Any, panic, path::Path, sync::mpsc, thread};

use tempfile::TempDir;
use utterd::store::durable::{EngineKind, Flush};

use super::{Harm, Outcome};
use crate::{
    durable::{
        answers::{Answers, Questions},
        files::{Content, Files},
        home::{Home, problems},
        life::Life,
    },
    support::prelude::*,
};

/// A server that has not answered after this time hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Nothing is flushed before the store is closed, so that it is filled faster.
const AT_THE_END: Flush = Flush::Interval(Duration::from_secs(3_600));
/// Rounds of messages in each part of a life.
const ROUNDS: usize = 12;
/// Rounds that make sled's log five segments long.
const MANY_ROUNDS: usize = 30;
/// Writes after the last opening of a store that is killed.
const STEPS: usize = 6;

/// A store before it is damaged, and its answers.
pub struct Whole {
    engine: EngineKind,
    pub files: Files,
    clock: Arc<ManualClock>,
    questions: Questions,
    /// The answers after each of the last writes; the newest last.
    states: Vec<Answers>,
}

/// A store in use.
struct Living {
    engine: EngineKind,
    directory: TempDir,
    clock: Arc<ManualClock>,
    life: Life,
}

impl Whole {
    /// A closed store with files of every kind.
    pub fn closed(engine: EngineKind) -> Self {
        Self::closed_after(ROUNDS, AT_THE_END, engine)
    }

    /// A larger one, with each write flushed.
    pub fn large(engine: EngineKind) -> Self {
        Self::closed_after(MANY_ROUNDS, Flush::Each, engine)
    }

    fn closed_after(rounds: usize, flush: Flush, engine: EngineKind) -> Self {
        ready(async {
            let (living, home) = Living::grown(rounds, flush, engine).await;
            let questions = living.life.questions();
            let states = vec![questions.ask(&home).await];
            drop(home);
            living.whole(questions, states)
        })
    }

    /// A store whose process was killed after some writes.
    pub fn killed(engine: EngineKind) -> Self {
        ready(async {
            let (mut living, home) = Living::grown(ROUNDS, AT_THE_END, engine).await;
            let questions = living.life.questions();
            drop(home);
            let home = living.home(Flush::Each);
            let mut states = vec![questions.ask(&home).await];
            for number in 0..STEPS {
                home.live(&[living.life.step(number)]).await;
                states.push(questions.ask(&home).await);
            }
            living.whole(questions, states)
        })
    }

    /// A store whose process is killed, before its last write and after it; and the mark that it would have
    /// written.
    pub fn one_write_apart(engine: EngineKind) -> (Self, Self, Content) {
        ready(async {
            let (mut living, home) = Living::grown(ROUNDS, AT_THE_END, engine).await;
            let questions = living.life.questions();
            drop(home);
            let home = living.home(Flush::Each);
            let mut states = vec![questions.ask(&home).await];
            home.live(&[living.life.step(0)]).await;
            let before = living.whole(questions.clone(), states.clone());
            states.push(questions.ask(&home).await);
            home.live(&[living.life.step(1)]).await;
            states.push(questions.ask(&home).await);
            let after = living.whole(questions, states);
            drop(home);
            let mark = Files::read(living.directory.path()).0.remove(Path::new("mark")).unwrap();
            (before, after, mark)
        })
    }

    /// The outcome if `harm` is done to a file.
    pub fn after(&self, harm: Harm, path: &Path) -> Outcome {
        self.outcome(&self.damaged(harm, path))
    }

    /// Its files with `harm` done to one.
    pub fn damaged(&self, harm: Harm, path: &Path) -> Files {
        let mut files = self.files.clone();
        let file = files.0.remove(path).unwrap();
        files.0.extend(harm.to(&file).map(|file| (path.to_owned(), file)));
        files
    }

    /// Whether a server that starts with these files accepts a write, and has it after another start.
    pub fn goes_on(&self, files: &Files) -> Outcome {
        let trial = self.trial(files);
        ready(trial.goes_on(&trial.directory()))
    }

    /// The outcome if it has these files.
    pub fn outcome(&self, files: &Files) -> Outcome {
        let trial = self.trial(files);
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let outcome = panic::catch_unwind(|| ready(trial.outcome()));
            let _ = tell.send(outcome.unwrap_or_else(|panic| Outcome::Panicking(message(&*panic))));
        });
        told.recv_timeout(PATIENCE).unwrap_or(Outcome::Hanging)
    }

    fn trial(&self, files: &Files) -> Trial {
        Trial {
            engine: self.engine,
            files: files.clone(),
            clock: self.clock.clone(),
            questions: self.questions.clone(),
            states: self.states.clone(),
        }
    }
}

impl Living {
    /// A store that was rewritten once, and opened twice.
    async fn grown(rounds: usize, flush: Flush, engine: EngineKind) -> (Self, Home) {
        let (clock, life) = (ManualClock::new(), Life::new());
        let mut living = Self { engine, directory: tempfile::tempdir().unwrap(), clock, life };
        let home = living.home(flush);
        for calls in [living.life.beginning(), living.life.part(rounds), living.life.purge()] {
            home.live(&calls).await;
        }
        home.live(&living.life.part(rounds)).await;
        drop(home);
        let home = living.home(flush);
        home.live(&living.life.part(rounds / 2)).await;
        (living, home)
    }

    fn home(&self, flush: Flush) -> Home {
        Home::open(self.engine, self.directory.path(), &self.clock, flush).unwrap()
    }

    fn whole(&self, questions: Questions, states: Vec<Answers>) -> Whole {
        let (engine, files) = (self.engine, Files::read(self.directory.path()));
        Whole { engine, files, clock: self.clock.clone(), questions, states }
    }
}

/// A damaged store to try.
struct Trial {
    engine: EngineKind,
    files: Files,
    clock: Arc<ManualClock>,
    questions: Questions,
    states: Vec<Answers>,
}

impl Trial {
    async fn outcome(&self) -> Outcome {
        let directory = self.directory();
        let home = match self.home(&directory) {
            Ok(home) => home,
            Err(refused) => return refused,
        };
        let answers = self.questions.ask(&home).await;
        drop(home);
        let (newest, earlier) = self.states.split_last().unwrap();
        match (answers.wrong(newest), answers.unavailable(newest)) {
            (None, None) => self.goes_on(&directory).await,
            (None, Some(error)) => {
                Outcome::Failing(error.replace(&*directory.path().to_string_lossy(), "DIR"))
            }
            (Some(difference), _) => match earlier.iter().rev().position(|state| *state == answers) {
                Some(position) => Outcome::Earlier(position + 1),
                None => self.found().unwrap_or_else(|| Outcome::Wrong(difference.to_string())),
            },
        }
    }

    /// What is written now is there after another opening, along with everything before it.
    async fn goes_on(&self, directory: &TempDir) -> Outcome {
        let mut asked = self.questions.clone();
        asked.retries.clear();
        let mut states = Vec::new();
        for call in [Some(Life::new().step(0)), None] {
            let home = match self.home(directory) {
                Ok(home) => home,
                Err(refused) => return Outcome::Wrong(format!("opened again, it is {refused}")),
            };
            if let Some(Err(status)) = match call {
                Some(call) => Some(call.send(&home).await),
                None => None,
            } {
                return Outcome::Failing(status.message().to_owned());
            }
            states.push(asked.ask(&home).await);
        }
        match states[0] == states[1] {
            true => Outcome::Right,
            false => Outcome::Wrong("what was written after the damage is not there".to_owned()),
        }
    }

    /// What `utterd verify` finds in it.
    fn found(&self) -> Option<Outcome> {
        let directory = self.directory();
        let problems = problems(self.engine, directory.path()).ok()?;
        problems.first().map(|problem| Outcome::Found(problem.clone()))
    }

    fn directory(&self) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        self.files.write(directory.path());
        directory
    }

    fn home(&self, directory: &TempDir) -> Result<Home, Outcome> {
        let home = Home::open(self.engine, directory.path(), &self.clock, AT_THE_END);
        home.map_err(|error| {
            Outcome::Refused(error.to_string().replace(&*directory.path().to_string_lossy(), "DIR"))
        })
    }
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}
