//! The stubs of other languages, and the programs of docs/languages.md that use them.

use std::{fs, path::Path, process::Command};

use crate::{
    clients::{Checked, Client, server::Server},
    support::binary::{Outcome, assert_holds},
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PAGE: &str = include_str!("../../../docs/languages.md");

/// The compiler of protos with gRPC's plugins, and the check of what they generate.
pub const STUBS: Client = Client {
    name: "stubs",
    probe: &["dpkg", "-s", "protobuf-compiler", "protobuf-compiler-grpc", "libprotobuf-dev"],
    install: "apt-get install protobuf-compiler protobuf-compiler-grpc libprotobuf-dev",
    optional: true,
    checks: &[("protoc_generates_the_names_of_the_page", protoc_generates_the_names_of_the_page)],
};

/// The plugins of `buf.gen.yaml`, as Debian's packages.
macro_rules! plugins {
    () => {
        "protoc-gen-go protoc-gen-go-grpc protobuf-compiler protobuf-compiler-grpc-java-plugin"
    };
}

/// A language whose program is built by buf and Debian's packages.
macro_rules! language {
    ($name:literal, $packages:literal) => {
        Client {
            name: $name,
            probe: &["sh", "-c", concat!("buf --version && dpkg -s ", plugins!(), " ", $packages)],
            install: concat!("pip install buf-bin, and apt-get install ", plugins!(), " ", $packages),
            optional: true,
            checks: &[("the_example", |server| example(server, $name))],
        }
    };
}

/// Go's example.
pub const GO: Client =
    language!("go", "golang-go golang-google-grpc-dev golang-google-genproto-dev golang-google-protobuf-dev");
/// Java's example.
pub const JAVA: Client = language!(
    "java",
    "default-jdk-headless libgrpc-java libprotobuf-java libgoogle-common-protos-java libguava-java libnetty-java \
     libperfmark-java libgeronimo-annotation-1.3-spec-java"
);

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

/// By the page's command, for each language in its table.
fn protoc_generates_the_names_of_the_page(_: &Server) -> Checked {
    let command = PAGE.lines().find(|line| line.starts_with("protoc ")).expect("the page has a command");
    for (language, has_services, file, part) in [
        ("kotlin", false, "com/utterd/v1/MemorizeRequestKt.kt", "package com.utterd.v1"),
        ("cpp", true, "utterd/v1/memory_service.grpc.pb.h", "namespace utterd {\nnamespace v1 {"),
        ("ruby", true, "utterd/v1/memory_service_services_pb.rb", "module Utterd\n  module V1"),
        ("csharp", false, "MemoryService.cs", "namespace Utterd.V1 {"),
        ("php", true, "Utterd/V1/MemoryServiceClient.php", "namespace Utterd\\V1;"),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let words = command.split(' ').filter(|word| has_services || !word.contains("grpc"));
        let command = words.collect::<Vec<_>>().join(" ");
        let command = command.replace("ruby", language).replace("=gen", "=\"$0\"");
        let mut shell = Command::new("sh");
        Outcome::of(shell.args(["-ec", &command]).arg(directory.path()).current_dir(ROOT)).worked();
        let text = fs::read_to_string(directory.path().join(file)).expect(file);
        assert_holds(&text, &[part]);
    }
    Ok(())
}
