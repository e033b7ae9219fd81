//! Ledger items that are bare numbers.

use utterd::domain::extractive::{LineKind, Sentence};

use crate::{
    Kinds, summarised,
    table::{Table, percent},
};

const LIMIT: u32 = 300;

/// Prints how many items there are, and how many do not say what they number.
pub fn print(kinds: &Kinds) {
    let title = format!("items of ledgers at {LIMIT} that are numbers without a word");
    let mut table =
        Table::new(&title).columns(["items", "bare", "of these dates, times", "bare, %", "to reach"]);
    let kinds =
        [("service", &kinds.service), ("coding", &kinds.coding), ("planning (BEAM)", &kinds.planning)];
    for (name, all) in kinds {
        let counts =
            all.iter().flat_map(|one| one.cuts()).map(|(before, _)| Counts::of(&summarised(before, LIMIT)));
        let Counts { items, bare, times } = counts.fold(Counts::default(), Counts::and);
        let row =
            [items.to_string(), bare.to_string(), times.to_string(), percent(bare as f64, items), "0".into()];
        table.row(name, row);
    }
    table.print();
}

#[derive(Default)]
struct Counts {
    items: usize,
    bare: usize,
    times: usize,
}

impl Counts {
    fn of(summary: &[Sentence]) -> Self {
        let ledger = summary.iter().filter(|line| line.kind == LineKind::Facts);
        let text = |line: &'_ Sentence| -> Vec<String> {
            line.items
                .iter()
                .map(|item| line.text[item.start as usize..item.end as usize].to_owned())
                .collect()
        };
        let items: Vec<String> = ledger.flat_map(text).collect();
        let bare = || items.iter().filter(|item| is_bare(item));
        Self { items: items.len(), bare: bare().count(), times: bare().filter(|item| is_time(item)).count() }
    }

    fn and(self, other: Self) -> Self {
        Self {
            items: self.items + other.items,
            bare: self.bare + other.bare,
            times: self.times + other.times,
        }
    }
}

/// Digits, and no letter of any script.
fn is_bare(item: &str) -> bool {
    item.contains(|c: char| c.is_ascii_digit()) && !item.contains(char::is_alphabetic)
}

/// `2024-05-15`, `15:00`.
fn is_time(item: &str) -> bool {
    let parts: Vec<&str> = item.split(['-', ':', '/', ' ', 'T']).collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() > 1 && parts.iter().all(is_number) && parts.iter().any(|part| part.len() == 2)
}
