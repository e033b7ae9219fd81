//! How calls ended.

use super::*;

fn ended(tool: &str, arguments: &str, result: &str) -> Outcome {
    deeds_of(&call(tool, arguments, Some(result))).pop().map_or(Outcome::Unanswered, |deed| deed.outcome)
}

fn failed(line: &str) -> Outcome {
    Outcome::Failed(line.into())
}

#[track_caller]
fn all(script: &str, cases: &[(&str, Outcome)]) {
    let arguments = serde_json::json!({ "command": script }).to_string();
    for (result, expected) in cases {
        assert_eq!(ended("bash", &arguments, result), *expected, "{result}");
    }
}

#[test]
fn a_program_tells_its_failure() {
    all(
        "make all 2>&1 | tail -5",
        &[
            ("ok", Outcome::Ok),
            ("running 9 tests\ntest t5 ... FAILED\ntest t6 ... ok", failed("test t5 ... FAILED")),
            ("2 failed, 3 passed in 0.1s", failed("2 failed, 3 passed in 0.1s")),
            ("0 failed, 23 passed\n<returncode>0</returncode>", Outcome::Ok),
            ("Traceback (most recent call last):\n  x\nKeyError: 'a'", failed("KeyError: 'a'")),
            ("Exit code 1\nsrc/a.ts(7,40): error TS2345: no.", failed("src/a.ts(7,40): error TS2345: no.")),
            ("one\ntwo\nexit code: 2", failed("one")),
            (
                "a.c:3:5: error: expected ';'\nmake: *** [Makefile:4: all] Error 1",
                failed("a.c:3:5: error: expected ';'"),
            ),
            (
                "error[E0308]: mismatched types\n --> a.rs:1:2\nerror: could not compile `a` due to 1 previous error",
                failed("error[E0308]: mismatched types"),
            ),
            (
                "thread 'main' panicked at src/a.rs:1:2:\nindex out of bounds",
                failed("thread 'main' panicked at src/a.rs:1:2:"),
            ),
            ("\u{1b}[31merror\u{1b}[0m: bad \u{1b}[1mthing\u{1b}[0m", failed("error: bad thing")),
            ("<output>\nFehler: Datei fehlt\n</output>", failed("Fehler: Datei fehlt")),
            ("--- FAIL: TestPump (0.01s)\nFAIL", failed("--- FAIL: TestPump (0.01s)")),
            ("not ok 3 - it adds", failed("not ok 3 - it adds")),
            ("Tests run: 5, Failures: 1, Errors: 0", failed("Tests run: 5, Failures: 1, Errors: 0")),
            ("bash: ponyc: command not found", failed("bash: ponyc: command not found")),
            ("ошибка: нет файла", failed("ошибка: нет файла")),
            ("エラー：ファイルがありません", failed("エラー：ファイルがありません")),
            ("a.js:3\n    throw x\n\nError: no\n    at A (a.js:3:11)", failed("Error: no")),
            (
                "Exception in thread \"main\" java.lang.NullPointerException: boom",
                failed("Exception in thread \"main\" java.lang.NullPointerException: boom"),
            ),
            (
                "[INFO] BUILD FAILURE\n[ERROR] A.adds:12 expected:<4> but was:<3>",
                failed("[ERROR] A.adds:12 expected:<4> but was:<3>"),
            ),
            (
                "FAILED a.py::test_x - assert 1 == 2\n=== 1 failed, 2 passed ===",
                failed("FAILED a.py::test_x - assert 1 == 2"),
            ),
            ("=== 1 failed, 2 passed in 3s ===", failed("1 failed, 2 passed in 3s")),
            ("Output: F.\nError: (none)\nExit Code: 1", failed("Output: F.")),
            ("Output: done\nError: (none)\nSignal: 0", Outcome::Ok),
            ("total errors: 0\nerror rate 0.2", Outcome::Ok),
            ("Passed!  - Failed:     0, Passed:    12", Outcome::Ok),
            ("Command aborted", failed("Command aborted")),
            (
                "main.c\nmake: *** [Makefile:20: all] Error 1\nexit code: 2",
                failed("make: *** [Makefile:20: all] Error 1"),
            ),
            ("Command timed out after 120.0 seconds", failed("Command timed out after 120.0 seconds")),
            ("Checked 12 files. No errors.", Outcome::Ok),
            ("Fixed 3 errors.", Outcome::Ok),
        ],
    );
}

#[test]
fn an_exit_code_is_that_of_the_last_command() {
    let result = "1 failed\nexit code: 0";
    all("pytest", &[(result, Outcome::Ok)]);
    all("pytest | tail -3", &[(result, failed("1 failed"))]);
    all(
        "grep x a.rs",
        &[
            ("<returncode>1</returncode>\n<output>\n</output>", Outcome::Ok),
            (
                "grep: b: No such file or directory\nexit code: 2",
                failed("grep: b: No such file or directory"),
            ),
        ],
    );
    all("cat a.sh", &[("#!/bin/sh\nset -e\nsys.exit(1)", Outcome::Ok)]);
}

#[test]
fn what_was_done_before_the_failure_was_done() {
    let arguments = r#"{"command":"mkdir a && pytest"}"#;
    let deeds = deeds_of(&call("bash", arguments, Some("2 failed\nexit code: 1")));
    assert_eq!(deeds[0].outcome, Outcome::Ok);
    assert_eq!(deeds[1].outcome, failed("2 failed"));
}

