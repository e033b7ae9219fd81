//! How a call ended, by its result.
//!
//! A result says in one of four ways that the call failed: by a member of a JSON object, by an exit code, by its first
//! words, or, for what ran something, by a line such as `test t5 ... FAILED`: a pipe hides the exit code of all but its
//! last command. Of a long result only the two ends are read.

use crate::{
    extractive::{
        effects::leaves,
        text::clip::{clip, clip_tail},
    },
    phrases::phrases,
};

/// How much of a result's head, and of its tail, is read, in bytes.
const READ_BYTES: usize = 2_400;
/// How much of the first words is read, in bytes.
const FIRST_BYTES: usize = 200;
/// How many of a program's last lines can say how it ended.
const LAST_LINES: usize = 6;
/// How many members of a JSON object are read.
const MOST_MEMBERS: usize = 64;
/// How much of a JSON result is read, in bytes.
const JSON_BYTES: usize = 20_000;

/// What a call did, as far as its result has to be read differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extractive) enum Manner {
    /// It called a tool.
    Tool,
    /// It called a tool that changes something.
    Changes,
    /// It ran commands that only look something up.
    Looks,
    /// It ran a program: a build, tests, a script.
    Runs,
}

/// The words of the failure that a result reports; `None` if the call succeeded.
pub(in crate::extractive) fn failure(manner: Manner, result: &str) -> Option<&str> {
    let result = result.trim();
    if result.starts_with(['{', '[']) {
        return json_failure(result);
    }
    let (head, tail) = (clip(result, READ_BYTES), clip_tail(result, READ_BYTES));
    let code = match manner {
        // a file that was read may speak of exit codes
        Manner::Tool | Manner::Changes => lines(head, tail).filter(|line| is_exit(line)).find_map(exit_code),
        _ => exit_code(clip(result, FIRST_BYTES)).or_else(|| exit_code(clip_tail(result, FIRST_BYTES))),
    };
    let bad = || lines(head, tail).any(|line| is_failure(line, code == Some(0)));
    let first = first_line(head);
    if code.is_none() && (is_stopped(first) || is_refused(first)) {
        return Some(first);
    }
    let failed = match (manner, code) {
        // `grep` and `diff` exit with 1 to say "none"
        (Manner::Looks, Some(1)) => {
            lines(head, tail).filter(|line| exit_code(line).is_none()).any(|line| is_failure(line, false))
        }
        (_, Some(code)) if code != 0 => true,
        (Manner::Runs, _) => bad(),
        (_, Some(_)) => false,
        (Manner::Looks, None) => is_bad_opening(first) || lines(head, "").take(8).any(is_shell_error),
        (Manner::Tool, None) => is_bad_opening(first),
        (Manner::Changes, None) => is_bad_opening(first) || is_refused_edit(clip(result, 300)),
    };
    failed.then(|| error_line(result))
}

/// Of a program's last lines, the one that says that it failed, or that it showed the fault it was written to show. Its
/// exit code can still be 0.
pub(in crate::extractive) fn bad_end(result: &str) -> Option<&str> {
    const STARTS: [&str; 6] = ["error:", "fail", "crash", "exception:", "assertion failed", "bug:"];
    const WITHIN: [&str; 4] = ["failed with", "fails with", "crashed with", "reproduced"];
    const DENIED: [&str; 6] = ["not ", "n't ", "cannot ", "no longer ", "0 ", ": 0"];
    let is_bad = |line: &&str| {
        let lower = clip(line, FIRST_BYTES).to_lowercase();
        let says = STARTS.iter().any(|start| lower.starts_with(start))
            || WITHIN.iter().any(|phrase| lower.contains(phrase));
        is_exception(line) || says && !line.ends_with('?') && !DENIED.iter().any(|word| lower.contains(word))
    };
    let told = lines("", clip_tail(result, READ_BYTES))
        .rev()
        .filter(|line| !is_tag(line) && !is_exit(line))
        .take(LAST_LINES);
    { told }.map(|line| line.trim_start_matches(|c: char| !c.is_alphanumeric())).find(is_bad)
}

/// The line of a result that says best what went wrong.
pub(in crate::extractive) fn error_line(result: &str) -> &str {
    let (head, tail) = (clip(result, READ_BYTES), clip_tail(result, READ_BYTES));
    let announces =
        |line: &str| line.ends_with(':') && !line[..line.len() - 1].contains(':') && line.len() < 24;
    let told = |line: &&str| {
        line.contains(char::is_alphabetic) && !is_tag(line) && !announces(line) && !is_listing(line)
    };
    let named = lines(head, tail).filter(told).rfind(|line| names_error(line));
    let any =
        || lines(head, tail).filter(told).find(|line| hints_at_error(line) || exit_code(line).is_some());
    let line = named.or_else(any).or_else(|| lines(head, tail).find(told)).unwrap_or(result);
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '<');
    match bare.get(..6) {
        Some(opening) if opening.eq_ignore_ascii_case("error:") && bare.len() > 8 => bare[6..].trim_start(),
        _ => bare,
    }
}

