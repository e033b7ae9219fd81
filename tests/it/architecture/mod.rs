//! The floors of the house: which part can use which; that no files use one another in a circle; and that
//! `contributing/seeds.md` and `contributing/threats.md` name things that exist.
//!
//! Every path in `src/` is checked, in imports, in bodies and inside macros; comments and string literals are
//! not. A path that breaks a floor fails the test, with its file and line.

mod circles;
mod floors;
mod paths;
mod seeds;

use std::{
    fs,
    path::{Path, PathBuf},
};

use circles::{circles, uses};
use floors::{Contract, room_of, rule, violations};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Every file of `src/`: its path below `src/`, and its text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(Path::new(SRC), &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let file = path.strip_prefix(SRC).expect("under src").to_string_lossy().into_owned();
            (file, fs::read_to_string(path).expect("a source is text"))
        })
        .collect()
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("src is there") {
        let path = entry.expect("src can be read").path();
        match path.is_dir() {
            true => collect(&path, found),
            false if path.extension().is_some_and(|kind| kind == "rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn no_floor_is_broken() {
    let sources = sources();
    let contract = sources.iter().filter(|(file, _)| file.starts_with("store/contract"));
    let contract = Contract::read(contract.map(|(_, source)| source.as_str()));
    // code that exists only for tests can be on any floor
    let built = sources.iter().filter(|(file, _)| !file.ends_with("/tests.rs"));
    let found: Vec<String> = built.flat_map(|(file, source)| violations(file, source, &contract)).collect();
    assert!(found.is_empty(), "{} floors are broken:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_files_use_one_another() {
    let found = circles(&uses(&sources()));
    assert!(found.is_empty(), "{} circles of files:\n{}", found.len(), found.join("\n"));
}

/// The circles among files with these paths and texts.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let owned = |(path, source): &(&str, &str)| ((*path).to_owned(), (*source).to_owned());
    circles(&uses(&files.iter().map(owned).collect::<Vec<_>>()))
}

#[test]
fn a_circle_is_named_with_what_is_used() {
    let files = [
        ("a.rs", "use crate::b::B;\npub struct A;"),
        ("b.rs", "pub struct B;\nfn f() { super::c::d::make() }"),
        ("c/mod.rs", "mod d;"),
        ("c/d.rs", "pub fn make() -> crate::a::A {}"),
    ];
    let told =
        "a.rs uses b.rs: crate::b::B\nb.rs uses c/d.rs: crate::c::d::make\nc/d.rs uses a.rs: crate::a::A\n";
    assert_eq!(circles_of(&files), [told]);
}

#[test]
fn an_item_is_in_the_file_whose_macro_writes_it() {
    let a = "macro_rules! columns {\n    ($($name:ident),*) => { pub struct Row { $($name: crate::b::B),* } };\n}\ncolumns! { id }";
    let files = [("a.rs", a), ("b.rs", "pub struct B;\nfn f(row: crate::a::Row) {}")];
    assert_eq!(circles_of(&files), ["a.rs uses b.rs: crate::b::B\nb.rs uses a.rs: crate::a::Row\n"]);
}

#[test]
fn names_are_followed_to_the_file_that_defines_them() {
    let parent = ("a/mod.rs", "mod b;\nmod c;\npub use b::B;\npub use self::c::*;");
    let c = ("a/c.rs", "use super::B;\npub struct C(B);");
    assert_eq!(circles_of(&[parent, ("a/b.rs", "pub struct B;"), c]), [""; 0]);
    let told = "a/b.rs uses a/c.rs: crate::a::C\na/c.rs uses a/b.rs: crate::a::B\n";
    assert_eq!(circles_of(&[parent, ("a/b.rs", "use crate::a::C as D;\npub struct B(D);"), c]), [told]);
}

#[test]
fn a_parent_that_uses_its_child_is_in_a_circle_when_the_child_uses_it() {
    let child = ("a/b.rs", "use super::A;\npub(super) fn b(a: A) {}");
    let parent = ("a/mod.rs", "mod b;\npub struct A;\nfn f() { b::b(A) }");
    let told = "a/b.rs uses a/mod.rs: crate::a::A\na/mod.rs uses a/b.rs: b::b\n";
    assert_eq!(circles_of(&[parent, child]), [told]);
    assert_eq!(circles_of(&[("a/mod.rs", "mod b;\npub use b::b;\npub struct A;"), child]), [""; 0]);
}

#[test]
fn what_only_tests_use_makes_no_circle() {
    let a = ("a.rs", "pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}");
    assert_eq!(circles_of(&[a, ("b.rs", "use crate::a::A;\npub struct B(A);")]), [""; 0]);
}

#[test]
fn every_room_has_a_rule() {
    let rooms = sources().into_iter().map(|(file, _)| room_of(&file));
    let unruled: Vec<String> = rooms.filter(|room| rule(room).is_none()).collect();
    assert_eq!(unruled, Vec::<String>::new(), "say in tests/it/architecture what they may use");
}

/// The checker's output for a snippet, without the file.
#[track_caller]
fn check(file: &str, source: &str) -> Vec<String> {
    let contract = Contract::read(["pub trait Store {}\npub struct Commit;", "struct Hidden;"]);
    let prefix = format!("src/{file}:");
    let found = violations(file, source, &contract).into_iter();
    found.map(|line| line.strip_prefix(&prefix).expect("names its file").to_owned()).collect()
}

#[test]
fn a_floor_below_may_be_used() {
    let engine =
        "use crate::{domain::Change, engine::lane::Lane, store::{Commit, Store}};\nuse super::Engine;";
    assert_eq!(check("engine/write.rs", engine), [""; 0]);
    assert_eq!(check("cli/naming.rs", "use crate::domain::limits::MAX_ID_BYTES;"), [""; 0]);
    assert_eq!(check("cli/client.rs", "use crate::proto::memory_service_client as client;"), [""; 0]);
    assert_eq!(check("main.rs", "fn main() { utterd::cli::run() }"), [""; 0]);
}

#[test]
fn a_floor_above_is_named_with_its_line() {
    assert_eq!(
        check("store/memory.rs", "use std::sync::Arc;\n\nuse crate::{domain::Change, rpc::Services};"),
        ["3: crate::rpc::Services: store never uses rpc"]
    );
    assert_eq!(
        check("cli/naming.rs", "use crate::domain::{Role, limits::MAX_ID_BYTES};"),
        ["1: crate::domain::Role: cli never uses domain"]
    );
    assert_eq!(
        check("cli/show.rs", "fn f() {\n    crate::engine::Engine::new();\n}"),
        ["2: crate::engine::Engine::new: cli never uses engine"]
    );
    assert_eq!(
        check("engine/lane.rs", "fn f() -> A { A { ..crate::rpc::a() } }"),
        ["1: crate::rpc::a: engine never uses rpc"]
    );
    assert_eq!(check("main.rs", "use utterd::rpc;"), ["1: crate::rpc: main never uses rpc"]);
}

#[test]
fn the_engine_uses_only_the_stores_contract() {
    let why = "engine uses the store's contract and nothing else of it";
    let source = "use crate::store::MemoryStore;\nuse crate::store::{Hidden, Store};\nuse crate::store::*;\nuse crate::store;";
    let expected = [
        format!("1: crate::store::MemoryStore: {why}"),
        format!("2: crate::store::Hidden: {why}"),
        format!("3: crate::store: {why}"),
        format!("4: crate::store: {why}"),
    ];
    assert_eq!(check("engine/mod.rs", source), expected);
}

#[test]
fn relative_paths_are_followed() {
    assert_eq!(
        check("rpc/memory.rs", "use super::super::store::Store;"),
        ["1: crate::store::Store: rpc never uses store"]
    );
    let nested = "mod tests {\n    use super::super::super::rpc;\n    use super::Lane;\n}";
    assert_eq!(check("engine/lane.rs", nested), ["2: crate::rpc: engine never uses rpc"]);
}

#[test]
fn macros_are_looked_into() {
    assert_eq!(
        check(
            "engine/lane.rs",
            "fn f() {\n    tokio::select! {\n        _ = tonic::Status::ok(1) => {}\n    }\n}"
        ),
        ["3: tonic::Status::ok: engine never uses tonic"]
    );
}

#[test]
fn an_exported_macro_stands_in_no_part() {
    assert_eq!(check("store/suite.rs", "macro_rules! a { () => { $crate::b!(1); } }"), [""; 0]);
    assert_eq!(
        check("store/suite.rs", "macro_rules! a { () => { $crate::rpc::b!(1); } }"),
        ["1: crate::rpc::b: store never uses rpc"]
    );
}

#[test]
fn the_domain_is_pure() {
    let impure = [
        (
            "use std::time::{Duration, Instant};",
            "1: std::time::Instant: domain never uses std::time::Instant",
        ),
        ("use std::time;", "1: std::time: domain never uses std::time::SystemTime"),
        ("use std::time::*;", "1: std::time: domain never uses std::time::SystemTime"),
        ("fn f() { std::fs::read(p); }", "1: std::fs::read: domain never uses std::fs"),
        ("#[tokio::test]\nfn f() {}", "1: tokio::test: domain never uses tokio"),
        ("async fn f() {}", "1: async: domain never says async"),
        ("fn f() { println!(\"x\"); }", "1: println: domain never says println"),
        ("fn f() { ::rand::random(); }", "1: rand::random: domain never uses rand"),
    ];
    for (source, expected) in impure {
        assert_eq!(check("domain/window.rs", source), [expected], "{source}");
    }
}

#[test]
fn what_only_looks_like_a_path_is_let_be() {
    let source = r#"
        //! Never tokio::spawn, says crate::engine.
        use std::{collections::HashMap, sync::Arc, time::Duration};
        fn f(change: Change) -> &'static str {
            change.rpc.tokio();
            /* async */
            "use crate::rpc; println"
        }
    "#;
    assert_eq!(check("domain/change.rs", source), [""; 0]);
}

#[test]
fn every_row_of_the_seeds_is_shown() {
    every_row_is_shown("contributing/seeds.md", &seeds::DOCUMENTS);
}

#[test]
fn every_threat_has_a_test() {
    every_row_is_shown("contributing/threats.md", &seeds::SECTIONS);
}

#[track_caller]
fn every_row_is_shown(table: &str, wanted: &[&str]) {
    let read = |file: &str| fs::read_to_string(Path::new(ROOT).join(file)).ok();
    let protos = fs::read_dir(Path::new(ROOT).join("proto/utterd/v1")).expect("the protos are there");
    let protos =
        protos.map(|file| fs::read_to_string(file.expect("a proto").path()).expect("a proto is text"));
    let words: String = protos.chain(read("src/config/keys.rs")).chain(read("src/lib.rs")).collect();
    let found = seeds::faults(&read(table).expect("the table is there"), wanted, &words, read);
    assert!(found.is_empty(), "{} faults of {table}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_row_that_is_not_shown_is_named() {
    const SOURCE: &str = "cases! {\n    c\n}\n/// A test.\n#[tokio::test(x)]\nasync fn a() {}\nfn b() {}\n\
        async fn c(x: X) {}\n#[test]\n#[ignore]\nfn d() {}";
    let table = "| | asks |\n\
        | 000.1 | one | `Memorize` | `t.rs::a`, `t.rs::c`, `s.txt` |\n\
        | 000.3 | two | `Memorise`, `max_turn` | `t.rs::b`, `t.rs::d`, `t.rs`, `u.rs::a`, `u.txt` |\n\
        | 001.1 | three | – | because |\n\
        | 002.1 | four | – | Decided: `EndTalk` is another's |\n\
        | 003.1 |  | `Memorize` | Decided:  |\n\
        | 003.2 | five | `Memorize` |\n";
    let read = |file: &str| (file == "t.rs" || file == "s.txt").then(|| SOURCE.to_owned());
    let wanted = [
        "the documents are [\"000\", \"001\", \"002\", \"003\", \"004\"], not [\"000\", \"001\", \"002\", \"003\"]",
        "000.3: 000.2 is the next number",
        "000.3: there is no Memorise",
        "000.3: there is no max_turn",
        "000.3: there is no test t.rs::b",
        "000.3: there is no test t.rs::d",
        "000.3: there is no test t.rs",
        "000.3: there is no test u.rs::a",
        "000.3: there is no test u.txt",
        "001.1: names no test, and its reason does not begin with \"Decided: \"",
        "002.1: there is no EndTalk",
        "003.1: has an empty cell",
        "003.2: has 2 cells beside its number, not 3",
    ];
    assert_eq!(seeds::faults(table, &seeds::DOCUMENTS, "rpc Memorize max_turns", read), wanted);
}
