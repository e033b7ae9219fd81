//! An engine that cannot read one pair: only the pairs after it in the same range are skipped.

use std::ops::Bound;

use super::{super::look, good::Good};
use crate::store::durable::{
    fjall::Fjall,
    key_value::{Batch, Durability, Key, KeyValue, KeyValueError, Pairs, Value},
    records::{
        self, ConversationName, Dues, GivenIds, Heads, Kind, Listed, OutcomeAges, Outcomes, Policies,
        Segments, Utterances,
    },
};

/// Pairs in which a range fails at the first key that begins with `at`.
struct Broken {
    pairs: Fjall,
    at: Key,
}

impl KeyValue for Broken {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        self.pairs.get(key)
    }

    fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Pairs<'_> {
        let mut ended = false;
        let pairs: Vec<_> = self.pairs.range(from, to).collect();
        Box::new(
            pairs
                .into_iter()
                .map_while(move |pair| match pair {
                    _ if ended => None,
                    Ok((key, _)) if key.starts_with(&self.at) => {
                        ended = true;
                        Some(Err(KeyValueError("a block is damaged".to_owned())))
                    }
                    pair => Some(pair),
                })
                .collect::<Vec<_>>()
                .into_iter(),
        )
    }

    fn apply(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError> {
        self.pairs.apply(batch, durability)
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        self.pairs.sync()
    }

    fn scrub(&self) -> Result<(), KeyValueError> {
        self.pairs.scrub()
    }

    fn disk_bytes(&self) -> Result<u64, KeyValueError> {
        self.pairs.disk_bytes()
    }
}

/// The first key of a kind.
fn first<K: Kind>(pairs: &Fjall) -> Key {
    let all = records::all_of::<K>();
    pairs.range(Bound::Included(&all.start), Bound::Unbounded).next().unwrap().unwrap().0
}

#[test]
fn what_an_engine_cannot_read_is_one_problem() {
    let files = Good::new().close();
    let mut pairs = Fjall::open(&files.path().join("fjall")).unwrap();
    let utterance = first::<Utterances>(&pairs);
    let seventh = [&utterance[..utterance.len() - 1], &[7]].concat();
    for (at, kind, utterances) in [
        (first::<ConversationName>(&pairs), "conversation", 20),
        (first::<Heads>(&pairs), "head", 20),
        (first::<Segments>(&pairs), "segment", 20),
        (utterance, "utterance", 1),
        (seventh, "utterance", 7),
        (first::<Listed>(&pairs), "list entry", 20),
        (first::<Outcomes>(&pairs), "outcome", 20),
        (first::<OutcomeAges>(&pairs), "age", 20),
        (first::<Dues>(&pairs), "due work", 20),
    ] {
        let broken = Broken { pairs, at };
        let report = look(&(&broken as &dyn KeyValue), &mut |_| {});
        let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
        let expected = format!("the records of the kind {kind:?}: not all can be read: a block is damaged");
        assert_eq!(problems, [expected]);
        assert_eq!(report.utterances, utterances, "what is left of the others is read");
        pairs = broken.pairs;
    }
}

/// A failure that recurs in each lineage is reported once, and no record is reported as missing because of
/// it.
#[test]
fn a_kind_that_an_engine_cannot_read_is_one_problem() {
    let files = Good::new().close();
    let mut pairs = Fjall::open(&files.path().join("fjall")).unwrap();
    for (number, kind) in [
        (Heads::NUMBER, "head"),
        (Policies::NUMBER, "policy"),
        (Segments::NUMBER, "segment"),
        (Utterances::NUMBER, "utterance"),
        (GivenIds::NUMBER, "given id"),
    ] {
        let broken = Broken { pairs, at: vec![number] };
        let report = look(&(&broken as &dyn KeyValue), &mut |_| {});
        let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [format!("the records of the kind {kind:?}: not all can be read: a block is damaged")]
        );
        pairs = broken.pairs;
    }
}
