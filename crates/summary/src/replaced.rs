//! Which of two statements holds: what was said last about a thing.

use rustc_hash::FxHashSet;
use utterd_text::{Kind as Shape, entities};

use crate::{
    item::{Item, Kind, Marks, retain},
    words::concepts,
};

/// How many statements before a correction it can be about.
const REACH: usize = 40;
/// What stands between a thing and its value, in several languages.
const COPULAS: [&str; 24] = [
    "is", "are", "was", "=", "es", "son", "está", "ist", "sind", "est", "sont", "é", "são", "è", "sono",
    "это", "—", "zijn", "is:", "are:", "becomes", "now", "ahora", "jetzt",
];

/// Drops statements that a later one of the same speaker replaces, and the names that only they named.
pub fn drop_replaced(items: &mut Vec<Item>) {
    let statements: Vec<Statement> =
        items.iter().enumerate().filter_map(|(at, item)| Statement::of(at, item)).collect();
    let mut keep = vec![true; items.len()];
    for (place, later) in statements.iter().enumerate() {
        let earlier = statements[place.saturating_sub(REACH)..place].iter().rev();
        let mut earlier = earlier.filter(|earlier| earlier.item.head == later.item.head && keep[earlier.at]);
        let found = if later.item.marks.has(Marks::CORRECTION) {
            let all: Vec<&Statement> = earlier.collect();
            // a wish stays a wish when how it is to be met changes
            let replaces = |earlier: &&&Statement| {
                earlier.is_meant_by(later) && (!earlier.asks() || earlier.has_value_like(later))
            };
            let shares = all.iter().find(replaces);
            shares.or_else(|| all.iter().find(|earlier| earlier.has_value_like(later))).copied()
        } else {
            earlier.find(|earlier| earlier.tells_same_of(later))
        };
        if let Some(found) = found {
            keep[found.at] = false;
        }
    }
    let replaced: Vec<(u64, Box<str>)> = statements
        .iter()
        .filter(|statement| !keep[statement.at])
        .map(|statement| (statement.item.sequence, statement.item.text.clone()))
        .collect();
    for (at, item) in items.iter().enumerate() {
        let last = item.seen.filter(|seen| seen.calls == 0).map(|seen| seen.last);
        let only_there =
            |(sequence, text): &(u64, Box<str>)| last == Some(*sequence) && text.contains(&*item.text);
        keep[at] &= !replaced.iter().any(only_there);
    }
    retain(items, &keep);
}

struct Statement<'a> {
    at: usize,
    item: &'a Item,
    concepts: FxHashSet<u64>,
    shapes: Vec<(Shape, &'a str)>,
}

impl<'a> Statement<'a> {
    fn of(at: usize, item: &'a Item) -> Option<Self> {
        let says = matches!(item.kind, Kind::Said | Kind::Goal);
        let other = Marks::QUESTION.with(Marks::COURTESY).with(Marks::TEMPLATE);
        (says && !item.marks.has_any(other)).then(|| Self {
            at,
            item,
            concepts: concepts(&item.text).into_iter().collect(),
            shapes: entities(&item.text).into_iter().map(|entity| (entity.kind, entity.text)).collect(),
        })
    }

    /// Whether a correction is about this statement: they share a third of the words of the shorter one.
    fn is_meant_by(&self, later: &Self) -> bool {
        let shared = self.concepts.intersection(&later.concepts).count();
        shared > 0 && 3 * shared >= self.concepts.len().min(later.concepts.len())
    }

    /// Whether a correction has another value in place of one of this statement.
    fn has_value_like(&self, later: &Self) -> bool {
        let gone = self.shapes.iter().filter(|value| !later.shapes.contains(value));
        let mut new = later.shapes.iter().filter(|value| !self.shapes.contains(value));
        let gone: Vec<Shape> = gone.map(|(shape, _)| *shape).collect();
        new.any(|(shape, _)| *shape != Shape::Identifier && gone.contains(shape))
    }

    fn asks(&self) -> bool {
        self.item.marks.has(Marks::REQUEST)
    }

    /// Whether both say what one thing is, and say different things.
    fn tells_same_of(&self, later: &Self) -> bool {
        if self.asks() || later.asks() {
            return false;
        }
        let (old, new) = (lower(&self.item.text), lower(&later.item.text));
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let thing = old[..same].join(" ");
        same >= 2
            && same < old.len()
            && same < new.len()
            && COPULAS.contains(&old[same - 1])
            && !concepts(&thing).is_empty()
    }
}

fn lower(text: &str) -> String {
    text.trim_end_matches(['.', '!', '。']).to_lowercase()
}
