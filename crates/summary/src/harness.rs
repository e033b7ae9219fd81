//! What a program writes in a user's name is nobody's words.

use std::{borrow::Cow, sync::LazyLock};

use utterd_text::Patterns;

/// What a line begins with that a program wrote; the first lines of the file say what the kinds mean.
static TABLE: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(include_str!("harness.tsv")));

/// A longer text with a task in a tag is made from a template.
const TEMPLATE_BYTES: usize = 1_200;

/// What stands before such a task is the user's if it is no longer.
const OWN_BYTES: usize = 400;

/// The user's own words in `text`: without blocks in tags (`<command-name>…`), lines in brackets (`[Request interrupted by
/// user]`), and the phrases of `harness.tsv`. Of a tag that names a request, what is inside.
pub fn words_of_user(text: &str) -> Cow<'_, str> {
    let begins = |kind: &str, line: &str| TABLE.listed(kind).iter().any(|phrase| line.starts_with(phrase));
    let is_own =
        |line: &str| ["line", "request", "rest"].into_iter().all(|kind| !begins(kind, line.trim_start()));
    if !text.contains(['<', '[']) && text.lines().all(is_own) {
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
        let is_bracketed = said.starts_with('[') && said.ends_with(']') && said.contains(' ');
        match () {
            () if begins("rest", said) => break,
            () if begins("request", said) => own.clear(),
            () if begins("line", said) || is_bracketed => {}
            () => {
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
    let asks = TABLE.listed("asks").iter().any(|word| lower.contains(word));
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
