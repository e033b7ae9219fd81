//! Which of two statements holds: what was said last about a thing.

use std::sync::Arc;

use utterd_text::Kind as Shape;

use crate::{
    item::{Item, Kind, Marks, retain},
    read::{concepts, shared},
};

/// How many statements before a correction it can be about.
const REACH: usize = 40;
/// Drops statements that a later one of the same speaker replaces, and the names that only they named.
pub fn drop_replaced(items: &mut Vec<Item>) {
    let statements: Vec<Statement> =
        items.iter().enumerate().filter_map(|(at, item)| Statement::of(at, item)).collect();
    let mut keep = vec![true; items.len()];
    for (place, later) in statements.iter().enumerate() {
        let earlier = statements[place.saturating_sub(REACH)..place].iter().rev();
        // what one message says holds together: "I expect 5, but get 8 instead"
        let is_earlier = |earlier: &&Statement| earlier.item.sequence < later.item.sequence;
        let mut earlier = earlier.filter(|earlier| {
            is_earlier(earlier) && earlier.item.head == later.item.head && keep[earlier.at]
        });
        let found = if later.item.marks.has(Marks::CORRECTION) {
            // the most alike; of those, the newest
            let best = earlier.rev().max_by_key(|earlier| earlier.likeness(later));
            best.filter(|best| best.likeness(later) > 0)
        } else {
            earlier.find(|earlier| earlier.tells_same_of(later))
        };
        if let Some(found) = found {
            keep[found.at] = false;
        }
    }
    let replaced: Vec<(u64, Arc<str>)> = statements
        .iter()
        .filter(|statement| !keep[statement.at])
        .map(|statement| (statement.item.sequence, statement.item.text.clone()))
        .collect();
    for (at, item) in items.iter().enumerate() {
        let last = item.seen.filter(|seen| seen.calls == 0).map(|seen| seen.last);
        let only_there =
            |(sequence, text): &(u64, Arc<str>)| last == Some(*sequence) && text.contains(&*item.text);
        keep[at] &= !replaced.iter().any(only_there);
    }
    retain(items, &keep);
}

struct Statement<'a> {
    at: usize,
    item: &'a Item,
}

impl<'a> Statement<'a> {
    fn of(at: usize, item: &'a Item) -> Option<Self> {
        let says = matches!(item.kind, Kind::Said | Kind::Goal);
        (says && !item.marks.has(Marks::QUESTION)).then_some(Self { at, item })
    }

    /// How sure it is that a correction is about this statement; 0 if it is not. They share a third of the words of the
    /// shorter one, or some and a value of one kind.
    fn likeness(&self, later: &Self) -> usize {
        let shares = shared(self.item.concepts(), later.item.concepts());
        let least = self.item.concepts().len().min(later.item.concepts().len());
        let (is_meant, has_value) = (shares > 0 && 3 * shares >= least, self.has_value_like(later));
        match () {
            () if has_value && (is_meant || shares > 0 && !self.asks()) => 2 + 2 * shares,
            // a wish stays a wish when how it is to be met changes
            () if is_meant && (!self.asks() || self.begins_like(later)) => shares,
            () => 0,
        }
    }

    /// Whether a correction has another value in place of one of this statement.
    fn has_value_like(&self, later: &Self) -> bool {
        let (old, new): (Vec<_>, Vec<_>) = (self.item.named().collect(), later.item.named().collect());
        let is_gone = |shape: Shape| old.iter().any(|value| value.0 == shape && !new.contains(value));
        // names are values where both say what one thing is: there are too many of them elsewhere
        let is_value = |shape: Shape| match shape {
            Shape::Identifier => false,
            Shape::Name => self.says_thing_of(later),
            _ => true,
        };
        new.iter().any(|value| !old.contains(value) && is_gone(value.0) && is_value(value.0))
    }

    /// Whether a correction asks for the same to be done in another way: it has the verb that this begins with.
    fn begins_like(&self, later: &Self) -> bool {
        let first = concepts(self.item.text.split(' ').next().unwrap_or_default());
        first.first().is_some_and(|verb| later.item.concepts().contains(verb)) && later.asks()
    }

    fn asks(&self) -> bool {
        self.item.marks.has(Marks::REQUEST)
    }

    /// Whether this says what a thing is, and a correction has all words for that thing: `my new address is`.
    fn says_thing_of(&self, later: &Self) -> bool {
        let thing = concepts(self.item.thing());
        !thing.is_empty() && thing.iter().all(|word| later.item.concepts().contains(word))
    }

    /// Whether both say what one thing is, and say different things.
    fn tells_same_of(&self, later: &Self) -> bool {
        let same = !self.item.thing().is_empty() && self.item.thing() == later.item.thing();
        same && !self.asks() && !later.asks() && self.item.text != later.item.text
    }
}
