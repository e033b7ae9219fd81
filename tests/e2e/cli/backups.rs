//! Backups of running servers, and what can be done with them.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use tempfile::TempDir;
use tokio::runtime::Runtime;
use utterd::{
    proto::{
        ListUtterancesRequest, MemorizeRequest, NewUtterance, Role,
        conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
    },
    store::durable::EngineKind,
};

use super::{Outcome, Server, assert_holds, utterd};

fn serve(engine: EngineKind, data: &str, directory: TempDir) -> Server {
    Server::start_in(directory, &["--backend", engine.name(), "--data-dir", data])
}

fn serve_new(engine: EngineKind) -> Server {
    serve(engine, "data", tempfile::tempdir().expect("a directory"))
}

#[test]
fn a_backup_is_restored_and_served_by_either_engine() {
    for (from, to) in [(EngineKind::Fjall, EngineKind::Sled), (EngineKind::Sled, EngineKind::Fjall)] {
        let server = serve_new(from);
        server.run(&["memorize", "--to", "demo", "The train leaves at nine."]).worked();
        let told = server.run(&["backup", "one.utterd"]).worked();
        assert_holds(&told, &["backed up ", " to one.utterd and checked it: ", " records, ", ", in "]);
        let file = server.directory.path().join("one.utterd");
        assert_eq!(fs::metadata(&file).expect("the backup").permissions().mode() & 0o777, 0o600);
        server.run(&["memorize", "--to", "demo", "It was late."]).worked();

        let taken = server.run(&["backup", "one.utterd"]).failed(2);
        assert_holds(&taken, &["one.utterd already exists: choose another file, or give --force"]);
        let mut piped = server.command(&["backup", "-"]);
        let piped = piped.output().expect("the command starts");
        assert!(piped.status.success());
        fs::write(server.directory.path().join("two.utterd"), &piped.stdout).expect("it is written");
        server.run(&["backup", "--force", "one.utterd"]).worked();
        let again = fs::read(&file).expect("the backup");
        assert!(again == piped.stdout, "the same is stored, so the backups are the same");
        assert!(!server.directory.path().join("one.utterd.part").exists());

        let directory = server.kill();
        let run = |arguments: &[&str]| Outcome::of(utterd(directory.path()).args(arguments));
        let place = format!("{to}:restored");
        let restored = run(&["restore", "two.utterd", "--to", &place]).worked();
        let expected =
            format!("restored two.utterd to {place} and verified it: 1 conversation, 2 utterances, ");
        assert_holds(&restored, &[&expected]);
        let refused = run(&["restore", "two.utterd", "--to", &place]).failed(1);
        assert_holds(&refused, &["it already holds a store; choose an empty directory"]);
        assert_holds(&run(&["verify", &place]).worked(), &["1 conversation, 2 utterances"]);
        let server = serve(to, "restored", directory);
        let shown = server.run(&["show", "demo"]).worked();
        assert_holds(&shown, &["The train leaves at nine.", "It was late.", " 2 of 20 utterances"]);
    }
}

#[test]
fn of_a_backup_that_is_not_whole_nothing_is_made() {
    let server = serve_new(EngineKind::Fjall);
    server.run(&["memorize", "--to", "demo", "The train leaves at nine."]).worked();
    server.run(&["backup", "whole"]).worked();
    let directory = server.kill();
    let path = |name: &str| directory.path().join(name);
    let whole = fs::read(path("whole")).expect("the backup");
    fs::write(path("cut"), &whole[..whole.len() - 1]).expect("it is written");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(path("changed"), changed).expect("it is written");
    fs::write(path("other"), "what a backup is not").expect("it is written");
    for (file, expected) in [
        ("cut", "the backup cut is incomplete: it ends before its last block"),
        ("changed", "the backup changed is damaged at byte "),
        ("other", "other is not a backup: a backup begins with the line `utterd backup`"),
        ("none", "none: No such file"),
    ] {
        let restore = ["restore", file, "--to", "fjall:restored"];
        let error = Outcome::of(utterd(directory.path()).args(restore)).failed(1);
        assert_holds(&error, &[expected]);
        assert!(!path("restored").exists(), "{file}");
    }
}

