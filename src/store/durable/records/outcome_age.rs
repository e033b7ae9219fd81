//! Outcomes in the order of their age.

use std::ops::Range;

use crate::{domain::Timestamp, store::durable::key_value::Key};

use super::{
    Fault, KeyReader, KeyWriter, Kind, OutcomeName, Outcomes,
    kind::{all_of, message},
};

/// The kind of outcomes' ages, by their times and names: there is nothing but the key.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeAges;

/// The keys of outcomes older than `oldest`, the oldest first.
pub fn outcome_ages_before(oldest: Timestamp) -> Range<Key> {
    let mut end = KeyWriter::of(OutcomeAges::NUMBER);
    end.time(oldest);
    all_of::<OutcomeAges>()..end.done()
}

impl Kind for OutcomeAges {
    const NUMBER: u8 = 12;
    const VERSION: u8 = 1;
    const NAME: &'static str = "age";
    type Key = (Timestamp, OutcomeName);
    type Value = ();

    fn write_key((time, name): &(Timestamp, OutcomeName), to: &mut KeyWriter) {
        to.time(*time);
        Outcomes::write_key(name, to);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<(Timestamp, OutcomeName), Fault> {
        Ok((parts.time()?, Outcomes::read_key(parts)?))
    }

    fn show((time, name): &(Timestamp, OutcomeName)) -> String {
        format!("{} µs {}", time.0, Outcomes::show(name))
    }

    fn write(_: &(Timestamp, OutcomeName), _: &(), _: &mut Vec<u8>) {}

    fn read(_: &(Timestamp, OutcomeName), payload: &[u8]) -> Result<(), Fault> {
        message(payload)
    }
}
