//! Which of two statements holds: what was said last about a thing.

use utterd_text::Kind as Shape;

use crate::{
    item::{Item, Kind, Marks, retain},
    read::{concepts, shared},
};

/// How many statements before a correction it can be about.
const REACH: usize = 40;

/// Drops statements that a later one of the same speaker replaces, and the names that only they named.
pub fn drop_replaced(items: &mut Vec<Item>) {
    let says = |item: &Item| matches!(item.kind, Kind::Said | Kind::Goal) && !item.marks.has(Marks::QUESTION);
    let statements: Vec<(usize, &Item)> = items.iter().enumerate().filter(|(_, item)| says(item)).collect();
    let mut keep = vec![true; items.len()];
    for (place, (_, later)) in statements.iter().enumerate() {
        let earlier = statements[place.saturating_sub(REACH)..place].iter().rev();
        // what one message says holds together: "I expect 5, but get 8 instead"
        let mut earlier = earlier
            .filter(|(at, item)| item.sequence < later.sequence && item.head == later.head && keep[*at]);
        let found = if later.marks.has(Marks::CORRECTION) {
            // the most alike; of those, the newest
            let best = earlier.rev().max_by_key(|(_, item)| likeness(item, later));
            best.filter(|(_, item)| likeness(item, later) > 0)
        } else {
            earlier.find(|(_, item)| tells_same(item, later))
        };
        if let Some((at, _)) = found {
            keep[*at] = false;
        }
    }
    let replaced: Vec<&Item> =
        statements.iter().filter(|(at, _)| !keep[*at]).map(|(_, item)| *item).collect();
    for (at, item) in items.iter().enumerate() {
        let last = item.seen.filter(|seen| seen.calls == 0).map(|seen| seen.last);
        let only_there = |said: &&Item| last == Some(said.sequence) && said.text.contains(&*item.text);
        keep[at] &= !replaced.iter().any(only_there);
    }
    retain(items, &keep);
}

/// How sure it is that a correction is about an earlier statement; 0 if it is not. They share a third of the words of the
/// shorter one, or some and a value of one kind.
fn likeness(earlier: &Item, later: &Item) -> usize {
    let shares = shared(earlier.concepts(), later.concepts());
    let least = earlier.concepts().len().min(later.concepts().len());
    let (is_meant, has_value) = (shares > 0 && 3 * shares >= least, has_value_like(earlier, later));
    match () {
        () if has_value && (is_meant || shares > 0 && !asks(earlier)) => 2 + 2 * shares,
        // a wish stays a wish when how it is to be met changes
        () if is_meant && (!asks(earlier) || begins_like(earlier, later)) => shares,
        () => 0,
    }
}

/// Whether a correction has another value in place of one of an earlier statement.
fn has_value_like(earlier: &Item, later: &Item) -> bool {
    let (old, new): (Vec<_>, Vec<_>) = (earlier.named().collect(), later.named().collect());
    let is_gone = |shape: Shape| old.iter().any(|value| value.0 == shape && !new.contains(value));
    // names are values where both say what one thing is: there are too many of them elsewhere
    let is_value = |shape: Shape| match shape {
        Shape::Identifier => false,
        Shape::Name => says_thing_of(earlier, later),
        _ => true,
    };
    new.iter().any(|value| !old.contains(value) && is_gone(value.0) && is_value(value.0))
}

/// Whether a correction asks for the same to be done in another way: it has the verb that the earlier one begins with.
fn begins_like(earlier: &Item, later: &Item) -> bool {
    let first = concepts(earlier.text.split(' ').next().unwrap_or_default());
    first.first().is_some_and(|verb| later.concepts().contains(verb)) && asks(later)
}

fn asks(item: &Item) -> bool {
    item.marks.has(Marks::REQUEST)
}

/// Whether the earlier one says what a thing is, and a correction has all words for that thing: `my new address is`.
fn says_thing_of(earlier: &Item, later: &Item) -> bool {
    let thing = concepts(earlier.thing());
    !thing.is_empty() && thing.iter().all(|word| later.concepts().contains(word))
}

/// Whether both say what one thing is, and say different things.
fn tells_same(earlier: &Item, later: &Item) -> bool {
    let same = !earlier.thing().is_empty() && earlier.thing() == later.thing();
    same && !asks(earlier) && !asks(later) && earlier.text != later.text
}
