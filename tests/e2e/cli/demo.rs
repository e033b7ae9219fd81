//! `utterd demo`: its output, and that the commands that it suggests work.

use std::{io::BufReader, process::Stdio};

use super::{Outcome, Process, assert_holds, line_with, utterd};

#[test]
fn every_command_that_the_demo_names_has_something_to_show() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    let mut child = command
        .args(["demo", "--listen", "127.0.0.1:0", "--inspector", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let _demo = Process(child);
    line_with(&mut stdout, "inspector: http://127.0.0.1:");
    line_with(&mut stdout, "try it in another terminal:");
    let mut try_it = |name: &str| {
        let line = line_with(&mut stdout, &format!("utterd {name} "));
        let words = shlex(line.trim());
        Outcome::of(utterd(directory.path()).args(&words[1..])).worked()
    };
    let listed = try_it("list");
    assert_eq!(listed.lines().count(), 6, "{listed}");
    assert_holds(
        &listed,
        &[
            "trip · anna · active · ",
            "\n  38 said, 573 tokens in the window · A long weekend in Lisbon\n",
            "trip-by-train · anna · ",
            "order-7 · ben · closed · ",
        ],
    );
    let shown = try_it("show");
    assert_holds(&shown, &["A long weekend in Lisbon", " 4* ", "→ search_trains(", "← {", "summary of "]);
    assert_holds(&try_it("remember"), &["almonds"]);
}

/// The words of a line, some of them in single quotes.
fn shlex(line: &str) -> Vec<String> {
    let quoted = line.split('\'').enumerate();
    let words = quoted.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}
