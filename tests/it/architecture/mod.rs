//! That no files of a crate use one another in a circle; that the rules of conversations are pure; that statements sort
//! what they mean to; and that
//! `contributing/seeds.md` and `contributing/threats.md` name things that exist.
//!
//! Every path in a source is checked, in imports, in bodies and inside macros; comments and string literals are
//! not.

mod circles;
mod paths;
mod pure;
mod seeds;
mod sql;

use std::{
    fs,
    path::{Path, PathBuf},
};

use circles::{circles, uses};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A file: its path below its crate's `src/`, and its text.
type Source = (String, String);

/// The sources of each crate of the workspace.
fn crates() -> Vec<Vec<Source>> {
    let members = fs::read_dir(Path::new(ROOT).join("crates")).into_iter().flatten();
    let members = members.map(|member| member.expect("a crate").path());
    members.chain([ROOT.into()]).map(|member| sources(&member.join("src"))).collect()
}

/// Every file below `folder`.
fn sources(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort();
    let named = |path: PathBuf| {
        let file = path.strip_prefix(folder).expect("below it").to_string_lossy().into_owned();
        (file, fs::read_to_string(path).expect("a source is text"))
    };
    found.into_iter().map(named).collect()
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a folder of sources") {
        let path = entry.expect("it can be read").path();
        match path.is_dir() {
            true => collect(&path, found),
            false if path.extension().is_some_and(|kind| kind == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The module of a file: `engine::lane` for `engine/lane.rs`, `engine` for `engine/mod.rs`.
fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").split('/').map(str::to_owned);
    path.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
}

#[test]
fn no_files_use_one_another() {
    let found: Vec<String> = crates().iter().flat_map(|sources| circles(&uses(sources))).collect();
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
fn names_are_followed_to_the_file_that_defines_them() {
    let parent = ("a/mod.rs", "mod b;\nmod c;\npub use b::B;\npub use self::c::*;");
    let c = ("a/c.rs", "use super::B;\npub struct C(B);");
    assert_eq!(circles_of(&[parent, ("a/b.rs", "pub struct B;"), c]), [""; 0]);
    let told = "a/b.rs uses a/c.rs: crate::a::C\na/c.rs uses a/b.rs: crate::a::B\n";
    assert_eq!(circles_of(&[parent, ("a/b.rs", "use crate::a::C as D;\npub struct B(D);"), c]), [told]);
}

#[test]
fn no_rule_has_a_clock_or_does_io() {
    let sources =
        pure::PURE.iter().flat_map(|name| sources(&Path::new(ROOT).join("crates").join(name).join("src")));
    let found: Vec<String> = sources.flat_map(|source| pure::impurities(&source)).collect();
    assert!(found.is_empty(), "{} impurities:\n{}", found.len(), found.join("\n"));
}

#[test]
fn nothing_is_sorted_by_the_text_of_a_number() {
    let statement = "const A: &str = \"SELECT commit::text FROM a ORDER BY commit, b\";";
    assert_eq!(sql::sorted_as_text(&("a.rs".to_owned(), statement.to_owned())), ["a.rs: commit"]);
    let found: Vec<String> = crates().iter().flatten().flat_map(sql::sorted_as_text).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
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
    let words: String = protos.chain(read("crates/config/src/keys.rs")).chain(read("src/lib.rs")).collect();
    let found = seeds::faults(&read(table).expect("the table is there"), wanted, &words, read);
    assert!(found.is_empty(), "{} faults of {table}:\n{}", found.len(), found.join("\n"));
}
