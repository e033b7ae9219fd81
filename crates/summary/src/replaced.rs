//! Which of two statements holds: what was said last about a thing.

use utterd_text::Kind as Shape;

use crate::{
    item::{Item, Kind, Marks, retain},
    read::{concepts, shared},
};

/// How many statements before a correction it can be about.
const REACH: usize = 40;

/// Drops statements that a later one of the same speaker replaces, and the names that only they named. What replaces
/// something is a correction, whatever its words. Each replaces one, however often a summary is folded.
pub fn drop_replaced(items: &mut Vec<Item>) {
    let says = |item: &Item| matches!(item.kind, Kind::Said | Kind::Goal) && !item.marks.has(Marks::QUESTION);
    let statements: Vec<(usize, &Item)> = items.iter().enumerate().filter(|(_, item)| says(item)).collect();
    let mut keep = vec![true; items.len()];
    let (mut corrections, mut settled) = (Vec::new(), Vec::new());
    for (place, (later_at, later)) in statements.iter().enumerate() {
        if later.marks.has(Marks::SETTLED) {
            continue;
        }
        let earlier = statements[place.saturating_sub(REACH)..place].iter().rev();
        // what one message says holds together: "I expect 5, but get 8 instead"
        let earlier = earlier
            .filter(|(at, item)| item.sequence < later.sequence && item.head == later.head && keep[*at]);
        // the most alike; of those, the newest
        let alike = earlier.clone().rev().take(if can_replace(later) { REACH } else { 0 });
        let close = alike.map(|said| (closeness(said.1, later), said));
        let best =
            close.filter(|(close, _)| *close > 0).max_by_key(|(close, _)| *close).map(|(_, said)| said);
        let is_marked = later.marks.has(Marks::CORRECTION);
        if !is_marked && (best.is_some() || denies_last(items, later)) {
            corrections.push(*later_at);
        }
        let says_thing = !is_marked && !later.thing().is_empty();
        let mut same = earlier.take(if says_thing { REACH } else { 0 });
        if let Some((at, _)) = best.or_else(|| same.find(|(_, item)| tells_same(item, later))) {
            keep[*at] = false;
            settled.push(*later_at);
        }
    }
    let replaced: Vec<&Item> =
        statements.iter().filter(|(at, _)| !keep[*at]).map(|(_, item)| *item).collect();
    for (at, item) in items.iter().enumerate() {
        let last = item.seen.filter(|seen| seen.calls == 0).map(|seen| seen.last);
        let only_there = |said: &&Item| last == Some(said.sequence) && said.text.contains(&*item.text);
        keep[at] &= !replaced.iter().any(only_there);
    }
    corrections.iter().for_each(|at| items[*at].correct());
    settled
        .into_iter()
        .chain(corrections)
        .for_each(|at| items[at].marks = items[at].marks.with(Marks::SETTLED));
    retain(items, &keep);
}

/// Whether a statement can take the place of an earlier one at all: seen by itself, it is a correction, or has a value.
fn can_replace(later: &Item) -> bool {
    let has_value = || later.named().any(|(shape, _)| is_fixed(shape) || is_told(later));
    later.marks.has(Marks::CORRECTION) || later.marks.has(Marks::USER) && has_value()
}

/// Whether its words say that it may take the place of another statement.
fn is_told(later: &Item) -> bool {
    later.marks.has_any(Marks::UPDATE.with(Marks::DENIAL))
}

/// How sure it is that a statement takes the place of an earlier one; 0 if it does not.
fn closeness(earlier: &Item, later: &Item) -> usize {
    match later.marks {
        marks if marks.has(Marks::CORRECTION) => likeness(earlier, later),
        marks if marks.has(Marks::USER) => update(earlier, later),
        _ => 0,
    }
}

/// The same where only another value shows it, since its words can as well say something new: one value takes the place
/// of one of its kind. Besides, it has all words of the earlier one, or its value is a code of the same form; and one is
/// about what the other begins with: `the hotel` and `the flight` cost each their own.
fn update(earlier: &Item, later: &Item) -> usize {
    // seldom, and seen soonest
    let (old, new) = (earlier.subject(), later.subject());
    let is_about = |one: &[u64], other: &[u64]| one.first().is_some_and(|head| other.contains(head));
    if !is_about(old, new) && !is_about(new, old) {
        return 0;
    }
    let is_told = is_told(later);
    let Some(shape) = changed(earlier, later).filter(|shape| is_told || is_fixed(*shape)) else { return 0 };
    let has_form = matches!(shape, Shape::Code | Shape::Identifier) && has_form_like(earlier, later);
    let is_other = if has_form { are_siblings(earlier, later) } else { are_apart(earlier, later) };
    if is_other || shape == Shape::Identifier && !has_form {
        return 0;
    }
    let shares = shared(old, new);
    // what the earlier one says besides is not to be lost
    let has_all = old.len() == shares || shares > 1 && old.len() == shares + 1 && new.len() == shares;
    let is_same = match asks(earlier) {
        // a rule takes the place of a rule that asks for the same
        true => later.marks.has(Marks::CONSTRAINT) && old.first() == new.first() && has_all,
        false if is_told => has_all || has_form,
        false => has_all && shares > 1 && !asks(later),
    };
    if is_same { 2 + 2 * shares } else { 0 }
}

