//! `docs/seeds.md`: every row of the five documents, and what shows it; and `docs/security.md`: every threat.
//!
//! A row has a number in its document or section, what is asked or threatens, what there is for it here, and what shows
//! it: tests (`FILE.rs::NAME`) and golden scripts; or the reason for which it is decided otherwise.

/// The documents of `docs/seeds.md`, in its order.
pub const DOCUMENTS: [&str; 5] = ["000", "001", "002", "003", "004"];
/// The sections of `docs/security.md`.
pub const SECTIONS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// What a reason begins with.
const DECIDED: &str = "Decided: ";

/// What is wrong with `table`, whose rows are of `wanted`, a line each. `read` gives the text of a file of the project,
/// if it is there; `words` is all text in which the names of calls, fields and settings stand.
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
    /// None when the line is no row with a number.
    fn read(line: &'a str) -> Option<Self> {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (number, cells) = cells.split_once(" | ")?;
        let is_number = number.starts_with(|first: char| first.is_ascii_digit());
        is_number.then(|| Self { number, cells: cells.split(" | ").collect() })
    }

    fn document(&self) -> &'a str {
        self.number.split('.').next().unwrap_or_default()
    }

    /// The number that it should have behind the rows `before`.
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

/// The names of calls, fields and settings in the code of `cell` that do not stand in `words`.
fn unknown(cell: &str, words: &str) -> Vec<String> {
    let names = code(cell).flat_map(|code| code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let names = names.filter(|name| name.contains(|c: char| c.is_ascii_uppercase() || c == '_'));
    names.filter(|name| !holds(words, name)).map(|name| format!("there is no {name}")).collect()
}

/// Whether `name` stands in `words`: alone, or as the end of a longer one, as the values of enums do.
fn holds(words: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let ends = |at: usize| {
        let (before, after) = (&words[..at], &words[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(|c| is_part(c) || c == '_')
    };
    words.match_indices(name).any(|(at, _)| ends(at))
}

/// What `cell` names and is no test; that it names none, when it does not.
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

/// What stands between backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Whether `source` has a test called `name`: a function behind `#[test]` or the like, or one that a list of
/// cases names on a line of its own.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_function = |line: &&str| {
        let function = line.split_once("fn ").map_or("", |(_, rest)| rest);
        function.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let Some(at) = lines.iter().position(is_function) else { return false };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let attributes: Vec<_> = above.filter(|line| line.starts_with("#[")).collect();
    let is_case = lines.contains(&name) || lines.contains(&&*format!("(\"{name}\", {name}),"));
    let is_ignored = attributes.iter().any(|line| line.starts_with("#[ignore"));
    !is_ignored && (is_case || attributes.iter().any(|line| line.contains("test]") || line.contains("test(")))
}