/// The line of a result that says that all is well: `23 passed`, `test result: ok`.
pub(in crate::extractive) fn success_line(result: &str) -> Option<&str> {
    let (head, tail) = (clip(result, READ_BYTES), clip_tail(result, READ_BYTES));
    let passes = |line: &&str| {
        counted(line, &["passed", "passing"]).is_some()
            || line.starts_with("test result: ok")
            || line.starts_with("Ran ") && line.contains(" test")
            || line.starts_with("OK (")
            || *line == "OK"
            || line.starts_with("All ") && (line.contains(" test") || line.contains(" checks"))
            || line.contains("No fixes applied")
    };
    lines(head, tail).rfind(passes).map(|line| line.trim_matches(['=', ' ']))
}

/// Whether a whole line tells an exit code.
fn is_exit(line: &str) -> bool {
    const STARTS: [&str; 5] = ["exit", "<returncode>", "process exited", "command exited", "returncode"];
    line.len() < 60
        && STARTS
            .iter()
            .any(|start| line.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start)))
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty() && !is_tag(line)).unwrap_or_default()
}

/// The lines of a result's two ends. If they overlap, some lines come twice.
fn lines<'a>(head: &'a str, tail: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
    let tail = if head.len() == tail.len() && std::ptr::eq(head.as_ptr(), tail.as_ptr()) { "" } else { tail };
    head.lines().chain(tail.lines()).map(str::trim).filter(|line| !line.is_empty())
}

/// `<output>`, `</returncode>`.
fn is_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
}

/// A line of code that a compiler shows: `216 │ return x`, `> 7 | let x`.
fn is_listing(line: &str) -> bool {
    let code = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ' ' | '>'));
    code.starts_with(['│', '|'])
}

/// The error that a JSON object reports in a member of its own.
fn json_failure(json: &str) -> Option<&str> {
    const FAILED: [&str; 6] = ["error", "failed", "failure", "rejected", "denied", "declined"];
    if json.starts_with('[') {
        return None;
    }
    let (mut failed, mut error, mut message) = (false, None, None);
    for leaf in leaves(clip(json, JSON_BYTES)).take(MOST_MEMBERS).filter(|leaf| leaf.depth == 1) {
        match leaf.key {
            "error" | "errors" | "Error" | "error_message" => {
                let is_none = matches!(leaf.raw, "" | "null" | "false" | "0");
                failed |= !is_none;
                error = error.or((leaf.is_text && !is_none).then_some(leaf.raw));
            }
            "success" | "ok" => failed |= leaf.raw == "false",
            "isError" | "is_error" => failed |= leaf.raw == "true",
            "status" | "state" => failed |= FAILED.iter().any(|word| leaf.raw.eq_ignore_ascii_case(word)),
            "message" | "reason" | "detail" | "msg" => message = message.or(Some(leaf.raw)),
            _ => {}
        }
    }
    let words = || error.or(message).unwrap_or("error");
    if failed { Some(words()) } else { nested_error(clip(json, FIRST_BYTES * 4)) }
}

/// The first text in an object under `"error"`: `{"error": {"code": 404, "message": "no such order"}}`.
fn nested_error(head: &str) -> Option<&str> {
    let (_, value) = head.split_once("\"error\"")?;
    let inside = value.trim_start().strip_prefix(':')?.trim_start().strip_prefix('{')?;
    let inside = &inside[..inside.find('}').unwrap_or(inside.len())];
    leaves(inside).find(|leaf| leaf.is_text && leaf.raw.contains(' ')).map(|leaf| leaf.raw)
}

/// The number behind `exit code`, `<returncode>` and the like.
fn exit_code(part: &str) -> Option<i64> {
    const PHRASES: [&str; 9] = phrases(
        "<returncode>|exit code|exit status|exited with code|exited with status|returncode|Exit code|\
        Exit status|exit_code",
    );
    PHRASES.iter().find_map(|phrase| {
        let number = &part[part.rfind(phrase)? + phrase.len()..];
        let number = number.trim_start_matches([':', ' ', '=', '"', '\'']);
        let end = number.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && *c == '-'));
        number[..end.map_or(number.len(), |(at, _)| at)].parse().ok()
    })
}

/// How the first line of a failed call's result begins, in lower case.
const BAD_OPENINGS: [&str; 36] = phrases(
    "error|failed|failure|fatal|exception|traceback|usage:|invalid|cannot|could not|couldn't|can't|unable|\
    no such|permission denied|not found|file not found|no replacement|rejected|denied|refused|timed out|\
    timeout|time out|your proposed edit|your edit|unknown |tool_use_error|command not found|insufficient|\
    not enough|panic|fehler|erreur|错误|エラー",
);

