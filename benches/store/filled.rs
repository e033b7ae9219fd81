//! Large stores: their memory, their files, and opening them.

use std::{
    fs,
    ops::Range,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use prost::Message;
use utterd::{
    proto::{DeleteConversationRequest, MemorizeRequest, NewUtterance, Role},
    store::{
        Store,
        durable::{DurableStore, EngineKind, Options},
    },
};

use crate::{
    Plan,
    child::ServerProcess,
    load::{self, Call, IN_FLIGHT},
    requests,
    texts::Texts,
};

/// Utterances per conversation: as many as a ROLLING window holds.
pub const UTTERANCES: usize = 20;
/// Conversations to read when none of them is in the server's memory, and then again.
const READ: usize = 4_000;
const DELETE: &str = "/utterd.v1.ConversationService/DeleteConversation";

/// A store with half of the plan's conversations, unless stated otherwise.
pub struct Filled {
    /// `None` is the memory store.
    pub engine: Option<EngineKind>,
    /// Resident bytes of the server that filled it.
    pub resident: u64,
    /// For a store in files only.
    pub files: Option<Files>,
}

/// The files of a filled store.
pub struct Files {
    /// Bytes allocated on disk per byte of text, after a scrub.
    pub bytes_of_text: f64,
    /// The duration of the scrub.
    pub scrub: Duration,
    /// The median time of ListUtterances for a conversation that is not in the server's memory.
    pub cold: Duration,
    /// The same for one that is.
    pub warm: Duration,
    /// The time to open it when it holds all of the plan's conversations and its server was killed.
    pub open: Duration,
}

/// Fills the store of `engine` and measures it.
pub fn run(engine: Option<EngineKind>, plan: &Plan, texts: &Texts) -> Filled {
    let directory = crate::directory();
    let half = plan.conversations / 2;
    // one more than half, which is deleted, so that there is something to scrub
    let server = ServerProcess::start(&crate::settings(engine, &directory, "1s"));
    fill(&server, 0..half + 1, texts);
    let delete = DeleteConversationRequest { conversation_id: name(half), ..Default::default() };
    load::all(&server.address, DELETE, [Bytes::from(delete.encode_to_vec())], 1);
    let resident = server.resident();
    drop(server);
    let files = engine.map(|engine| {
        let scrub = scrub(engine, directory.path());
        let bytes = allocated_bytes(directory.path()) as f64;
        let bytes_of_text = bytes / texts.bytes(half * UTTERANCES) as f64;
        let [cold, warm] = reads(&crate::settings(Some(engine), &directory, "each"), half);
        let server = ServerProcess::start(&crate::settings(Some(engine), &directory, "1s"));
        fill(&server, half..plan.conversations, texts);
        drop(server);
        let open = open(engine, directory.path()).0;
        Files { bytes_of_text, scrub, cold, warm, open }
    });
    Filled { engine, resident, files }
}

fn name(conversation: usize) -> String {
    format!("conversation-{conversation}")
}

fn fill(server: &ServerProcess, conversations: Range<usize>, texts: &Texts) {
    let requests = conversations.map(|conversation| memorize(conversation, texts));
    load::all(&server.address, requests::MEMORIZE, requests, IN_FLIGHT);
}

fn memorize(conversation: usize, texts: &Texts) -> Bytes {
    let utterance = |index: usize| NewUtterance {
        role: if index.is_multiple_of(2) { Role::User } else { Role::Assistant }.into(),
        content: texts.get(conversation * UTTERANCES + index).to_owned(),
        ..Default::default()
    };
    let request = MemorizeRequest {
        conversation_id: name(conversation),
        utterances: (0..UTTERANCES).map(utterance).collect(),
        ..Default::default()
    };
    request.encode_to_vec().into()
}

/// Opens the store; also returns how long that took.
fn open(engine: EngineKind, directory: &Path) -> (Duration, DurableStore) {
    let started = Instant::now();
    let store = DurableStore::open(engine, directory, &Options::default()).expect("the store opens");
    (started.elapsed(), store)
}

fn scrub(engine: EngineKind, directory: &Path) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (_, store) = open(engine, directory);
    let started = Instant::now();
    runtime.block_on(store.scrub()).expect("a scrub");
    started.elapsed()
}

/// Lists conversations of a server that was just started, and lists them again: the median time of a call,
/// for each.
fn reads(settings: &[String], conversations: usize) -> [Duration; 2] {
    let server = ServerProcess::start(settings);
    let read = READ.min(conversations);
    let listed = (0..read).map(|index| requests::list(&name(index * (conversations / read))));
    let call = [Call { path: requests::LIST, requests: Arc::new(listed.collect()) }];
    [(), ()].map(|()| load::one_by_one(&server.address, &call, read)[0])
}

/// The bytes that the file system has allocated for the contents of a directory.
fn allocated_bytes(directory: &Path) -> u64 {
    const BLOCK: u64 = 512; // the unit of st_blocks
    let entries = fs::read_dir(directory).expect("a directory");
    let bytes = entries.map(|entry| {
        let entry = entry.expect("an entry");
        match entry.file_type().expect("its type").is_dir() {
            true => allocated_bytes(&entry.path()),
            false => entry.metadata().expect("its metadata").blocks() * BLOCK,
        }
    });
    bytes.sum()
}