#[test]
fn what_a_server_keeps_in_memory_is_restored_to_files() {
    let server = Server::start_in(tempfile::tempdir().expect("a directory"), &[]);
    for text in ["The train leaves at nine.", "From platform four."] {
        server.run(&["memorize", "--to", "demo", text]).worked();
    }
    server.run(&["call", "ForkConversation", r#"{"conversationId": "demo"}"#]).worked();
    server.run(&["backup", "of-memory"]).worked();
    let directory = server.kill();
    let restore = ["restore", "of-memory", "--to", "fjall:restored"];
    let restored = Outcome::of(utterd(directory.path()).args(restore)).worked();
    assert_holds(&restored, &["and verified it: 2 conversations, 2 utterances, "]);
    let server = serve(EngineKind::Fjall, "restored", directory);
    let shown = server.run(&["show", "demo"]).worked();
    assert_holds(&shown, &["The train leaves at nine.", "From platform four."]);
}

#[test]
fn a_store_that_no_server_has_open_is_backed_up() {
    for engine in EngineKind::ALL {
        let server = serve_new(engine);
        server.run(&["memorize", "--to", "demo", "The train leaves at nine."]).worked();
        server.run(&["backup", "of-server"]).worked();
        let place = format!("{engine}:data");
        let used = server.run(&["backup", "of-files", "--from", &place]).failed(1);
        assert_holds(&used, &["the store in data is in use by process "]);
        let directory = server.kill();
        let run = |arguments: &[&str]| Outcome::of(utterd(directory.path()).args(arguments));
        let told = run(&["backup", "of-files", "--from", &place]).worked();
        assert_holds(&told, &[&format!("backed up {place} to of-files and checked it: "), " records, "]);
        let read = |name: &str| fs::read(directory.path().join(name)).expect("the backup");
        assert!(read("of-files") == read("of-server"), "the same is stored, so the backups are the same");
        let piped = utterd(directory.path()).args(["backup", "-", "--from", &place]).output();
        assert!(piped.expect("the command starts").stdout == read("of-files"));
        let missing = run(&["backup", "none", "--from", "fjall:nowhere"]).failed(1);
        assert_holds(&missing, &["there is no store in nowhere"]);
        assert!(!directory.path().join("none").exists() && !directory.path().join("nowhere").exists());
    }
}

const WRITERS: usize = 4;

/// The backup contains everything acknowledged before it began, and a prefix of what came meanwhile.
#[test]
fn a_backup_under_load_holds_what_was_answered() {
    for engine in [EngineKind::Fjall, EngineKind::Sled] {
        let server = serve_new(engine);
        let (stop, counts) = (AtomicBool::new(false), [const { AtomicUsize::new(0) }; WRITERS]);
        let answered = std::thread::scope(|scope| {
            let (address, stop) = (&server.address, &stop);
            for (writer, count) in counts.iter().enumerate() {
                scope.spawn(move || {
                    runtime().block_on(async {
                        while !stop.load(SeqCst) {
                            memorize(address, writer, count).await;
                        }
                    });
                });
            }
            while counts.iter().any(|count| count.load(SeqCst) < 30) {
                std::thread::yield_now();
            }
            let answered: Vec<_> = counts.iter().map(|count| count.load(SeqCst)).collect();
            let backup = server.run(&["backup", "loaded"]);
            stop.store(true, SeqCst);
            backup.worked();
            answered
        });
        let directory = server.kill();
        let restore = ["restore", "loaded", "--to", "fjall:restored"];
        Outcome::of(utterd(directory.path()).args(restore)).worked();
        let server = serve(EngineKind::Fjall, "restored", directory);
        for (writer, answered) in answered.into_iter().enumerate() {
            let kept = runtime().block_on(said(&server.address, writer));
            let expected: Vec<_> = (0..kept.len()).map(text).collect();
            assert!(kept == expected, "{engine}: {kept:?}");
            let all = counts[writer].load(SeqCst);
            assert!((answered..=all).contains(&kept.len()), "{engine}: {} of {answered}", kept.len());
        }
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn text(number: usize) -> String {
    format!("{number}: {}", "what was said. ".repeat(20))
}

async fn memorize(address: &str, writer: usize, count: &AtomicUsize) {
    let mut memory = MemoryServiceClient::connect(format!("http://{address}")).await.expect("a connection");
    for _ in 0..10 {
        let content = text(count.load(SeqCst));
        let said = NewUtterance { role: Role::User.into(), content, ..Default::default() };
        let request = MemorizeRequest {
            conversation_id: format!("c{writer}"),
            utterances: vec![said],
            ..Default::default()
        };
        memory.memorize(request).await.expect("it is stored");
        count.fetch_add(1, SeqCst);
    }
}

/// Everything in a writer's conversation, in order.
async fn said(address: &str, writer: usize) -> Vec<String> {
    let client = ConversationServiceClient::connect(format!("http://{address}")).await;
    let mut client = client.expect("a connection").max_decoding_message_size(usize::MAX);
    let (mut said, mut token) = (Vec::new(), String::new());
    loop {
        let request = ListUtterancesRequest {
            conversation_id: format!("c{writer}"),
            include_archive: true,
            page_token: token,
            ..Default::default()
        };
        let page = client.list_utterances(request).await.expect("a page").into_inner();
        said.extend(page.utterances.into_iter().map(|utterance| utterance.content));
        token = page.next_page_token;
        if token.is_empty() {
            return said;
        }
    }
}
