//! The stored format of the embeddings of a block of utterances.
//!
//! | bytes | contents |
//! |---|---|
//! | 1 | the version, 1 |
//! | 2, then that many | the source of the embeddings: [`Embedder::name`](super::Embedder::name), UTF-8 |
//! | 2 | the number of values per embedding |
//! | per embedding: 2 | its sequence, counted from the first of the block |
//! | one per value | the values |
//!
//! Numbers are little-endian. Bytes that do not read like this are ignored, and the embeddings are made again.

use utterd_domain::{Block, Sequence, values::embedding::Embedding};

const VERSION: u8 = 1;

/// Returns the bytes of some embeddings of a block, all of one length; `None` if they do not fit the format.
pub(super) fn encode(name: &str, block: Block, embeddings: &[(Sequence, &Embedding)]) -> Option<Vec<u8>> {
    let first = block.sequences().start().get();
    let length = embeddings.first()?.1.values().len();
    let mut bytes = Vec::with_capacity(5 + name.len() + embeddings.len() * (2 + length));
    bytes.push(VERSION);
    bytes.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.extend(u16::try_from(length).ok()?.to_le_bytes());
    for (sequence, embedding) in embeddings.iter().filter(|(_, one)| one.values().len() == length) {
        bytes.extend(u16::try_from(sequence.get().checked_sub(first)?).ok()?.to_le_bytes());
        bytes.extend(embedding.values().iter().map(|value| value.to_le_bytes()[0]));
    }
    Some(bytes)
}

/// Returns the embeddings in `bytes`, ascending; `None` if they are not from the source `name`, or the bytes
/// are malformed.
pub(super) fn decode(name: &str, block: Block, bytes: &[u8]) -> Option<Vec<(Sequence, Embedding)>> {
    let (first, last) = block.sequences().into_inner();
    let (version, rest) = bytes.split_first()?;
    let (length, rest) = number(rest)?;
    let (of, rest) = rest.split_at_checked(length)?;
    let (length, rest) = number(rest)?;
    let entries = rest.chunks_exact(2 + length);
    if *version != VERSION || of != name.as_bytes() || length == 0 || !entries.remainder().is_empty() {
        return None;
    }
    let entry = |entry: &[u8]| {
        let (offset, values) = number(entry)?;
        let sequence = Sequence(first.get().checked_add(offset as u64)?);
        let values = values.iter().map(|value| i8::from_le_bytes([*value])).collect();
        (sequence <= last).then(|| (sequence, Embedding::from_values(values)))
    };
    entries.map(entry).collect()
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u16::from_le_bytes(*number).into(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    fn block() -> impl Strategy<Value = (Block, Vec<(Sequence, Embedding)>)> {
        let entries = |length| vec((0..1_023_u64, vec(any::<i8>(), length)), 1..20);
        (0..1_000_u64, (1..40_usize).prop_flat_map(entries)).prop_map(|(number, entries)| {
            let first = Block(number).sequences().start().get();
            let entry =
                |(at, values): (u64, Vec<i8>)| (Sequence(first + at), Embedding::from_values(values.into()));
            (Block(number), entries.into_iter().map(entry).collect())
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read((block, embeddings) in block(), name in "\\PC{0,20}") {
            let references: Vec<_> = embeddings.iter().map(|(of, one)| (*of, one)).collect();
            let bytes = encode(&name, block, &references).unwrap();
            prop_assert_eq!(decode(&name, block, &bytes), Some(embeddings));
            prop_assert_eq!(decode(&format!("{name}x"), block, &bytes), None);
            prop_assert_eq!(decode(&name, block, &bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn other_bytes_are_nothing_that_panics(bytes in vec(any::<u8>(), 0..200), number in any::<u64>()) {
            decode("", Block(number), &bytes);
        }
    }

    #[test]
    fn the_bytes_are_these() {
        let embedding = Embedding::from_values(Box::new([127, -1]));
        let bytes = encode("ab", Block(1), &[(Sequence(1_026), &embedding)]).unwrap();
        assert_eq!(bytes, [1, 2, 0, b'a', b'b', 2, 0, 2, 0, 127, 255]);
        assert_eq!(encode("ab", Block(1), &[]), None);
    }
}
