//! How much a value is worth to tell, by its shape and by how often it is repeated.

use crate::shapes::{Shape, shape};

/// Lists longer than this are worth less, record by record.
const LONG_LIST: usize = 8;

/// The worth of a value: 0 to 100. `repeated` is how many records the list has, and how many of them have this value.
pub(super) fn worth(value: &str, key: &str, repeated: (usize, usize)) -> u32 {
    let chars = value.chars().count();
    let by_shape: u32 = match shape(value) {
        Shape::Empty => 0,
        Shape::Amount | Shape::Date => 80,
        Shape::Time | Shape::Id => 75,
        Shape::Phrase if chars <= 40 => 70,
        Shape::Word => 65,
        Shape::Number if chars <= 8 => 60,
        Shape::Phrase => 45,
        Shape::Path | Shape::Email => 45,
        // `true` tells as much as its key does
        Shape::Bool if key.chars().count() > 3 => 40,
        Shape::Bool | Shape::Number => 20,
        Shape::Stamp | Shape::Url => 8,
        Shape::Hash => 5,
        Shape::Prose if chars <= 120 => 15,
        Shape::Prose => 0,
    };
    let (records, same) = repeated;
    let shown = match () {
        () if records > 2 && same == records => by_shape / 4,
        () if records > 2 && same * 2 > records => by_shape / 2,
        () => by_shape,
    };
    if records > LONG_LIST { shown * 2 / 3 } else { shown }
}
