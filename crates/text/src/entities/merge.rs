//! Joins the parts of an amount, a date or a time.

use super::{
    kind::Kind,
    part::{Part, Role},
};

/// The entities that parts make, with where they start and end.
pub(super) fn merged<'a>(
    text: &'a str,
    parts: &'a [Part],
) -> impl Iterator<Item = (Kind, usize, usize)> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let (kind, count) = joined(text, &parts[at..])?;
            let (first, last) = (parts[at], parts[at + count - 1]);
            at += count;
            // what a longer entity covers
            while parts.get(at).is_some_and(|next| next.start < last.end) {
                at += 1;
            }
            if let Some(kind) = kind {
                return Some((kind, first.start, last.end));
            }
        }
    })
}

/// What the first parts are together, and how many they are; `None` at the end.
fn joined(text: &str, parts: &[Part]) -> Option<(Option<Kind>, usize)> {
    let first = parts.first()?;
    let next = |place: usize| parts.get(place).filter(|next| is_near(text, &parts[place - 1], next));
    let pair = next(1).and_then(|second| pair(first.role, second.role));
    Some(match (pair, first.role) {
        (Some(Kind::Date), _) => {
            (Some(Kind::Date), if next(2).is_some_and(|year| is_year(text, year)) { 3 } else { 2 })
        }
        (Some(kind), _) => (Some(kind), 2),
        (None, Role::Whole(kind)) => (Some(kind), 1),
        // `May` is a name too, `mar` a word
        (None, Role::Month) if first.end - first.start > 5 => (Some(Kind::Date), 1),
        (None, _) => (None, 1),
    })
}

fn pair(first: Role, second: Role) -> Option<Kind> {
    let is_number = |role| matches!(role, Role::Digit | Role::Whole(Kind::Number));
    match (first, second) {
        (Role::Month, number) | (number, Role::Month) if is_number(number) => Some(Kind::Date),
        (Role::Currency, number) | (number, Role::Currency) if is_number(number) => Some(Kind::Money),
        (Role::Digit | Role::Whole(Kind::Number | Kind::Time), Role::Clock) => Some(Kind::Time),
        _ => None,
    }
}

/// Whether nothing that parts them stands between: `May 14, 2024`, `3. Mai`, `14 de mayo de 2024`.
fn is_near(text: &str, first: &Part, second: &Part) -> bool {
    let between = text.get(first.end..second.start).unwrap_or("far away");
    matches!(between, "" | " " | "\u{a0}" | ", " | ". " | " de " | " of " | " di ")
}

fn is_year(text: &str, part: &Part) -> bool {
    part.role == Role::Whole(Kind::Number) && text[part.start..part.end].len() == 4
}
