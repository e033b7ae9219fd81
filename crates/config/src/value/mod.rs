//! The kinds of values. Each parses text, with an error that says what is accepted, and shows a
//! value as TOML that parses to the same value.

mod numbers;
mod places;
mod times;
mod words;

pub use numbers::{bound, dimensions, limit, positive, share, size, switch, threads};
pub use places::{address, address_of_models, database, directory, file, file_mode, other_address};
pub use times::{duration, flush, period};
pub use words::{directive, encoding, models, text, word};
