//! Lines that say that something failed, or that all is well: by their shape, in many languages and of many programs.

use crate::calls::phrases::{begins, has, is_one, listed};

/// The exit code that a line tells: `exit code: 2`, `Exit code 1`, `exited with code 1`, `<returncode>0`.
pub(super) fn code(line: &str) -> Option<i64> {
    let lower = line.to_ascii_lowercase();
    let found = ["exit", "returncode", "return code"].iter();
    let (start, at) = found.filter_map(|word| lower.find(word).map(|at| (at, at + word.len()))).min()?;
    // `sys.exit(1)`, `$exit`
    let before = lower[..start].chars().next_back();
    let is_code =
        lower[at..].starts_with('(') || before.is_some_and(|c| c.is_alphanumeric() || ".$".contains(c));
    let is_filler = |word: &str| {
        matches!(word, "" | "ed" | "with" | "code" | "status" | "value" | "was" | "is" | "error")
    };
    let is_late = lower[..start].split_whitespace().count() > 6;
    let number = lower[at..].find(|c: char| c.is_ascii_digit()).map(|digit| at + digit)?;
    let behind = lower[number..].trim_start_matches(|c: char| c.is_ascii_digit());
    let is_filler = lower[at..number].split(|c: char| !c.is_alphanumeric()).all(is_filler);
    // "exit code 1 means none" explains
    let is_last = behind.starts_with("</") || !behind.contains(char::is_alphanumeric);
    let digits = &lower[number..lower.len() - behind.len()];
    if is_code || is_late || !is_filler || !is_last { None } else { digits.parse().ok() }
}

/// How surely a line of a program's output says that it failed: 0 not at all, 1 perhaps, 2 unless the program exited
/// well, 3 in any case.
pub(super) fn failure(line: &str) -> u8 {
    let line = &line[..line.floor_char_boundary(600)];
    let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "[#*>-".contains(c));
    let has_word = |word: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|own| own == word);
    match () {
        () if has("sure", line) || bare.starts_with("Traceback (most recent") || counted(line) => 3,
        () if line.starts_with("FAILED ") || has_word("FAILED") && !line.contains(['=', '"', '\'']) => 3,
        () if says_none(line) => 0,
        () if begins("marked", bare).is_some() || is_error_message(line) || has("system", line) => 2,
        () => 0,
    }
}

/// `error: …`, `ValueError: …`, `error[E0308]: …`, `a.c:3:5: error: …`, `Fehler: …`, `エラー：…`.
fn is_error_message(line: &str) -> bool {
    let is_error = |word: &str| is_one("error", word.trim().to_lowercase().as_str());
    let head = line.split([' ', '[', '(']).next().unwrap_or(line);
    let word = head.trim_end_matches([':', '!']);
    let marked = head.len() > word.len() || line[head.len()..].starts_with('[') && line.contains("]:");
    let behind_place = line.split(": ").skip(1).take(2).any(is_error) && !line.contains(['"', '{', '=', ';']);
    is_named_error(line)
        || marked && is_error(word.trim_start_matches(|c: char| !c.is_alphanumeric()))
        || behind_place
        || line.split_once('：').is_some_and(|(first, _)| is_error(first))
}

/// A message that begins with the name of an error's type: `ValueError: bad`, `java.lang.Exception`, `E   KeyError: 'a'`.
pub(super) fn is_named_error(line: &str) -> bool {
    let starts = ["E ", "Uncaught ", "Unhandled ", "Caused by: ", "Exception in thread \"main\" "];
    let line = starts.iter().find_map(|start| line.strip_prefix(start)).unwrap_or(line).trim_start();
    let end = line.find(|c: char| !(c.is_alphanumeric() || ".:_".contains(c))).unwrap_or(line.len());
    let name = line[..end].trim_end_matches(':');
    let is_name = ["Error", "Exception", "Fault", "Exit", "Interrupt"]
        .iter()
        .any(|kind| name.len() > kind.len() && name.ends_with(kind));
    is_name && (name.len() < end || end == line.len())
}

/// Whether a number other than 0 stands before or behind a word of failure: `2 failed`, `3 tests failed`, `Failures: 1`.
fn counted(line: &str) -> bool {
    let is_gap = |c: char| !c.is_alphanumeric() && c != '.';
    let words: Vec<&str> = line.split(is_gap).filter(|word| !word.is_empty()).take(60).collect();
    let is_count = |word: &str| !word.starts_with('0') && word.parse::<u32>().is_ok();
    let fails = |word: &str| is_one("fails", word.to_lowercase().as_str());
    let is_between = |word: &str| matches!(word, "test" | "tests" | "previous" | "fatal");
    let before = words.windows(2).any(|two| is_count(two[0]) && fails(two[1]))
        || words.windows(3).any(|three| is_count(three[0]) && is_between(three[1]) && fails(three[2]));
    let behind = line.split([',', '(', ' ', ';']).collect::<Vec<_>>();
    let behind = behind.windows(2).any(|two| two[0].strip_suffix(':').is_some_and(fails) && is_count(two[1]))
        || behind
            .iter()
            .filter_map(|word| word.split_once('='))
            .any(|(word, count)| fails(word) && is_count(count.trim_end_matches(')')));
    (before || behind) && !words.first().is_some_and(|word| word.to_lowercase().starts_with("fix"))
}

