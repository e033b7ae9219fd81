//! The stubs of other languages, and the programs of docs/languages.md that use them.

use std::{fs, path::Path, process::Command};

use crate::{
    clients::{Checked, Client, server::Server},
    support::binary::{Outcome, assert_holds},
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PAGE: &str = include_str!("../../../docs/languages.md");

/// The plugins of all languages, as Debian's packages.
macro_rules! plugins {
    () => {
        "protobuf-compiler protobuf-compiler-grpc protobuf-compiler-grpc-java-plugin protoc-gen-go protoc-gen-go-grpc"
    };
}

/// What Java's program needs, as Debian's packages.
macro_rules! java {
    () => {
        "default-jdk-headless libgrpc-java libprotobuf-java libgoogle-common-protos-java libguava-java libnetty-java \
         libperfmark-java libgeronimo-annotation-1.3-spec-java"
    };
}

/// A client that consists of buf and of Debian's packages.
macro_rules! client {
    ($name:literal, $packages:expr, $checks:expr) => {
        Client {
            name: $name,
            probe: &["sh", "-c", concat!("buf --version && dpkg -s ", plugins!(), " ", $packages)],
            install: concat!("pip install buf-bin, and apt-get install ", plugins!(), " ", $packages),
            optional: false,
            checks: $checks,
        }
    };
}

/// The plugins, and the checks of what they generate.
pub const STUBS: Client = client!(
    "stubs",
    "",
    &[
        ("every_language_is_generated", every_language_is_generated),
        ("protoc_generates_the_same_names", protoc_generates_the_same_names),
    ]
);
/// Go's example.
pub const GO: Client = client!(
    "go",
    "golang-go golang-google-grpc-dev golang-google-genproto-dev golang-google-protobuf-dev",
    &[("the_example", |server| example(server, "go"))]
);
/// Java's example.
pub const JAVA: Client = client!("java", java!(), &[("the_example", |server| example(server, "java"))]);
/// Kotlin's example.
pub const KOTLIN: Client =
    client!("kotlin", concat!("kotlin ", java!()), &[("the_example", |server| example(server, "kotlin"))]);
/// C++'s example.
pub const CPP: Client = client!(
    "cpp",
    "g++ pkg-config libgrpc++-dev libprotobuf-dev",
    &[("the_example", |server| example(server, "cpp"))]
);
/// Ruby's example.
pub const RUBY: Client =
    client!("ruby", "ruby-grpc ruby-google-protobuf", &[("the_example", |server| example(server, "ruby"))]);

fn example(server: &Server, language: &str) -> Checked {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples").join(language);
    let mut command = Command::new("bash");
    command.arg(format!("{ROOT}/examples/run")).args([language, &server.address]).arg(built);
    let printed = Outcome::of(&mut command).worked();
    let (_, shown) = PAGE.split_once("```text\n").expect("the page shows what is printed");
    let (shown, _) = shown.split_once("```").expect("the block ends");
    assert_eq!(printed, shown);
    Ok(())
}

/// Those that no example compiles are looked into.
fn every_language_is_generated(_: &Server) -> Checked {
    let directory = tempfile::tempdir().expect("a directory");
    script("buf generate -o \"$0\"", directory.path());
    for (file, part) in [
        ("csharp/MemoryService.cs", "namespace Utterd.V1 {"),
        ("kotlin/com/utterd/v1/MemorizeRequestKt.kt", "package com.utterd.v1"),
        ("php/Utterd/V1/MemorizeRequest.php", "namespace Utterd\\V1;"),
        ("php/Utterd/V1/MemoryServiceClient.php", "function Memorize("),
    ] {
        let text = fs::read_to_string(directory.path().join("gen").join(file)).expect(file);
        assert_holds(&text, &[part]);
    }
    Ok(())
}

/// The names in the protos are those that buf's managed mode sets: each file of protoc is one of buf's.
fn protoc_generates_the_same_names(_: &Server) -> Checked {
    let directory = tempfile::tempdir().expect("a directory");
    let names = r#"
        buf generate -o "$0"
        for language in java kotlin cpp ruby csharp php; do
            mkdir -p "$0/protoc/$language"
            protoc -I proto "--${language}_out=$0/protoc/$language" proto/utterd/v1/*.proto
        done
        cd "$0/protoc"
        find . -type f | while read -r file; do test -f "../gen/$file" && echo same || echo "$file"; done | sort -u"#;
    assert_eq!(script(names, directory.path()), "same\n");
    Ok(())
}

/// The output of a shell script, in the project's directory; `$0` is the given directory.
fn script(text: &str, directory: &Path) -> String {
    Outcome::of(Command::new("sh").args(["-ec", text]).arg(directory).current_dir(ROOT)).worked()
}
