//! How much a value is worth to tell, by its shape.

use crate::shapes::{Shape, shape};

/// The worth of a value: 0 to 100.
pub(super) fn worth(value: &str, key: &str) -> u32 {
    let chars = value.chars().count();
    match shape(value) {
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
    }
}