/// Where a line says that all is well: `46 passed, 8 skipped`, `test result: ok`, `Ran 5 tests`, `OK`.
pub(super) fn success(line: &str) -> Option<usize> {
    let line = &line[..line.floor_char_boundary(300)];
    let is_own = |rest: &str| line.len() < 80 && (!line.starts_with("Ran") || rest.contains(" test"));
    if begins("well", line).is_some_and(is_own) {
        // cargo's line counts behind its verdict
        return Some(line.find("ok. ").map_or(0, |at| at + 4));
    }
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let is_label =
        |word: &str| word.strip_suffix(':').is_some_and(|word| is_one("passes", &word.to_lowercase()));
    if words.windows(2).any(|two| is_label(two[0]) && two[1].parse::<u32>().is_ok_and(|count| count > 0)) {
        return Some(0);
    }
    line.match_indices(' ').find_map(|(at, _)| {
        let digits = line[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        let mut words = line[at + 1..].split(|c: char| !c.is_alphabetic());
        let word = words.next().unwrap_or_default();
        let passes =
            is_one("passes", word) || word.starts_with("test") && words.any(|word| is_one("passes", word));
        (digits > 0 && passes).then_some(at - digits)
    })
}

/// Whether the first line of a result says that nothing came of the call. A long result that begins so is a text that was
/// read, unless an error's name opens it.
pub(super) fn opens_badly(line: &str, is_brief: bool) -> bool {
    let line = &line[..line.floor_char_boundary(240)];
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower = bare.to_lowercase().replace('’', "'");
    let named = begins("error", &lower).filter(|rest| rest.starts_with([':', '：', '!']));
    let is_code = bare.contains(['{', ';', '=']) && !bare.contains(": ");
    named.is_some_and(|rest| is_brief || rest.contains(char::is_alphabetic))
        || is_named_error(bare)
        || lower.starts_with("traceback (most recent")
        || is_brief && !is_code && (begins("opening", &lower).is_some() || ends_badly(&lower))
}

/// `The hall was not found.`, but not the count of `3 passed, 0 failed`.
fn ends_badly(lower: &str) -> bool {
    let line = lower.trim_end_matches(['.', '!']);
    let starts = listed("ending").iter().filter_map(|end| Some((*end, line.strip_suffix(end)?)));
    // "3 passed, 0 failed" counts
    let is_count =
        |end: &str, start: &str| end == "failed" && start.trim_end().ends_with(|c: char| c.is_ascii_digit());
    let is_whole = |end: &str, start: &str| start.ends_with(' ') || !end.is_ascii();
    line.len() < 160 && { starts }.any(|(end, start)| is_whole(end, start) && !is_count(end, start))
}

/// Whether a call was not run because of its form: `Please give EXACTLY ONE action`, `The tool call was not run`.
pub(super) fn is_form(line: &str) -> bool {
    let lower = line[..line.floor_char_boundary(240)].to_lowercase();
    has("form", &lower) && ["action", "call", "command", "tool"].iter().any(|word| lower.contains(word))
}

/// `Error: (none)`, `errors = 0`
fn says_none(line: &str) -> bool {
    let behind = line.split_once([':', '=']).map_or("?", |(_, behind)| behind);
    let bare = behind.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(bare.as_str(), "none" | "null" | "0" | "false")
}

/// Whether a line only says that what failed comes next, or that something did: `Traceback (most recent call last):`,
/// `ERROR:`, `Exit code 1`.
pub(super) fn is_announcement(line: &str) -> bool {
    let is_head = line.ends_with(':') && line.split_whitespace().count() < 3 && !line.contains(['/', '.']);
    let behind = line.find(':').map_or("", |at| &line[at..]);
    !line.contains(char::is_alphabetic)
        || says_none(line)
        || line.starts_with("Traceback (most recent")
        || is_head
        || code(line).is_some() && !behind.contains(char::is_alphabetic)
}

/// Whether a word of failure is anywhere in a line: `make: *** [Makefile:20: all] Error 1`.
fn says_failure(line: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|word| is_one("error", &word.to_lowercase()))
}

/// How well a line says what failed: best by the name or the code of an error, worst by a count or a code of exit.
pub(super) fn tells(line: &str) -> u32 {
    let is_summary = counted(line) || has("summary", line);
    match failure(line) {
        _ if code(line).is_some() => 2,
        2 | 3 if is_named_error(line) || line.contains("error TS") || line.contains("panicked at") => 7,
        2 | 3 if is_summary => 4,
        2 => 6,
        3 => 5,
        _ if says_failure(line) => 3,
        _ => 1,
    }
}
