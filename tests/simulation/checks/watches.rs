//! A watch of capacity never goes back, and ends with the last state.

use crate::{
    checks::{Order, Wrong},
    world::Watch,
};

pub fn check(order: &Order<'_>, watches: &[Watch]) -> Vec<Wrong> {
    watches.iter().filter_map(|watch| goes_back(order, watch)).collect()
}

fn goes_back(order: &Order<'_>, watch: &Watch) -> Option<Wrong> {
    let versions = order.versions(&watch.id);
    let seen: Vec<_> =
        watch.seen.iter().filter_map(|(tick, state)| Some((*tick, order.find(state)?))).collect();
    let back = seen.windows(2).find(|pair| pair[0].1 >= pair[1].1);
    let early = seen.iter().find(|(tick, version)| versions[*version].tick > *tick);
    let (tick, _) = back.map(|pair| pair[1]).or(early.copied())?;
    Some(Wrong::new("a watch goes on", format!("{} at {tick}: versions {seen:?}", watch.id)))
}
