//! Important units: they are rendered even where the window's older part is not.

use crate::domain::{
    Window,
    context::{
        How,
        unit::{Rendering, Unit, before},
    },
};

/// The pinned units of the window that have at most `room` tokens together, the newest first, but
/// for the `newest` of all, which is rendered anyway.
///
/// Costs nothing where nothing is pinned; otherwise the window is looked through for them.
pub(super) fn units(
    window: &Window,
    floor: usize,
    newest: usize,
    room: u64,
    rendering: Rendering<'_>,
) -> Vec<Unit> {
    let (mut units, mut left) = (Vec::new(), room);
    let mut end = newest;
    let mut unseen = window.pinned();
    while let Some(places) = (unseen > 0).then(|| before(window, floor, end)).flatten() {
        end = places.start;
        let pinned = window.slice(places.clone()).filter(|utterance| utterance.pinned).count() as u32;
        unseen = unseen.saturating_sub(pinned);
        if pinned == 0 {
            continue;
        }
        let unit = rendering.unit(window, places);
        let Some(rest) = left.checked_sub(unit.tokens) else { break };
        if !unit.messages.is_empty() {
            left = rest;
            units.push(unit);
        }
    }
    units
}

/// Marks what is rendered away from its place.
pub(super) fn mark(unit: &mut Unit) {
    let whole = unit.messages.iter_mut().filter(|message| message.how == How::Whole);
    whole.for_each(|message| message.how = How::Pinned);
}
