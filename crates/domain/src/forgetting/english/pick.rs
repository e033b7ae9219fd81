//! Which of a noun's utterances are meant: "last three", "3 oldest", "second and fifth", "first and last".

use crate::forgetting::{Criterion, Numbers, Result, Take, words};

use super::{
    cursor::Cursor,
    number::{count, dash, narrow, nth_to_last, ordered, ordinal},
    reference::Reference,
    selection::Selection,
};

const COUNTS: &str = "say how many for each end, as in: the first two and the last two messages";
const NOT_OF_TURNS: &str = "say the turn's number";
const ORDINALS_BEFORE: &str = "counted from which end? say the first or the last ones, or give numbers";
const HOW_MANY: &str = "say how many, as in: the last three messages";

/// What precedes a noun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// Nothing.
    None,
    /// A number without an end: "three".
    Count,
    /// One or several of these.
    Of(Vec<Item>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// From one end (true for the oldest), and how many.
    End(bool, Option<u64>),
    /// By number, from the first to the last.
    Nth(u64, u64),
    /// By number, counted from the newest.
    NthToLast(u64),
}

/// Consumes a pick.
pub(super) fn pick(cursor: &mut Cursor<'_>) -> Result<Pick> {
    let start = cursor.at();
    let Some(first) = item(cursor)? else {
        return Ok(if count(cursor)?.is_some() { Pick::Count } else { Pick::None });
    };
    let (mut items, mut bare) = (vec![first], false);
    loop {
        let at = cursor.at();
        let joined = cursor.mark(',') | cursor.any(&["and", "&"]);
        let definite = joined && cursor.word("the");
        match if joined { item(cursor)? } else { None } {
            Some(next) => {
                bare |= !definite;
                items.push(next);
            }
            None => {
                cursor.back(at);
                break;
            }
        }
    }
    let counted = |item: &Item| matches!(item, Item::End(_, Some(_)));
    let uncounted = |item: &Item| matches!(item, Item::End(_, None));
    match bare && items.iter().any(counted) && items.iter().any(uncounted) {
        true => Err(cursor.refused(start, COUNTS)),
        false => Ok(Pick::Of(items)),
    }
}

/// Consumes "last three", "3 oldest", "third", "second to fourth", "second to last".
fn item(cursor: &mut Cursor<'_>) -> Result<Option<Item>> {
    let start = cursor.at();
    if let Some(number) = nth_to_last(cursor)? {
        return Ok(Some(Item::NthToLast(number)));
    }
    if let Some(first) = ordinal(cursor)? {
        let after = cursor.at();
        if cursor.any(&["to", "through"]) || dash(cursor) {
            cursor.word("the");
            if let Some(last) = ordinal(cursor)? {
                ordered(cursor, start, first, last)?;
                return Ok(Some(Item::Nth(first, last)));
            }
        }
        cursor.back(after);
        if cursor.any(&["oldest", "earliest"]) || first > 1 && words::end(cursor.peek_word()).is_none() {
            return Ok(Some(Item::Nth(first, first)));
        }
        cursor.back(start);
    }
    cursor.word("very");
    if let Some(oldest) = end(cursor) {
        return Ok(Some(Item::End(oldest, count(cursor)?)));
    }
    cursor.back(start);
    let number = count(cursor)?;
    match number.and_then(|_| end(cursor)) {
        Some(oldest) => Ok(Some(Item::End(oldest, number))),
        None => {
            cursor.back(start);
            Ok(None)
        }
    }
}

/// Consumes "oldest", "most recent" and the like; returns true for the oldest.
fn end(cursor: &mut Cursor<'_>) -> Option<bool> {
    if cursor.phrase("most recent") {
        return Some(false);
    }
    let oldest = words::end(cursor.peek_word())?;
    cursor.advance();
    Some(oldest)
}

impl Pick {
    /// Whether it needs no noun: "the last three", "the oldest".
    pub fn stands_alone(&self) -> bool {
        matches!(self, Self::Of(items) if items.iter().all(|item| matches!(item, Item::End(..))))
    }

    /// Adds the counts to a selection of utterances, whose filters are complete; `start` is where the phrase
    /// begins, and `plural` whether its noun is plural.
    pub fn of_utterances(
        &self,
        cursor: &Cursor<'_>,
        start: usize,
        selection: &mut Selection,
        plural: bool,
    ) -> Result<()> {
        let Self::Of(items) = self else { return Ok(()) };
        let mut nth: Option<Numbers> = None;
        for item in items {
            match *item {
                Item::End(_, None) if plural && items.len() == 1 => {
                    return Err(cursor.refused(start, HOW_MANY));
                }
                Item::End(oldest, count) => {
                    let count = narrow(cursor, start, count.unwrap_or(1))?;
                    selection.take(if oldest { Take::Oldest(count) } else { Take::Newest(count) });
                }
                Item::Nth(from, _) if from > 1 && selection.ends_before() => {
                    return Err(cursor.refused(start, ORDINALS_BEFORE));
                }
                Item::Nth(from, to) => {
                    let numbers = ordered(cursor, start, from, to)?;
                    nth = Some(nth.map_or(numbers.clone(), |all| all.and(&numbers)));
                }
                Item::NthToLast(_) if items.len() > 1 => return Err(cursor.refused(start, COUNTS)),
                Item::NthToLast(number) => {
                    let number = narrow(cursor, start, number)?;
                    selection.take(Take::Newest(number));
                    if number > 1 {
                        selection.but(Take::Newest(number - 1));
                    }
                }
            }
        }
        nth.into_iter().for_each(|numbers| selection.take(Take::Nth(numbers)));
        Ok(())
    }

    /// The turns that are meant.
    pub fn of_turns(&self, cursor: &Cursor<'_>, start: usize, plural: bool) -> Result<Selection> {
        let Self::Of(items) = self else { return Ok(Selection::default()) };
        let mut lists = Vec::new();
        for item in items {
            lists.push(vec![match *item {
                Item::End(_, None) if plural && items.len() == 1 => {
                    return Err(cursor.refused(start, HOW_MANY));
                }
                Item::End(oldest, count) => {
                    let count = narrow(cursor, start, count.unwrap_or(1))?;
                    if oldest { Criterion::FirstTurns(count) } else { Criterion::LastTurns(count) }
                }
                Item::Nth(from, to) => {
                    let turns = ordered(cursor, start, from, to)?;
                    Reference::new(cursor, start, words::Noun::Turn, turns)?.within()
                }
                Item::NthToLast(_) => return Err(cursor.refused(start, NOT_OF_TURNS)),
            }]);
        }
        let mut selection = Selection::default();
        selection.add_any_of(lists).map_err(|why| cursor.refused(start, why))?;
        Ok(selection)
    }
}
