//! Each reply comes after a sync that follows its write.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use futures::future::join_all;
use tokio::runtime::Builder;
use utterd::proto::{MemorizeRequest, NewUtterance, Role};

use crate::crash::{
    client::Client,
    kill::{Load, Run},
    load::Watch,
    log::{Marks, Record},
    power::Recorded,
    server::{Backend, Start},
};

/// Calls of the caller that waits for each answer.
const ALONE: usize = 40;
/// Concurrent callers.
const CALLERS: usize = 64;
/// Calls of each caller.
const CALLS: usize = 4;

pub fn each_call_alone_waits_for_a_sync_of_its_own() -> Result<(), String> {
    for (backend, file) in FILES {
        let seen = Seen::of(backend, 1, ALONE)?;
        seen.each_reply_follows_a_sync(file);
        let syncs = seen.syncs_of(file).len();
        assert!(syncs >= ALONE, "{}: {syncs} syncs of {ALONE} calls", backend.name());
    }
    Ok(())
}

pub fn calls_at_once_share_syncs_and_wait_for_them() -> Result<(), String> {
    for (backend, file) in FILES {
        let seen = Seen::of(backend, CALLERS, CALLS)?;
        seen.each_reply_follows_a_sync(file);
        let (syncs, calls) = (seen.syncs_of(file).len(), CALLERS * CALLS);
        println!("{}: {syncs} syncs for {calls} calls, {CALLERS} at once", backend.name());
        assert!(syncs < calls, "{}: {syncs} syncs of {calls} calls", backend.name());
    }
    Ok(())
}

/// The suffix of the file that each engine writes a batch to.
const FILES: [(Backend, &str); 2] = [(Backend::Fjall, ".jnl"), (Backend::Sled, "/db")];

/// The positions of events in the log.
#[derive(Debug, Default)]
struct Seen {
    /// Where each utterance was first written, and to which file.
    written: HashMap<String, (usize, String)>,
    /// Where each utterance's reply was first sent.
    sent: HashMap<String, usize>,
    /// Where the syncs of each file began and ended.
    syncs: BTreeMap<String, Vec<Range<usize>>>,
    /// For each utterance, where its call was sent and answered.
    calls: HashMap<String, Range<usize>>,
}

impl Seen {
    /// Observes a server over `backend` while `callers` callers make `calls` calls each. The error says what this
    /// machine lacks.
    fn of(backend: Backend, callers: usize, calls: usize) -> Result<Self, String> {
        let recorded = Recorded::new(Run::new(1, Load::USUAL))?;
        let (data, marks) = (recorded.data(), recorded.recorder.marks());
        let variables = recorded.recorder.variables();
        let server = Start { variables, ..Start::new(backend, &data) }.start().unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(call(&server.address, callers, calls, &marks));
        server.kill();
        let log = recorded.recorder.log();
        Ok(Self::read(&log.records().unwrap()))
    }

    fn read(records: &[Record<'_>]) -> Self {
        let (mut seen, mut names, mut began) = (Self::default(), HashMap::new(), HashMap::new());
        for (place, record) in records.iter().enumerate() {
            match *record {
                Record::Opened { file, path, .. }
                | Record::Made { file, path }
                | Record::Started { file, path } => {
                    names.insert(file, path.to_owned());
                }
                Record::Written { file, bytes, .. } => {
                    let name: &String = &names[&file];
                    for id in ids(bytes) {
                        seen.written.entry(id).or_insert_with(|| (place, name.clone()));
                    }
                }
                Record::Sent { bytes } => {
                    for id in ids(bytes) {
                        seen.sent.entry(id).or_insert(place);
                    }
                }
                Record::SyncBegan { sync, .. } => drop(began.insert(sync, place)),
                Record::SyncEnded { file, sync } => {
                    seen.syncs.entry(names[&file].clone()).or_default().push(began[&sync]..place);
                }
                Record::Begun { name } => drop(seen.calls.insert(name.to_owned(), place..place)),
                Record::Answered { name } => {
                    seen.calls.entry(name.to_owned()).and_modify(|call| call.end = place);
                }
                _ => {}
            }
        }
        seen
    }

    /// The syncs of the files with this suffix while calls were made.
    fn syncs_of(&self, file: &str) -> Vec<&Range<usize>> {
        let first = self.calls.values().map(|call| call.start).min().unwrap_or(0);
        let files = self.syncs.iter().filter(|(name, _)| name.ends_with(file));
        files.flat_map(|(_, syncs)| syncs).filter(|sync| sync.start > first).collect()
    }

    /// Each answered call was written to `file`, which was synced between the write and the reply.
    fn each_reply_follows_a_sync(&self, file: &str) {
        for (id, call) in &self.calls {
            let (written, name) = self.written.get(id).unwrap_or_else(|| panic!("{id} was never written"));
            assert!(name.ends_with(file), "{id} was written to {name} first");
            let sent = self.sent.get(id).unwrap_or_else(|| panic!("{id} was never replied to"));
            let (asked, heard) = (call.start, call.end);
            assert!(asked < *written && *sent < heard, "{id}: {call:?}, written {written}, sent {sent}");
            let follows = |sync: &Range<usize>| sync.start > *written && sync.end < *sent;
            let syncs = &self.syncs[name];
            assert!(syncs.iter().any(follows), "{id}: written {written}, sent {sent}, synced {syncs:?}");
        }
    }
}

/// Callers that each wait for their answers.
async fn call(address: &str, callers: usize, calls: usize, marks: &Marks) {
    let mut clients = Vec::new();
    for _ in 0..callers.min(8) {
        clients.push(Client::connect(address).await);
    }
    let callers = (0..callers).map(|caller| {
        let mut client = clients[caller % clients.len()].clone();
        async move {
            for number in 0..calls {
                let request = memorize(caller, number);
                let id = request.utterances[0].utterance_id.clone();
                marks.begun(&id);
                client.memory.memorize(request).await.unwrap();
                marks.answered(&id);
            }
        }
    });
    join_all(callers).await;
}

fn memorize(caller: usize, number: usize) -> MemorizeRequest {
    let mixed = (((caller as u64) << 32) | (number as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let utterance = NewUtterance {
        utterance_id: format!("~{mixed:016x}~"),
        role: Role::User.into(),
        content: format!("call {number} of caller {caller}"),
        ..NewUtterance::default()
    };
    let conversation_id = format!("caller-{caller}");
    MemorizeRequest { conversation_id, utterances: vec![utterance], ..MemorizeRequest::default() }
}

/// The utterance ids in `bytes`: 16 digits between two `~`.
fn ids(bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    let candidates = bytes.windows(18).filter(|window| window[0] == b'~' && window[17] == b'~');
    candidates.filter_map(|window| std::str::from_utf8(window).ok()).map(str::to_owned)
}
