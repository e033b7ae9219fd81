//! The chart of the README: it shows the numbers of the table in `docs/figures.md` that it is drawn from.

use std::fs;

use crate::docs::page::{Page, root};

/// The rows that it shows, one bar of each in turn.
const SHOWN: [&str; 2] = ["| LoCoMo | ", "| LoCoMo, the newest utterances alone | "];

/// Checks that the bars have the numbers of the table; `docs/pictures/recall.py` draws them anew.
pub fn shows_the_table(figures: &Page) -> Result<(), String> {
    let (_, section) = figures.text.split_once("## Contexts that recall").ok_or("there is no section")?;
    let rows = SHOWN.map(|name| {
        let row = section.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        row.split(" | ").map(number).collect::<Vec<_>>()
    });
    let told: Vec<_> = rows[0].iter().zip(&rows[1]).flat_map(|(found, newest)| [*found, *newest]).collect();
    let chart =
        fs::read_to_string(root().join("docs/pictures/recall.svg")).map_err(|error| error.to_string())?;
    let drawn: Vec<_> =
        chart.split(" %</text>").filter_map(|before| before.rsplit_once('>')).map(|(_, last)| last).collect();
    let drawn = &drawn[..told.len().min(drawn.len())];
    match !told.is_empty() && drawn == told {
        true => Ok(()),
        false => {
            Err(format!("the chart shows {drawn:?}, the table {told:?}: python docs/pictures/recall.py"))
        }
    }
}

/// The digits at the beginning of a cell.
fn number(cell: &str) -> &str {
    let end = cell.find(|c: char| !c.is_ascii_digit()).unwrap_or(cell.len());
    &cell[..end]
}
