//! What the README repeats: its charts and their descriptions have the numbers of the tables in `docs/figures.md`, and
//! the tests that its comparison names are about the faults beside them.

use std::fs;

use crate::docs::page::{Page, root};

/// A chart, and the table that it is drawn from.
struct Chart {
    name: &'static str,
    heading: &'static str,
    /// The rows that it shows, one bar of each in turn.
    rows: [&'static str; 2],
    /// What stands behind the number of a bar.
    unit: &'static str,
    /// The row and the column of each share that its description has.
    described: &'static [(usize, usize)],
}

const CHARTS: [Chart; 2] = [
    Chart {
        name: "recall",
        heading: "## Contexts that recall",
        rows: ["| LoCoMo | ", "| LoCoMo, the newest utterances alone | "],
        unit: " %</text>",
        described: &[(0, 0), (0, 3), (1, 0), (1, 3)],
    },
    Chart {
        name: "compactions",
        heading: COMPACTIONS,
        rows: ["| the model | ", "| utterd | "],
        unit: "</text>",
        described: &[(1, 0), (1, 1), (1, 3), (0, 0), (0, 1), (0, 3), (1, 6), (0, 6)],
    },
];

const COMPACTIONS: &str = "## Compactions by models";

/// Checks the numbers in the charts and in their descriptions.
pub fn charts_show_the_tables(readme: &Page, figures: &Page) -> Result<(), String> {
    for Chart { name, heading, rows, unit, described } in CHARTS {
        let section = section(figures, heading)?;
        let rows = rows.map(|begin| {
            let row = section.lines().find_map(|line| line.strip_prefix(begin)).unwrap_or_default();
            row.split(" | ").map(|cell| digits(cell, 0)).collect::<Vec<_>>()
        });
        let path = format!("docs/pictures/{name}.svg");
        let bars: Vec<_> = rows[0].iter().zip(&rows[1]).flat_map(|(one, other)| [*one, *other]).collect();
        same(&format!("{path} against {heading}"), &numbers(&read(&path)?, unit), &bars)?;
        let line = readme.text.lines().find(|line| line.contains(&path)).unwrap_or_default();
        let told: Vec<_> =
            described.iter().filter_map(|&(row, column)| rows[row].get(column).copied()).collect();
        same(&format!("what the README says of {path}"), &numbers(line, " %"), &told)?;
    }
    Ok(())
}

/// Checks how many compactions and pairs there are, and in how many the model's text is better.
pub fn compactions_are_counted(readme: &Page, figures: &Page) -> Result<(), String> {
    let section = section(figures, COMPACTIONS)?;
    let better = section.split_once("goes on better: the model ").map_or("", |(_, rest)| digits(rest, 0));
    let (compactions, pairs) = (numbers(section, " compactions of"), numbers(section, " pairs read by hand"));
    let told = format!("{better} of {}", pairs.concat());
    same("the compactions", &numbers(&readme.text, " compactions by models"), &compactions)?;
    match readme.text.contains(&format!("[{told} pairs](docs/figures.md")) {
        true => Ok(()),
        false => Err(format!("the README does not have {told} pairs")),
    }
}

/// Checks that a test that stands beside faults of others names each of them by its number.
pub fn tests_are_about_the_faults(readme: &Page) -> Result<(), String> {
    let mut compared = 0;
    for line in readme.text.lines().filter(|line| line.starts_with("| ")) {
        let Some((_, path)) = line.split_once("[test](") else { continue };
        let path = &path[..path.find(')').unwrap_or_default()];
        let test = read(path)?;
        for (at, _) in line.match_indices("/issues/") {
            let number = digits(line, at + "/issues/".len());
            if !test.contains(&format!(" {number}")) {
                return Err(format!("{path} does not name {number}"));
            }
            compared += 1;
        }
    }
    if compared == 0 { Err("the README compares nothing".to_owned()) } else { Ok(()) }
}

fn same(what: &str, found: &[&str], wanted: &[&str]) -> Result<(), String> {
    match !wanted.is_empty() && found == wanted {
        true => Ok(()),
        false => Err(format!("{what}: {found:?} instead of {wanted:?}")),
    }
}

fn section<'a>(page: &'a Page, heading: &str) -> Result<&'a str, String> {
    let (_, rest) = page.text.split_once(heading).ok_or_else(|| format!("there is no {heading}"))?;
    Ok(rest.split("\n## ").next().unwrap_or(rest))
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// The numbers right before each mark.
fn numbers<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let ends = text.match_indices(mark).map(|(end, _)| &text[..end]);
    let numbers = ends.map(|before| &before[before.trim_end_matches(|c: char| c.is_ascii_digit()).len()..]);
    numbers.filter(|number| !number.is_empty()).collect()
}

/// The digits that begin at a place.
fn digits(text: &str, from: usize) -> &str {
    let rest = &text[from..];
    &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())]
}
