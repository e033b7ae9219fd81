//! Lines that say that something failed, or that all is well: by their shape, in many languages and of many programs.

use std::sync::LazyLock;

use utterd_text::Patterns;

/// A kind and a pattern on each line:
///
/// | `code` | the exit code that a line tells: `Exit code 1`, `<returncode>0` |
/// |---|---|
/// | `sure` | says in any case that something failed: `BUILD FAILED` |
/// | `counted` | a number other than 0 beside a word of failure, unless that was mended (`fixed`) |
/// | `likely` | says so unless the program exited well: `error: …`; but not with a value such as `none` |
/// | `named`, `error` | an error's name; any word of failure |
/// | `opening` | the first line of a result of which nothing came; `brief` if nothing else follows |
/// | `refused`, `declined`, `form` | an edit that did not apply, a call that the user stopped, a call in a wrong form |
/// | `head` | only says that what failed comes next, or that something did |
/// | `passed` | all is well; its group, if there is one, says so |
/// | `user`, `status` | names the user; the value of a `status` that says that something failed |
/// | `shell`, `runner`, `builtin` | words of the names of tools that run commands; commands that do nothing by themselves |
/// | `statement` | SQL or the like rather than a sentence |
pub(super) const TABLE: &str = include_str!("signs.tsv");
/// Longer lines are judged by their beginning, in bytes.
const READ_BYTES: usize = 400;

pub(super) static SIGNS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(TABLE));

/// Whether a line is of a kind.
pub(super) fn is(kind: &str, line: &str) -> bool {
    SIGNS.has(kind, head(line))
}

/// What a pattern of a kind finds in a line: its group, or all of it and what follows.
fn found<'l>(kind: &str, line: &'l str) -> Option<&'l str> {
    let signs = SIGNS.get(kind)?;
    let mut captures = signs.create_captures();
    signs.captures(head(line), &mut captures);
    let group = captures.get_group(1).map(|group| &line[group.range()]);
    group.or_else(|| captures.get_group(0).map(|whole| &line[whole.start..]))
}

fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(READ_BYTES)]
}

/// The exit code that a line tells.
pub(super) fn code(line: &str) -> Option<i64> {
    found("code", line)?.parse().ok()
}

/// Whether a text is SQL or the like rather than a sentence.
pub(super) fn is_statement(text: &str) -> bool {
    is("statement", text)
}

/// How surely a line of a program's output says that it failed: 0 not at all, 2 unless the program exited well, 3 in any
/// case.
pub(super) fn failure(line: &str) -> u8 {
    match () {
        () if is("sure", line) || is_counted(line) => 3,
        () if is("likely", line) && !is("none", line) => 2,
        () => 0,
    }
}

fn is_counted(line: &str) -> bool {
    is("counted", line) && !is("fixed", line)
}

/// What a line says of it if all is well: `46 passed, 8 skipped`.
pub(super) fn success(line: &str) -> Option<&str> {
    found("passed", line).map(|told| {
        if told.len() < line.len() && told.starts_with(|c: char| !c.is_ascii_digit()) { line } else { told }
    })
}

/// Whether the first line of a result says that nothing came of the call. A long result that begins so is a text that was
/// read, unless an error's name opens it.
pub(super) fn opens_badly(line: &str, is_brief: bool) -> bool {
    is("opening", line) || is_brief && is("brief", line)
}

/// Whether a line only says that what failed comes next, or that something did: `ERROR:`, `Exit code 1`.
pub(super) fn is_announcement(line: &str) -> bool {
    is("head", line) || is("none", line) || code(line).is_some()
}
