//! Serialized blocks of an index.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use utterd::domain::recall::{Index, IndexBlock};

use crate::recall::support::{said, search};

fn long() -> Index {
    let texts: Vec<String> =
        (1..2_500).map(|n| format!("Order {n} of tea, said number {}?", n % 17)).collect();
    let mut index = Index::new();
    index.extend((1..).zip(&texts).map(|(sequence, text)| said(sequence, text)));
    index
}

#[test]
fn what_comes_from_bytes_finds_the_same() {
    let index = long();
    let mut read = Index::new();
    for (number, block) in index.whole_blocks() {
        let bytes = block.to_bytes().unwrap();
        assert!(read.push(Arc::new(IndexBlock::from_bytes(number, &bytes).unwrap())));
        assert!(IndexBlock::from_bytes(number + 1, &bytes).is_none(), "another block's");
    }
    assert_eq!(read.len(), 2_047);
    let mut same = index.clone();
    same.retain_blocks(|number| number < 2);
    for prompt in ["order 77", "number 5", "tea", "2024"] {
        assert_eq!(search(prompt, &[&read]), search(prompt, &[&same]));
    }
}

#[test]
fn an_open_block_has_no_bytes() {
    let index = long();
    assert_eq!(index.whole_blocks().map(|(number, _)| number).collect::<Vec<_>>(), [0, 1]);
    assert!(index.whole_blocks().all(|(_, block)| block.to_bytes().is_some()));
    assert!(IndexBlock::default().to_bytes().is_none());
}

proptest! {
    /// Damaged bytes are refused, or form a block that can be searched.
    #[test]
    fn damage_does_no_harm(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<Option<prop::sample::Index>>()) {
        static WHOLE: LazyLock<(u64, Vec<u8>)> = LazyLock::new(|| {
            let index = long();
            let (number, block) = index.whole_blocks().next().unwrap();
            (number, block.to_bytes().unwrap())
        });
        let (number, mut bytes) = WHOLE.clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Some(block) = IndexBlock::from_bytes(number, &bytes) {
            let mut index = Index::new();
            index.push(Arc::new(block));
            search("order 77 tea 15", &[&index]);
        }
    }
}
