//! Compactions as a client makes, lists and undoes them.

mod advice;

use crate::support::prelude::*;

/// A policy without limits.
fn unlimited() -> Policy {
    Policy { preset: PolicyPreset::Session.into(), ..Default::default() }
}

/// User notes with two sentences each.
fn notes(numbers: std::ops::RangeInclusive<usize>) -> Vec<NewUtterance> {
    let note = |number| {
        format!(
            "Note {number}: the pump of tank T-{number} failed in the night and was replaced on Monday. \
             Nobody saw why it stopped, and so the next one may stop as well."
        )
    };
    numbers.map(|number| user(&note(number))).collect()
}

/// The default recipient's conversation, with this many notes in its window.
async fn long(count: usize) -> Session {
    let session = Session::new().await;
    session.create_with(unlimited()).await;
    session.say(notes(1..=count)).await;
    session
}
