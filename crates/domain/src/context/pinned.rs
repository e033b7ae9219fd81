//! Important units: they are rendered even if the window's older part is not.

use std::{iter, ops::Range, sync::Arc};

use crate::{
    Utterance, Window,
    context::{
        How,
        unit::{Rendering, Unit, before},
    },
};

/// The pinned units that have at most `room` tokens together: first those at `places` of the window, newest
/// first, then `away`, the pinned units of the archive, which are ascending and whole.
///
/// Costs nothing if nothing is pinned; otherwise the window is searched for them.
pub(super) fn units(
    window: &Window,
    places: Range<usize>,
    away: &[Arc<Utterance>],
    room: u64,
    rendering: Rendering<'_>,
) -> Vec<Unit> {
    let here = in_window(window, places).map(|places| rendering.unit(window, places));
    let away = away.chunk_by(|one, other| one.unit == other.unit).rev();
    let away = away.map(|unit| rendering.unit_away(unit));
    let mut left = room;
    let fits = |unit: &Unit| match left.checked_sub(unit.tokens) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    here.chain(away).filter(|unit| !unit.messages.is_empty()).take_while(fits).collect()
}

/// The places of the pinned units among `places`, newest first.
fn in_window(window: &Window, places: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (mut end, mut unseen) = (places.end, window.pinned());
    iter::from_fn(move || {
        while unseen > 0 {
            let unit = before(window, places.start, end)?;
            end = unit.start;
            let pinned = window.slice(unit.clone()).filter(|utterance| utterance.pinned).count() as u32;
            unseen = unseen.saturating_sub(pinned);
            if pinned > 0 {
                return Some(unit);
            }
        }
        None
    })
}

/// Marks the unit's messages as rendered out of their place.
pub(super) fn mark(unit: &mut Unit) {
    let whole = unit.messages.iter_mut().filter(|message| message.how == How::Whole);
    whole.for_each(|message| message.how = How::Pinned);
}
