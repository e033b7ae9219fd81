//! Records as bytes: they round-trip and stay stable, and invalid ones are refused.

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