fn is_bad_opening(line: &str) -> bool {
    let lower = clip(line, FIRST_BYTES).to_lowercase();
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |text: &str| {
        BAD_OPENINGS.iter().any(|opening| {
            // "errors are handled in main" reports nothing
            text.strip_prefix(opening).is_some_and(|rest| {
                !opening.ends_with(char::is_alphabetic) || !rest.starts_with(char::is_alphanumeric)
            })
        })
    };
    let words: Vec<usize> = bare.match_indices(' ').map(|(at, _)| at + 1).take(2).collect();
    // a line of code that was read is no message
    let is_message = |at: &usize| !bare[..*at].contains(['(', '{', '=', ';']);
    begins(bare)
        || words
            .into_iter()
            .filter(is_message)
            .any(|at| ERRORS.iter().any(|word| bare[at..].starts_with(word)))
        || is_shell_error(line)
}

/// What the second or third word of such a line is: `Execution failed`, `Runtime error:`.
const ERRORS: [&str; 5] = ["error:", "failed:", "failed.", "exception:", "not found"];

/// Whether the line says that somebody stopped the call: `Command aborted`, `The user rejected the call`.
fn is_stopped(line: &str) -> bool {
    // an order that a call cancelled is a success
    const CALLS: [&str; 6] = ["command", "operation", "request", "tool", "execution", "call"];
    const STOPPED: [&str; 6] = ["aborted", "interrupted", "cancelled", "canceled", "skipped", "killed"];
    const BY_USER: [&str; 9] = phrases(
        "rejected|denied|declined|refused|aborted|interrupted|doesn't want|does not want|did not approve",
    );
    let lower = clip(line, FIRST_BYTES).to_lowercase().replace('’', "'");
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let names_user = words.clone().any(|word| word == "user");
    let is_call = words.next().is_some_and(|first| CALLS.contains(&first));
    is_call && words.take(3).any(|word| STOPPED.contains(&word))
        || names_user && BY_USER.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a call was not run because of its form: its result says how calls are to be made.
pub(in crate::extractive) fn refused(result: &str) -> bool {
    is_refused(first_line(clip(result, FIRST_BYTES)))
}

fn is_refused(line: &str) -> bool {
    const CALLS: [&str; 6] = ["action", "call", "command", "output", "response", "tool"];
    const ADDRESSED: [&str; 4] = ["please", "you", "your", "must"];
    const FORMS: [&str; 7] =
        phrases("exactly one|only one|at least one|at a time|a single|not formatted|wrong format");
    const NOT_RUN: [&str; 5] = phrases("not executed|not run|n't run|n't executed|not been executed");
    let lower = clip(line, FIRST_BYTES).to_lowercase();
    let has = |any: &[&str]| any.iter().any(|phrase| lower.contains(phrase));
    let words = lower.split(|c: char| !c.is_alphanumeric()).map(|word| word.trim_end_matches('s'));
    let names = |any: &[&str]| words.clone().any(|word| any.contains(&word));
    (has(&NOT_RUN) || has(&FORMS) && names(&ADDRESSED)) && names(&CALLS)
}

fn is_refused_edit(head: &str) -> bool {
    const REFUSALS: [&str; 8] = phrases(
        "has introduced|did not appear|no replacement|No replacement|not unique|must match|\
        multiple occurrences|No changes",
    );
    REFUSALS.iter().any(|phrase| head.contains(phrase)) && !head.contains("success")
}

fn is_shell_error(line: &str) -> bool {
    line.ends_with("command not found")
        || line.contains(": No such file or directory")
        || line.contains("panicked at")
        || line.contains(": Permission denied")
        || line.starts_with("Traceback (most recent")
}

/// Whether a line of a program's output says that it failed. After an exit code of 0, only what cannot mean anything
/// else counts.
fn is_failure(line: &str, exited_well: bool) -> bool {
    const SURE: [&str; 6] =
        ["FAILED", "error TS", "npm error", "npm ERR!", "panicked at", "test result: FAILED"];
    const STARTS: [&str; 14] = phrases(
        "FAIL:|FAIL |E   |error:|error[|ERROR:|ERR!|Segmentation fault|BUILD FAILED|FAILURES!|CMake Error|\
        --- FAIL|Error:|fatal:",
    );
    let is_sure = SURE.iter().any(|mark| line.contains(mark))
        || line.starts_with("make") && line.contains("]: *** ")
        || line.starts_with("make: *** ")
        || line.starts_with("Traceback (most recent")
        || counted(line, &["failed", "failure", "failures", "error", "errors"])
            .is_some_and(|count| count > 0);
    is_sure
        || !exited_well
            && (STARTS.iter().any(|start| line.starts_with(start))
                || is_shell_error(line)
                || is_exception(line)
                || line.contains("... FAIL")
                || line.contains("... ERROR")
                || line.contains("rrors occurred"))
}

/// `ValueError: bad`, `java.lang.Exception`.
fn is_exception(line: &str) -> bool {
    let name =
        &line[..line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(line.len())];
    let is_name = name.ends_with("Error") || name.ends_with("Exception");
    is_name && matches!(line[name.len()..].chars().next(), None | Some(':'))
}

/// The number before one of `words`: 2 for `2 failed, 3 passed`.
fn counted(line: &str, words: &[&str]) -> Option<u64> {
    line.match_indices(' ').find_map(|(at, _)| {
        let digits = line[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        let word = &line[at + 1..];
        let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
        let is_whole = !line[..at - digits].ends_with(['.', ':', '-']);
        (digits > 0 && is_whole && words.contains(&&word[..end]))
            .then(|| line[at - digits..at].parse().ok())?
    })
}

fn names_error(line: &str) -> bool {
    is_exception(line)
        || line.contains("error TS")
        || line.starts_with("error:")
        || line.starts_with("error[")
        || line.contains("panicked at")
        || line.starts_with("E   ")
        || line.starts_with("FAILED ")
        || line.starts_with(['×', '✖', '✘'])
}

fn hints_at_error(line: &str) -> bool {
    const HINTS: [&str; 12] = phrases(
        "error|fail|cannot|could not|not found|no such|denied|not enough|refused|invalid|***|not available",
    );
    let lower = clip(line, 400).to_lowercase();
    HINTS.iter().any(|hint| lower.contains(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_seen_behind_whatever_hides_it() {
        use Manner::*;
        for (manner, result, words) in [
            (Tool, "Error: not enough seats", Some("not enough seats")),
            (Tool, "{\"error\": \"no such order\"}", Some("no such order")),
            (Tool, "{\"error\": {\"code\": 404, \"message\": \"no such order\"}}", Some("no such order")),
            (Tool, "{\"error\": null, \"id\": 7}", None),
            (Tool, "{\"status\": \"failed\", \"reason\": \"card declined\"}", Some("card declined")),
            (Tool, "Errors are handled in main", None),
            (Runs, "Command aborted", Some("Command aborted")),
            (Runs, "Please give EXACTLY ONE action.\nFound 2.", Some("Please give EXACTLY ONE action.")),
            (Looks, "The tool call was not run.", Some("The tool call was not run.")),
            (Looks, "Your tools are listed one at a line.", None),
            (
                Changes,
                "The user doesn't want to proceed with this tool use.",
                Some("The user doesn't want to proceed with this tool use."),
            ),
            (Changes, "Order cancelled, as the user asked.", None),
            (Tool, "The file was updated.", None),
            (
                Changes,
                "Your proposed edit has introduced new syntax errors",
                Some("Your proposed edit has introduced new syntax errors"),
            ),
            (Runs, "running 9 tests\ntest t5 ... FAILED\ntest t6 ... ok", Some("test t5 ... FAILED")),
            (Runs, "2 failed, 3 passed in 0.1s", Some("2 failed, 3 passed in 0.1s")),
            (Runs, "0 failed, 23 passed\n<returncode>0</returncode>", None),
            (Runs, "Traceback (most recent call last):\n  x\nKeyError: 'a'", Some("KeyError: 'a'")),
            (Runs, "one\ntwo\nexit code: 2", Some("exit code: 2")),
            (Looks, "<returncode>1</returncode>\n<output>\n</output>", None),
            (Looks, "bash: foo: command not found", Some("bash: foo: command not found")),
            (Looks, "def fail(): raise ValueError", None),
        ] {
            assert_eq!(failure(manner, result), words, "{result}");
        }
    }

    #[test]
    fn a_success_is_told_by_its_line() {
        assert_eq!(
            success_line("...\n==== 46 passed, 8 skipped in 7.96s ====\n"),
            Some("46 passed, 8 skipped in 7.96s")
        );
        assert_eq!(
            success_line("test result: ok. 23 passed; 0 failed"),
            Some("test result: ok. 23 passed; 0 failed")
        );
        assert_eq!(success_line("nothing"), None);
    }

    #[test]
    fn a_program_can_tell_of_a_fault_and_exit_well() {
        for (line, is_bad) in [
            ("Crashed with error: bad", true),
            ("-> BUG REPRODUCED!", true),
            ("KeyError: 'a'", true),
            ("The fault was not reproduced.", false),
            ("Failures: 0", false),
        ] {
            let told = bad_end(&format!("<output>\nstarting\n{line}\n</output>\nexit code: 0")).is_some();
            assert_eq!(told, is_bad, "{line}");
        }
    }
}
