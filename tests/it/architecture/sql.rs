//! What statements are sorted by.

use super::Source;

/// Every statement that selects a column as text, under its own name, and is sorted by that name: PostgreSQL then sorts
/// the text, in which 1000 precedes 999.
pub fn sorted_as_text((file, source): &Source) -> Vec<String> {
    let mut found = Vec::new();
    for statement in source.split('"').skip(1).step_by(2) {
        let casts = statement.match_indices("::text").filter_map(|(at, _)| name_before(&statement[..at]));
        let casts: Vec<&str> = casts.collect();
        for (_, order) in
            statement.match_indices("ORDER BY ").map(|(at, by)| statement.split_at(at + by.len()))
        {
            let first = order.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).next();
            found.extend(first.filter(|first| casts.contains(first)).map(|first| format!("{file}: {first}")));
        }
    }
    found
}

/// The bare name of a column at the end of `text`.
fn name_before(text: &str) -> Option<&str> {
    let start = text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let is_bare = !text[..start].ends_with(['.', '$', ')']);
    Some(&text[start..]).filter(|name| is_bare && !name.is_empty())
}
