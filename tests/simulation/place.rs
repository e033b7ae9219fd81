//! Where a run stores its data: in memory, or in files that are read again when all is over.

use std::{
    fs::{self, DirEntry},
    io,
    path::Path,
    sync::{Arc, LazyLock},
    thread,
    time::Duration,
};

use futures::executor::block_on;
use tempfile::TempDir;
use tokio::{
    runtime::{self, Runtime},
    task::unconstrained,
};
use utterd::{
    config::{self, DurableEngine, Files, Settings},
    domain::{Conversation, ConversationKey},
    server::upkeep,
    store::{
        BoxFuture, Capabilities, MemoryStore, Store,
        durable::{DurableStore, EngineKind, Flush, Options},
    },
};

use crate::{
    checks::Wrong,
    drafts::is_mark,
    ledger::{Ledger, shown},
    naive::Home,
};

/// The place of one run.
pub enum Place {
    Memory,
    Files(DurableEngine, TempDir),
}

/// What the files of a run must have, and must not.
pub struct Expected {
    states: Vec<(ConversationKey, Option<Arc<Conversation>>)>,
    /// Marks of what was hard-forgotten, and is nowhere else.
    erased: Vec<String>,
}

impl Place {
    /// One run in ten stores its data in files of either kind.
    pub fn of(seed: u64) -> Self {
        let directory = || tempfile::tempdir().expect("a directory");
        match seed % 20 {
            3 => Self::Files(DurableEngine::Fjall, directory()),
            13 => Self::Files(DurableEngine::Sled, directory()),
            _ => Self::Memory,
        }
    }

    /// Opens the store, which nobody else may be using.
    pub fn open(&self) -> Opened {
        let Self::Files(engine, directory) = self else {
            return Opened { store: Arc::new(MemoryStore::new(0)), is_aside: false };
        };
        let kind = match engine {
            DurableEngine::Fjall => EngineKind::Fjall,
            DurableEngine::Sled => EngineKind::Sled,
        };
        let options = Options { flush: Flush::Interval(Duration::from_secs(60)), reserve_bytes: 0 };
        let store = DurableStore::open(kind, directory.path(), &options).expect("the store opens");
        Opened { store: Arc::new(store), is_aside: true }
    }

    /// Reads the files once everything that used them has ended: everything is there, the records are sound, and
    /// after a scrub no file holds what was hard-forgotten.
    pub fn look(&self, expected: &Expected) -> Vec<Wrong> {
        let Self::Files(engine, directory) = self else { return Vec::new() };
        let store = self.open();
        let mut wrongs = Vec::new();
        for (key, state) in &expected.states {
            let read = store.ask(|store| store.load(key)).expect("the files are read");
            if read.as_deref().map(shown) != state.as_deref().map(shown) {
                wrongs.push(wrong(format!("{} is read as {read:?}; was {state:?}", key.id)));
            }
        }
        drop(store);
        let files = Files { engine: *engine, directory: directory.path().to_owned() };
        upkeep::scrub(&files).expect("the files are rewritten");
        let texts = content(directory.path());
        let left: Vec<_> = expected.erased.iter().filter(|mark| texts.contains(*mark)).collect();
        if !left.is_empty() {
            wrongs.push(wrong(format!("they still hold {left:?}, which were hard-forgotten")));
        }
        let verified = upkeep::verify(&config::Place::Files(files), &Settings::default());
        let problems = verified.expect("the files are read").problems;
        wrongs.extend((!problems.is_empty()).then(|| wrong(format!("they have {problems:?}"))));
        wrongs
    }
}

impl Expected {
    pub fn of(ledger: &Ledger) -> Self {
        let newest = |id| ledger.newest(id).and_then(|newest| newest.state.clone());
        let key = |id: &utterd::domain::ConversationId| ConversationKey {
            namespace: Default::default(),
            id: id.clone(),
        };
        let states = ledger.conversations.keys().map(|id| (key(id), newest(id))).collect();
        let said = || ledger.world.conversations.values().flat_map(|one| &one.said);
        let is_erased = |one: &&crate::naive::Said| one.home == Home::Erased && is_mark(one.mark());
        let stored: std::collections::BTreeSet<_> =
            said().filter(|one| !is_erased(one)).map(|one| one.mark()).collect();
        let erased = said().filter(is_erased).map(|one| one.mark()).filter(|mark| !stored.contains(mark));
        Self { states, erased: erased.map(str::to_owned).collect() }
    }
}

/// An opened store.
pub struct Opened {
    store: Arc<dyn Store>,
    /// Whether its answers need a runtime that goes on meanwhile.
    is_aside: bool,
}

/// Where the stores in files answer.
static ASIDE: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime")
});

impl Opened {
    pub fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    /// Asks the store, and waits for its answer with the only thread of the run.
    pub fn ask<'a, T: Send>(&'a self, ask: impl FnOnce(&'a dyn Store) -> BoxFuture<'a, T> + Send) -> T {
        let answer = || ask(&*self.store);
        match self.is_aside {
            false => block_on(unconstrained(answer())),
            true => thread::scope(|scope| scope.spawn(|| ASIDE.block_on(async { answer().await })).join())
                .expect("the store does not panic"),
        }
    }
}

/// All bytes of all files, as text.
fn content(directory: &Path) -> String {
    let of_entry = |entry: io::Result<DirEntry>| {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => content(&path),
            false => {
                let bytes = fs::read(path).expect("a file");
                // an engine's file can end in a large hole
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                String::from_utf8_lossy(&bytes[..end]).into_owned()
            }
        }
    };
    fs::read_dir(directory).expect("a directory").map(of_entry).collect()
}

fn wrong(how: String) -> Wrong {
    Wrong::new("the files have what is stored, and nothing else", how)
}
