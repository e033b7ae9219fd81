//! The records as bytes: they round-trip, stay stable, and wrong ones are refused.

mod blocks;
mod compacted;
mod damage;
pub(super) mod given;
mod nonsense;
mod order;
mod round_trip;
mod shares;
pub mod stable;

use super::*;
