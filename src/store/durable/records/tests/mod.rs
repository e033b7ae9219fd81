//! The records as bytes: that they come back, that they stay, and that nothing wrong is read.

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
