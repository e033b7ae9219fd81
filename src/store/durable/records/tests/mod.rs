//! The records as bytes: that they come back, that they stay, and that nothing wrong is read.

mod compacted;
mod damage;
pub(super) mod given;
mod nonsense;
mod order;
mod round_trip;
mod shares;
pub mod stable;

use super::*;

/// Writes a record as it would stand in a store.
fn written(record: &Record) -> (Key, Vec<u8>) {
    match record {
        Record::Metas(key, value) => pair::<Metas>(key, value),
        Record::ConversationName(key, value) => pair::<ConversationName>(key, value),
        Record::Heads(key, value) => pair::<Heads>(key, value),
        Record::Policies(key, value) => pair::<Policies>(key, value),
        Record::Descriptions(key, value) => pair::<Descriptions>(key, value),
        Record::Segments(key, value) => pair::<Segments>(key, value),
        Record::Utterances(key, value) => pair::<Utterances>(key, value),
        Record::GivenIds(key, value) => pair::<GivenIds>(key, value),
        Record::Listed(key, value) => pair::<Listed>(key, value),
        Record::Active(key, value) => pair::<Active>(key, value),
        Record::Outcomes(key, value) => pair::<Outcomes>(key, value),
        Record::OutcomeAges(key, value) => pair::<OutcomeAges>(key, value),
        Record::Dues(key, value) => pair::<Dues>(key, value),
        Record::Links(key, value) => pair::<Links>(key, value),
        Record::Readers(key, value) => pair::<Readers>(key, value),
        Record::Endings(key, value) => pair::<Endings>(key, value),
        Record::Ended(key, value) => pair::<Ended>(key, value),
        Record::Compactions(key, value) => pair::<Compactions>(key, value),
        Record::Waiting(key, value) => pair::<Waiting>(key, value),
    }
}
