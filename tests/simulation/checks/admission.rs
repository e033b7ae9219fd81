//! A call that did not reach the engine has left no trace: it was refused, or its deadline had passed, or its
//! caller had disconnected.

use std::collections::BTreeSet;

use crate::{
    checks::{Order, Wrong},
    world::End,
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let begun = |begun: bool| order.tries.iter().filter(move |attempt| attempt.begun == begun);
    let numbers: BTreeSet<_> = begun(true).map(|attempt| attempt.number).collect();
    let versions = order.ledger.conversations.values().flatten();
    let traces: BTreeSet<_> = versions.filter_map(|version| version.call).collect();
    let left = begun(false).filter(|attempt| !numbers.contains(&attempt.number));
    let left = left.filter(|attempt| traces.contains(&attempt.number) || order.kept(attempt).is_some());
    let effect = |number| Wrong::new("what is not begun has no effect", format!("call {number} took effect"));
    let away = begun(true).filter(|attempt| matches!(attempt.end, End::TurnedAway));
    let begun = |number| Wrong::new("what is turned away is not begun", format!("call {number}"));
    let wrongs = left.map(|attempt| effect(attempt.number));
    wrongs.chain(away.map(|attempt| begun(attempt.number))).collect()
}
