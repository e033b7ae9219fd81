//! What a program writes in a user's name is nobody's words.

use std::{borrow::Cow, sync::LazyLock};

/// `kind<TAB>phrase`; the first lines of the file say what the kinds mean.
static PHRASES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| include_str!("harness.tsv").lines().filter_map(|line| line.split_once('\t')).collect());
/// A block whose tag has one of these words holds what the user asks for.
const ASKS: [&str; 12] = [
    "description",
    "feature",
    "goal",
    "issue",
    "objective",
    "problem",
    "prompt",
    "query",
    "question",
    "request",
    "task",
    "ticket",
];

/// A longer text with a task in a tag is made from a template.
const TEMPLATE_BYTES: usize = 1_200;

/// What stands before such a task is the user's if it is no longer.
const OWN_BYTES: usize = 400;

/// The user's own words in `text`: without blocks in tags (`<command-name>…`), lines in brackets (`[Request interrupted by
/// user]`), and the phrases of `harness.tsv`. Of a tag that names a request, what is inside.
pub fn words_of_user(text: &str) -> Cow<'_, str> {
    let begins = |line: &str| PHRASES.iter().any(|(_, phrase)| line.trim_start().starts_with(phrase));
    if !text.contains(['<', '[']) && !text.lines().any(begins) {
        return Cow::Borrowed(text);
    }
    let mut own = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let said = line.trim();
        if let Some((inside, behind)) = block(rest) {
            if let Some(inside) = inside {
                // around a task that a program hands over stand its instructions
                if text.len() > TEMPLATE_BYTES {
                    let before = Some(own.trim()).filter(|own| own.len() <= OWN_BYTES && !own.ends_with(':'));
                    return Cow::Owned(format!("{}\n{}", inside.trim(), before.unwrap_or_default()));
                }
                own.push_str(inside.trim());
                own.push('\n');
            }
            rest = behind;
            continue;
        }
        rest = after;
        match PHRASES.iter().find(|(_, phrase)| said.starts_with(phrase)) {
            Some(("rest", _)) => break,
            Some(("request", _)) => own.clear(),
            Some(_) => {}
            None if said.starts_with('[') && said.ends_with(']') && said.contains(' ') => {}
            None => {
                own.push_str(line);
                own.push('\n');
            }
        }
    }
    Cow::Owned(own)
}

/// A block in a tag at the start of `text`: what is inside, if that is what a user asks for, and what follows the block.
/// `None` if no tag begins there, or it never ends.
fn block(text: &str) -> Option<(Option<&str>, &str)> {
    let tag = text.trim_start_matches([' ', '\t']).strip_prefix('<')?;
    let end = tag.find('>')?;
    let name = tag[..end].split([' ', '/', '\n']).next().unwrap_or_default();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if !is_name {
        return None;
    }
    let behind = &tag[end + 1..];
    if tag[..end].ends_with('/') {
        return Some((None, behind));
    }
    let close = format!("</{name}>");
    let (inside, behind) = behind.split_once(close.as_str())?;
    let lower = name.to_ascii_lowercase();
    let asks = ASKS.iter().any(|word| lower.contains(word));
    Some((asks.then_some(inside), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_users_words_stay() {
        for (text, own) in [
            ("Fix the queue.", "Fix the queue."),
            ("<command-name>/clear</command-name>\nNow fix the queue.", "Now fix the queue."),
            ("[Request interrupted by user]", ""),
            ("<system-reminder>\nDo not tell.\n</system-reminder>\nGo on with [a](b).", "Go on with [a](b)."),
            (
                "You are a solver.\n<issue_description>\nThe queue stalls.\n</issue_description>",
                "You are a solver.\nThe queue stalls.",
            ),
            (
                "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nRename it.",
                "Rename it.",
            ),
            ("a < b and b > c", "a < b and b > c"),
            ("<br>\nunclosed", "<br>\nunclosed"),
        ] {
            assert_eq!(words_of_user(text).trim(), own, "{text}");
        }
    }
}
