//! Counts what limits leave out and no summary covers.

use crate::{
    Ranges,
    context::{Uncovered, plan::Plan},
};

/// Counts what is missing from the `plan`'s conversation, whose recent units begin at `place`.
pub(super) fn uncovered(plan: &Plan<'_>, place: usize, rendered: &Ranges) -> Uncovered {
    let mut away = (*plan.conversation.head.left).clone();
    away.subtract(&plan.conversation.summary.covers());
    away.subtract(rendered);
    // what is left out among the recent units is left out for other reasons
    away.subtract(&plan.sequences(place..plan.window().len()));
    let cuts = place > plan.floor;
    let (here, turns) = if cuts { cut_off(plan, place, rendered) } else { (0, 0) };
    Uncovered { utterances: away.count() + here, turns }
}

/// Returns the number of utterances before `place` that are not rendered, and of turns that end there.
/// Derives both from the rendered ones, so that a long window costs no more than a short one.
fn cut_off(plan: &Plan<'_>, place: usize, rendered: &Ranges) -> (u64, u32) {
    let window = &plan.conversation.window;
    let mut before = plan.sequences(plan.floor..place);
    before.subtract(&plan.conversation.head.left);
    let first = plan.window().at(place).map(|first| first.sequence);
    let place = first.map_or(window.len(), |first| window.place(first).unwrap_or_else(|place| place));
    let kept = |places| window.slice(places).filter(|utterance| !utterance.forgotten).count();
    let all = window.len() - window.forgotten() as usize;
    let cut = all - kept(0..plan.floor) - kept(place..window.len());
    let rendered = rendered.intersection(&before).count();
    let live = window.slice(place..window.len()).filter(|utterance| utterance.is_live());
    let mut turns: Vec<u32> = live.map(|utterance| utterance.turn).filter(|turn| *turn > 0).collect();
    turns.dedup();
    ((cut as u64).saturating_sub(rendered), window.turns().saturating_sub(turns.len() as u32))
}
