//! Invariants of a run, checked against its record.

mod admission;
mod events;
mod order;
mod reads;
mod refusals;
mod replays;
mod watches;

use crate::{tell, world::World};
pub use order::Order;

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The broken rule, in a few words.
    pub rule: &'static str,
    /// How it was broken.
    pub how: String,
}

impl Wrong {
    pub fn new(rule: &'static str, how: impl Into<String>) -> Self {
        Self { rule, how: tell::short(&how.into()) }
    }
}

/// All violations in a run.
pub fn all(world: &World) -> Vec<Wrong> {
    let ledger = world.disk.ledger.lock();
    let (tries, watches) = (world.tries.lock(), world.watches.lock());
    let order = Order::of(&ledger, &tries, &watches);
    let mut wrongs = world.wrongs.lock().clone();
    wrongs.extend(ledger.wrongs.iter().map(|how| Wrong::new("the store", how.clone())));
    wrongs.extend(order.check());
    wrongs.extend(admission::check(&order));
    wrongs.extend(refusals::check(&order));
    wrongs.extend(reads::check(&order));
    wrongs.extend(replays::check(&order));
    wrongs.extend(watches::check(&order, &watches));
    wrongs.extend(events::check(&order, &world.events.lock(), &world.living()));
    wrongs
}
