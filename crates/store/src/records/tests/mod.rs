//! Records as bytes: they round-trip and stay stable, and invalid ones are refused.

mod damage;
mod given;
mod nonsense;
mod order;
mod round_trip;
mod stable;

use super::*;
