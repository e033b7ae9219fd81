//! Speakers: "I", "you", "the assistant", "Alice and Bob", "the search tool".

use crate::{
    Role,
    forgetting::{Criterion, doubts, words},
};

use super::{
    cursor::{Cursor, Kind},
    number,
};

/// Consumes speakers joined by "and" or "or"; returns the criteria for the utterances of each. "We" is
/// everybody, without any criteria.
pub(super) fn subjects(cursor: &mut Cursor<'_>) -> Option<Vec<Vec<Criterion>>> {
    if cursor.word("we") || cursor.phrase("you and i") {
        return Some(vec![Vec::new()]);
    }
    let mut all = vec![subject(cursor)?];
    loop {
        let at = cursor.at();
        cursor.mark(',');
        let next = if cursor.any(&["and", "or", "&"]) { subject(cursor) } else { None };
        match next {
            Some(next) => all.push(next),
            None => {
                cursor.back(at);
                return Some(all);
            }
        }
    }
}

/// Consumes one speaker.
fn subject(cursor: &mut Cursor<'_>) -> Option<Vec<Criterion>> {
    let start = cursor.at();
    let word = cursor.peek_word();
    let contracted = word.strip_suffix("'ve").unwrap_or(word);
    if let Some(role) = words::pronoun(contracted) {
        cursor.advance();
        return Some(vec![Criterion::Speaker(role)]);
    }
    cursor.word("the");
    if let Some(role) = words::role(cursor.peek_word()) {
        cursor.advance();
        return Some(vec![Criterion::Speaker(role)]);
    }
    if cursor.at() > start
        && let Some(tool) = tool(cursor)
    {
        return Some(tool);
    }
    cursor.back(start);
    cursor.name(doubts::is_no_name).map(|name| vec![Criterion::Name(name)])
}

/// Consumes "search tool".
pub(super) fn tool(cursor: &mut Cursor<'_>) -> Option<Vec<Criterion>> {
    let name = cursor.peek().filter(|token| token.kind != Kind::Mark)?;
    let is_tool = matches!(cursor.word_at(cursor.at() + 1), "tool" | "function");
    let known = doubts::is_no_name(&name.lower) || doubts::refused(&name.lower).is_some();
    let is_name = name.kind == Kind::Quoted || !known && !number::is_numeric(&name.lower);
    let name = (is_tool && is_name).then(|| name.text.to_owned())?;
    cursor.advance();
    cursor.advance();
    Some(vec![Criterion::Speaker(Role::Tool), Criterion::Name(name)])
}

/// Consumes owners: "my", "the user's", "Alice's and Bob's".
pub(super) fn owners(cursor: &mut Cursor<'_>) -> Vec<Vec<Criterion>> {
    let mut all = Vec::new();
    loop {
        let at = cursor.at();
        if !all.is_empty() && !cursor.any(&["and", "&"]) {
            return all;
        }
        match owner(cursor) {
            Some(owner) => all.push(owner),
            None => {
                cursor.back(at);
                return all;
            }
        }
    }
}

fn owner(cursor: &mut Cursor<'_>) -> Option<Vec<Criterion>> {
    let start = cursor.at();
    if cursor.word("my") {
        return Some(vec![Criterion::Speaker(Role::User)]);
    }
    if cursor.word("your") && !words::HISTORY.contains(&cursor.peek_word()) {
        return Some(vec![Criterion::Speaker(Role::Assistant)]);
    }
    cursor.back(start);
    let definite = cursor.word("the");
    let role = words::role(cursor.peek_word());
    if let Some(role) = role {
        cursor.advance();
        if cursor.any(&["'s", "'"]) {
            return Some(vec![Criterion::Speaker(role)]);
        }
    } else if definite
        && let Some(tool) = tool(cursor)
        && cursor.any(&["'s", "'"])
    {
        return Some(tool);
    }
    cursor.back(start);
    let name = cursor.name(doubts::is_no_name).or_else(|| any_word(cursor));
    if name.is_some() && cursor.any(&["'s", "'"]) {
        return name.map(|name| vec![Criterion::Name(name)]);
    }
    cursor.back(start);
    None
}

/// Consumes a word before "'s", which need not be capitalised to be a name.
fn any_word(cursor: &mut Cursor<'_>) -> Option<String> {
    let owns = cursor.word_at(cursor.at() + 1) == "'s" && !doubts::is_no_name(cursor.peek_word());
    let name = owns.then(|| cursor.peek()).flatten().filter(|token| token.kind == Kind::Word)?;
    let name = name.text.to_owned();
    cursor.advance();
    Some(name)
}