#[test]
fn a_read_that_worked_worked() {
    for (tool, arguments, result) in [
        ("ls", "{}", "error-context.md\nfailed.txt\nREADME.md"),
        ("read", r#"{"path":"a.md"}"#, "# Error handling\n\nErrors are handled in main. 3 errors are known."),
        ("read", r#"{"path":"a.md"}"#, "Error handling\n==\nSee below."),
        ("bash", r#"{"command":"ls"}"#, "error-context.md\nsrc"),
        ("bash", r#"{"command":"cat a.py"}"#, "raise ValueError('no')\nexcept KeyError:\n  return"),
        ("bash", r#"{"command":"cat a.md"}"#, "# Errors\n\nError: so errors look\nexit code 1 means none"),
        ("bash", r#"{"command":"cat package.json"}"#, r#"{"name": "a", "errors": {"x": 1}}"#),
        ("read", r#"{"path":"a.log"}"#, "1\tinfo\n2\tERROR: x\n3\tTraceback (most recent call last):"),
        ("get_order", r#"{"order_id":"W1"}"#, r#"{"order_id": "W1", "status": "cancelled", "error": null}"#),
        ("search", r#"{"query":"x"}"#, r#"[{"title": "error", "text": "failed"}]"#),
        ("think", r#"{"thought":"x"}"#, ""),
    ] {
        assert_eq!(ended(tool, arguments, result), Outcome::Ok, "{result}");
    }
}

#[test]
fn a_tool_tells_its_failure() {
    for (result, line) in [
        ("Error: not enough seats", "Error: not enough seats"),
        ("{\"error\": \"no such order\"}", "no such order"),
        ("{\"error\": {\"code\": 404, \"message\": \"no such order\"}}", "no such order"),
        ("{\"status\": \"failed\", \"reason\": \"card was declined\"}", "card was declined"),
        ("{\"success\": false, \"message\": \"the hall is full\"}", "the hall is full"),
        (
            "ERROR:\nNo replacement was performed, old_str did not appear",
            "No replacement was performed, old_str did not appear",
        ),
        ("Could not find the exact text in a.rs.", "Could not find the exact text in a.rs."),
        (
            "<tool_use_error>String to replace not found in file.</tool_use_error>",
            "String to replace not found in file.",
        ),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ("404 Not Found", "404 Not Found"),
        ("Sorry, no seats are left.", "Sorry, no seats are left."),
        ("予約できませんでした", "予約できませんでした"),
        ("Fehler: Saal ist ausgebucht", "Fehler: Saal ist ausgebucht"),
        ("No se pudo reservar la sala", "No se pudo reservar la sala"),
    ] {
        assert_eq!(ended("update_order", "{}", result), failed(line), "{result}");
    }
    let codex = r#"{"output":"a.c:1: error: no\n","metadata":{"exit_code":1,"duration_seconds":0.1}}"#;
    assert_eq!(ended("shell", r#"{"command":["gcc","a.c"]}"#, codex), failed("a.c:1: error: no"));
    let well = r#"{"output":"12 passed\n","metadata":{"exit_code":0}}"#;
    let deed = deeds_of(&call("shell", r#"{"command":["pytest"]}"#, Some(well))).remove(0);
    assert_eq!((deed.outcome, deed.passed.as_deref()), (Outcome::Ok, Some("12 passed")));
}

#[test]
fn what_the_user_stopped_was_not_made() {
    for result in [
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        "[Request interrupted by user for tool use]",
        "User rejected the edit",
        "Command was rejected by the user.",
        "Please give EXACTLY ONE action.\nFound 2.",
        "Give EXACTLY ONE action, found 2.\n<how>\n<a>\nx\n</a>\n<b>\ny\n</b>\n</how>\nas shown.",
    ] {
        assert_eq!(ended("edit", "{}", result), Outcome::Declined, "{result}");
    }
    assert_eq!(ended("cancel_order", "{}", "Order cancelled, as the user asked."), Outcome::Ok);
    assert_eq!(deeds_of(&call("read", "{}", None))[0].outcome, Outcome::Unanswered);
}

#[test]
fn a_success_is_told_by_its_line() {
    for (result, line) in [
        ("...\n==== 46 passed, 8 skipped in 7.96s ====\n", Some("46 passed, 8 skipped in 7.96s")),
        (
            "test result: ok. 23 passed; 0 failed\n\ntest result: ok. 0 passed; 0 failed",
            Some("23 passed; 0 failed"),
        ),
        ("Ran 5 tests in 0.1s\n\nOK", Some("OK")),
        ("  12 passing (30ms)", Some("12 passing (30ms)")),
        ("nothing", None),
    ] {
        let deed = deeds_of(&call("bash", r#"{"command":"npm test"}"#, Some(result))).remove(0);
        assert_eq!(deed.passed.as_deref(), line, "{result}");
    }
}

#[test]
fn a_long_line_is_cut() {
    let Outcome::Failed(line) = ended("update", "{}", &format!("Error: {}", "é".repeat(400))) else {
        panic!("it failed")
    };
    assert!(line.len() <= 300 && line.ends_with('…'));
}

#[test]
fn the_title_of_a_commit_is_no_failure() {
    all("git commit -m 'Fix 3 errors'", &[("[main abc1234] Remove 3 errors\n 2 files changed", Outcome::Ok)]);
    all(
        "git merge dev",
        &[(
            "CONFLICT (content): Merge conflict in a.rs",
            failed("CONFLICT (content): Merge conflict in a.rs"),
        )],
    );
    all("git push", &[("error: failed to push some refs", failed("error: failed to push some refs"))]);
}
