//! The stored form of derived data.

use proptest::prelude::*;

use super::{
    given,
    stable::{LINEAGE, bytes, hex},
    *,
};
use crate::{
    domain::{Block, Ranges, Revision, Sequence},
    store::Derived,
};

/// A record of each kind, as its version 1 wrote it: number, key, value. Lines are never changed.
const WRITTEN: [(u8, &str, &str); 3] = [
    (20, "140102030405060708090a0b0c0d0e0f10010000000000000007", "010a08616e20696e64657863e2bc91"),
    (20, "140102030405060708090a0b0c0d0e0f10020000000000000000", "010a086120766563746f72c1533795"),
    (21, "150102030405060708090a0b0c0d0e0f10", "0108ac02120701fe0f8128ff071a0301fe07308c8f75"),
];

pub fn examples() -> Vec<Record> {
    let name = |kind, block| BlockName { kind, block: Block(block) };
    let mut index = Ranges::of(Sequence(1), Sequence(2_047));
    index.union(&Block(7).ranges());
    let list = BlockList { erased_at: Revision(300), index, embeddings: Block(0).ranges() };
    vec![
        Record::Blocks((LINEAGE, name(Derived::Index, 7)), BlockBytes(b"an index".to_vec())),
        Record::Blocks((LINEAGE, name(Derived::Embeddings, 0)), BlockBytes(b"a vector".to_vec())),
        Record::BlockLists(LINEAGE, list),
    ]
}

#[test]
fn what_is_derived_is_stable() {
    for (record, (number, key, value)) in examples().into_iter().zip(WRITTEN) {
        let (stored_key, stored) = record.written();
        assert_eq!((hex(&stored_key), hex(&stored)), (key.to_owned(), value.to_owned()), "{record:?}");
        assert_eq!((stored_key[0], stored[0]), (number, 1), "{record:?}");
        assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
    }
    assert_eq!(examples().len(), WRITTEN.len());
}

fn comes_back(record: &Record) {
    let (key, value) = record.written();
    assert_eq!(Record::read(&key, &value).as_ref(), Ok(record));
}

proptest! {
    #[test]
    fn blocks_come_back_and_are_by_number(
        lineage in given::lineage(),
        [one, other] in any::<[u64; 2]>(),
        embeds: bool,
        content: Vec<u8>,
    ) {
        let kind = if embeds { Derived::Embeddings } else { Derived::Index };
        let key = |block| key::<Blocks>(&(lineage, BlockName { kind, block: Block(block) }));
        prop_assert_eq!(key(one).cmp(&key(other)), one.cmp(&other));
        prop_assert!(of_lineage::<Blocks>(lineage).contains(&key(one)));
        comes_back(&Record::Blocks((lineage, BlockName { kind, block: Block(one) }), BlockBytes(content)));
    }

    #[test]
    fn lists_come_back(
        lineage in given::lineage(),
        erased_at in given::revision(),
        [index, embeddings] in [given::ranges(), given::ranges()],
    ) {
        comes_back(&Record::BlockLists(lineage, BlockList { erased_at, index, embeddings }));
    }
}
