//! The files in `packaging` start the server as they say. What needs other programs to be checked is in
//! `tests/cases/clients`.

use std::{
    fs,
    io::BufReader,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::binary::{Outcome, Process, UTTERD, line_with, utterd, within};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn packaged(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join("packaging").join(path)).expect("the file is there")
}

/// The value of `key` in a unit of systemd.
fn value<'a>(unit: &'a str, key: &str) -> &'a str {
    let line = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("the unit has no {key}"))
}

/// A command of the unit, in `directory` with its files.
fn command(unit: &str, key: &str, directory: &Path) -> Command {
    let mut words = value(unit, key).split(' ');
    assert_eq!(words.next(), Some("/usr/local/bin/utterd"));
    let mut command = utterd(directory);
    command.args(words.map(|word| word.replace("/etc/utterd", &directory.display().to_string())));
    command
}

#[test]
fn the_unit_checks_and_starts_the_server() {
    let (directory, unit) = (tempfile::tempdir().expect("a directory"), packaged("systemd/utterd.service"));
    let settings = packaged("systemd/utterd.toml");
    assert!(settings.contains(&format!("/var/lib/{}/", value(&unit, "StateDirectory"))), "{settings}");
    let state = format!("{}/", directory.path().display());
    let settings =
        settings.replace("/var/lib/utterd/", &state).replace(":50051", ":0").replace(":9464", ":0");
    fs::write(directory.path().join("utterd.toml"), settings).expect("a file");
    Outcome::of(&mut command(&unit, "ExecStartPre", directory.path())).worked();
    let mut server = command(&unit, "ExecStart", directory.path());
    let server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut server = Process(server.expect("the server starts"));
    line_with(
        &mut BufReader::new(server.0.stdout.take().expect("stdout is piped")),
        "listening on 127.0.0.1:",
    );
    assert!(directory.path().join("data/STORE").exists());
}

/// The instructions of the Containerfile, without comments.
fn instructions() -> Vec<(String, String)> {
    let file = packaged("container/Containerfile");
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once(' ').expect("an instruction has arguments"));
    parts.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
}

fn instruction(name: &str) -> String {
    let all = instructions();
    all.iter().rfind(|(found, _)| found == name).unwrap_or_else(|| panic!("there is no {name}")).1.clone()
}

#[test]
fn the_container_starts_the_server() {
    let words = |name| -> Vec<String> { serde_json::from_str(&instruction(name)).expect("the form of JSON") };
    let (entry, arguments) = (words("ENTRYPOINT"), words("CMD"));
    assert!(instruction("COPY").ends_with(&format!(" {}", entry[0])), "what is started was copied");
    assert_eq!(instruction("USER"), "65532:65532");
    let directory = tempfile::tempdir().expect("a directory");
    let variable = instruction("ENV");
    let (name, value) = variable.split_once('=').expect("NAME=value");
    assert_eq!(value, instruction("VOLUME"));
    let data = directory.path().join("data");
    for backend in ["memory", "fjall"] {
        let mut command = utterd(directory.path());
        command.args(&entry[1..]).args(&arguments).args(["--check", "--backend", backend]).env(name, &data);
        Outcome::of(&mut command).worked();
    }
}

/// Whether `path` begins with one of the directories that the image is built without.
fn is_ignored(path: &str) -> bool {
    let ignored = fs::read_to_string(Path::new(ROOT).join(".dockerignore")).expect("the file is there");
    let mut lines = ignored.lines().filter(|line| !line.starts_with('#'));
    lines.any(|line| path == line || path.starts_with(&format!("{line}/")))
}

/// Every file below `directory` that the image is built from, relative to the root.
fn context(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let relative = path.strip_prefix(ROOT).expect("below the root").to_owned();
        match is_ignored(relative.to_str().expect("UTF-8")) {
            true => {}
            false if path.is_dir() => context(&path, files),
            false => files.push(relative),
        }
    }
}

/// Cargo accepts the files that are left, and the sources include no other.
#[test]
fn the_container_is_built_from_what_is_needed() {
    let place = tempfile::tempdir().expect("a directory");
    let mut files = Vec::new();
    context(Path::new(ROOT), &mut files);
    for file in &files {
        let copy = place.path().join(file);
        fs::create_dir_all(copy.parent().expect("it has one")).expect("a directory");
        fs::hard_link(Path::new(ROOT).join(file), &copy)
            .or_else(|_| fs::copy(Path::new(ROOT).join(file), &copy).map(drop))
            .expect("a copy");
    }
    let mut cargo = within(place.path(), env!("CARGO"));
    Outcome::of(cargo.args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"]))
        .worked();
    let is_source = |file: &&PathBuf| {
        (file.starts_with("src") || file.starts_with("crates"))
            && file.extension().is_some_and(|it| it == "rs")
    };
    for file in files.iter().filter(is_source) {
        let source = fs::read_to_string(Path::new(ROOT).join(file)).expect("a source");
        for part in source.split("include_str!(\"").skip(1) {
            let (included, _) = part.split_once('"').expect("a path ends");
            let directory = place.path().join(file);
            assert!(
                directory.parent().expect("it has one").join(included).exists(),
                "{}: {included}",
                file.display()
            );
        }
    }
}

#[test]
fn the_builds_name_what_exists() {
    let builds = instructions().into_iter().find(|(name, _)| name == "RUN").expect("it is built").1;
    assert_eq!(builds, "cargo build --profile dist --features full --locked --bin utterd && mkdir /data");
    assert!(Path::new(UTTERD).ends_with("utterd") && Path::new(ROOT).join("Cargo.lock").exists());
}
