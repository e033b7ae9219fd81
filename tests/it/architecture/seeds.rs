//! Checks `contributing/seeds.md`, with every row of the five documents, and `contributing/threats.md`, with
//! every threat.
//!
//! A row has a number in its document or section, the requirement or the threat, what addresses it here, and
//! what shows that: tests (`FILE.rs::NAME`) and golden scripts, or the reason why it was decided otherwise.

/// The documents of `contributing/seeds.md`, in its order.
pub const DOCUMENTS: [&str; 5] = ["000", "001", "002", "003", "004"];
/// The sections of `contributing/threats.md`.
pub const SECTIONS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// The prefix of a reason.
const DECIDED: &str = "Decided: ";

/// The faults of `table`, which must have rows for each of `wanted`; a line for each fault. `read` returns
/// the text of a file of the project, if it exists; `words` is the text that contains the names of calls,
/// fields and settings.
pub fn faults(
    table: &str,
    wanted: &[&str],
    words: &str,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let rows: Vec<Row<'_>> = table.lines().filter_map(Row::read).collect();
    let mut documents: Vec<_> = rows.iter().map(Row::document).collect();
    documents.dedup();
    let order = (documents != wanted).then(|| format!("the documents are {wanted:?}, not {documents:?}"));
    let numbered = rows.iter().enumerate().map(|(at, row)| (row.number, row.next_number(&rows[..at])));
    let numbered = numbered.filter(|(number, next)| number != next);
    let numbered = numbered.map(|(number, next)| format!("{number}: {next} is the next number"));
    let inside = rows.iter().flat_map(|row| row.faults(words, &read));
    order.into_iter().chain(numbered).chain(inside).collect()
}

/// A row of the table.
struct Row<'a> {
    number: &'a str,
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// `None` if the line is not a numbered row.
    fn read(line: &'a str) -> Option<Self> {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (number, cells) = cells.split_once(" | ")?;
        let is_number = number.starts_with(|first: char| first.is_ascii_digit());
        is_number.then(|| Self { number, cells: cells.split(" | ").collect() })
    }

    fn document(&self) -> &'a str {
        self.number.split('.').next().unwrap_or_default()
    }

    /// The number that it should have after the rows `before`.
    fn next_number(&self, before: &[Self]) -> String {
        let count = before.iter().filter(|row| row.document() == self.document()).count();
        format!("{}.{}", self.document(), count + 1)
    }

    fn faults(&self, words: &str, read: &impl Fn(&str) -> Option<String>) -> Vec<String> {
        let [asked, here, shown] = self.cells[..] else {
            return vec![format!("{}: has {} cells beside its number, not 3", self.number, self.cells.len())];
        };
        let named = match shown.strip_prefix(DECIDED) {
            Some(reason) => unknown(&[here, reason].join(" "), words),
            None => [unknown(here, words), unshown(shown, read)].concat(),
        };
        let empty =
            [asked, here, shown.trim_start_matches(DECIDED)].into_iter().any(|cell| cell.trim().is_empty());
        let empty = empty.then(|| "has an empty cell".to_owned());
        named.into_iter().chain(empty).map(|fault| format!("{}: {fault}", self.number)).collect()
    }
}

/// The names of calls, fields and settings in the code of `cell` that do not occur in `words`.
fn unknown(cell: &str, words: &str) -> Vec<String> {
    let names = code(cell).flat_map(|code| code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let names = names.filter(|name| name.contains(|c: char| c.is_ascii_uppercase() || c == '_'));
    names.filter(|name| !holds(words, name)).map(|name| format!("there is no {name}")).collect()
}

/// Whether `name` occurs in `words`, alone or as the end of a longer name, like the values of enums.
fn holds(words: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let ends = |at: usize| {
        let (before, after) = (&words[..at], &words[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(|c| is_part(c) || c == '_')
    };
    words.match_indices(name).any(|(at, _)| ends(at))
}

/// The names in `cell` that are not tests, or an error if it names none.
fn unshown(cell: &str, read: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    if code(cell).next().is_none() {
        return vec![format!("names no test, and its reason does not begin with {DECIDED:?}")];
    }
    let is_there = |name: &&str| match name.split_once("::") {
        Some((file, test)) => read(file).is_some_and(|source| is_test(&source, test)),
        None => name.ends_with(".txt") && read(name).is_some(),
    };
    code(cell).filter(|name| !is_there(name)).map(|name| format!("there is no test {name}")).collect()
}

/// The text between backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether `source` has a test called `name`: a function with `#[test]` or the like, one on its own line in a
/// list of cases, or one of a trial; or a check of a script, on its own line in the list of them.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    if source.contains("checks![") && lines.contains(&&*format!("{name},")) {
        return true;
    }
    let is_function = |line: &&str| {
        let function = line.split_once("fn ").map_or("", |(_, rest)| rest);
        function.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let Some(at) = lines.iter().position(is_function) else { return false };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let attributes: Vec<_> = above.filter(|line| line.starts_with("#[")).collect();
    let is_case = lines.contains(&name)
        || lines.contains(&&*format!("(\"{name}\", {name}),"))
        || lines.iter().any(|line| line.contains("Trial::test(") && line.contains(&format!("{name}\"")));
    let is_ignored = attributes.iter().any(|line| line.starts_with("#[ignore"));
    !is_ignored && (is_case || attributes.iter().any(|line| line.contains("test]") || line.contains("test(")))
}