/// Whether a thing has one value of a kind at a time, so that another one takes its place if nothing says so.
fn is_fixed(shape: Shape) -> bool {
    !matches!(shape, Shape::Name | Shape::Number | Shape::Money)
}

/// The kind of value of which the later one names another in place of one of the earlier; `None` if more differs in what
/// they name.
fn changed(earlier: &Item, later: &Item) -> Option<Shape> {
    let only_of = |one: &Item, other: &Item| {
        let is_in =
            |value: &str| other.text.contains(value) || other.named().any(|(_, text)| value.contains(text));
        let mut own = one.named().filter(|(_, value)| !is_in(value)).map(|(shape, _)| shape);
        own.next().filter(|_| own.next().is_none())
    };
    only_of(later, earlier).filter(|shape| only_of(earlier, later) == Some(*shape))
}

/// Whether each says what a thing of its own is, in the same form: `the price of the flight is`, `the price of the hotel
/// is`.
fn are_siblings(earlier: &Item, later: &Item) -> bool {
    let [old, new] = [earlier, later].map(Item::thing_concepts);
    let differs = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    old.len() == new.len() && old.len() > 1 && differs == 1
}

/// Whether each says what a thing of its own is.
fn are_apart(earlier: &Item, later: &Item) -> bool {
    let [old, new] = [earlier, later].map(Item::thing_concepts);
    let lacks = |one: &[u64], other: &[u64]| one.iter().any(|word| !other.contains(word));
    !old.is_empty() && !new.is_empty() && (lacks(&old, &new) || lacks(&new, &old))
}

/// Whether it denies what was last said to its speaker, and has another value.
fn denies_last(items: &[Item], later: &Item) -> bool {
    if !later.marks.has(Marks::DENIAL) {
        return false;
    }
    let said = |item: &&Item| {
        matches!(item.kind, Kind::Said | Kind::Goal)
            && item.sequence < later.sequence
            && item.head != later.head
    };
    let last = items.iter().filter(said).map(|item| item.sequence).max();
    let of_last = |item: &&Item| Some(item.sequence) == last && said(item);
    items.iter().filter(of_last).any(|item| has_value_like(item, later))
}

/// How sure it is that a correction is about an earlier statement; 0 if it is not. They share a third of the words of the
/// shorter one, or some and a value of one kind.
fn likeness(earlier: &Item, later: &Item) -> usize {
    let shares = shared(earlier.concepts(), later.concepts());
    if shares == 0 {
        return 0;
    }
    let least = earlier.concepts().len().min(later.concepts().len());
    let (is_meant, has_value) = (3 * shares >= least, has_value_like(earlier, later));
    match () {
        () if are_siblings(earlier, later) => 0,
        () if has_value && (is_meant || !asks(earlier)) => 2 + 2 * shares,
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
        Shape::Identifier => has_form_like(earlier, later),
        Shape::Name => says_thing_of(earlier, later),
        _ => true,
    };
    new.iter().any(|value| !old.contains(value) && is_gone(value.0) && is_value(value.0))
}

/// Whether it has another code of the form of one of an earlier statement: `spike/abc-12`, `spike/xyz-30`.
fn has_form_like(earlier: &Item, later: &Item) -> bool {
    let codes = |item: &Item| -> Vec<(String, String)> {
        let named = item.named().filter(|(shape, _)| matches!(shape, Shape::Code | Shape::Identifier));
        named.filter_map(|(_, code)| Some((form(code)?, code.to_owned()))).collect()
    };
    let (old, new) = (codes(earlier), codes(later));
    new.iter().any(|code| !old.contains(code) && old.iter().any(|one| one.0 == code.0 && !new.contains(one)))
}

/// What a code with letters and digits looks like: `a-0` for `vault-17`. `None` if it has only one of them.
fn form(code: &str) -> Option<String> {
    let class = |c: char| match c {
        c if c.is_numeric() => '0',
        c if c.is_uppercase() => 'A',
        c if c.is_alphabetic() => 'a',
        c => c,
    };
    let mut form: Vec<char> = code.chars().map(class).collect();
    form.dedup();
    let has = |is: fn(&char) -> bool| form.iter().any(is);
    (has(|c| *c == '0') && has(|c| c.is_alphabetic())).then(|| form.into_iter().collect())
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
    let thing = earlier.thing_concepts();
    !thing.is_empty() && thing.iter().all(|word| later.concepts().contains(word))
}

/// Whether both say what one thing is, which the later one says, and say different things.
fn tells_same(earlier: &Item, later: &Item) -> bool {
    let same = earlier.thing() == later.thing();
    same && !asks(earlier) && !asks(later) && earlier.text != later.text
}
