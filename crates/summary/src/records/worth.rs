//! How much a value is worth to tell, by its shape and by how often it is repeated.

use crate::shapes::{Shape, shape};

/// Lists longer than this are worth less, record by record.
const LONG_LIST: usize = 8;

/// The worth of a value: 0 to 100. `repeated` is how many records the list has, and how many of them have this value.
pub(super) fn worth(value: &str, key: &str, repeated: (usize, usize)) -> u32 {
    let chars = value.chars().count();
    let by_shape: u32 = match shape(value) {
        Shape::Empty => 0,
        // they name another thing, or a day
        Shape::Date | Shape::Id => 100,
        Shape::Path | Shape::Email => 60,
        Shape::Amount | Shape::Time => 50,
        Shape::Phrase if chars <= 40 => 45,
        Shape::Word => 45,
        Shape::Number if chars <= 8 => 40,
        Shape::Phrase => 30,
        // `true` tells as much as its key does
        Shape::Bool if key.chars().count() > 3 => 25,
        Shape::Bool | Shape::Number => 15,
        Shape::Stamp | Shape::Url | Shape::Hash => 5,
        Shape::Prose if chars <= 120 => 10,
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
