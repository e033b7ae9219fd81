//! Key ranges of records that are read together.

use std::ops::{Range, RangeInclusive};

use super::{
    BlockName, Blocks, ConversationName, Dues, Kind, OutcomeAges, Place, Utterances, Waiting,
    key::{Key, KeyPart, KeyWriter, beginning, behind},
    keys::OfLineage,
    kind::key,
};
use crate::Derived;
use utterd_domain::{Block, ConversationKey, LineageId, Namespace, Sequence, Timestamp};

/// The keys of all records of a kind.
pub fn all_of<K: Kind>() -> Range<Key> {
    beginning(vec![K::NUMBER])
}

/// The keys of all records of a kind in a lineage.
pub fn of_lineage<K: Kind<Key: OfLineage>>(lineage: LineageId) -> Range<Key> {
    beginning(prefix::<K>(&lineage))
}

/// The keys of a list of conversations, by ascending time, then by ascending id.
pub fn of_list<O: KeyPart, K: Kind<Key = Place<O>>>(owner: &O) -> Range<Key> {
    beginning(prefix::<K>(owner))
}

/// The keys of a list of conversations at one time.
pub fn of_list_at<O: KeyPart, K: Kind<Key = Place<O>>>(owner: &O, time: Timestamp) -> Range<Key> {
    let mut key = KeyWriter::behind(prefix::<K>(owner));
    time.write(&mut key);
    beginning(key.done())
}

/// The keys of a list `all` that come after `last` when the list is read backwards; `last` need not exist.
pub fn descending(all: Range<Key>, last: Key) -> Range<Key> {
    all.start..last
}

/// The keys of a list `all` that come after `last` when the list is read forwards; `last` need not exist.
pub fn ascending(all: Range<Key>, last: Key) -> Range<Key> {
    // No key sorts between a key and the same key with a zero byte appended.
    [&*last, &[0]].concat()..all.end
}

/// The keys of a namespace's conversations whose ids begin with `beginning_of_id`.
pub fn names_from(namespace: &Namespace, beginning_of_id: &str) -> Range<Key> {
    let mut prefix = KeyWriter::of(ConversationName::NUMBER);
    namespace.write(&mut prefix);
    prefix.bytes(beginning_of_id.as_bytes());
    beginning(prefix.done())
}

/// The keys of the utterances of a lineage from one sequence to another.
pub fn utterances_among(lineage: LineageId, sequences: RangeInclusive<Sequence>) -> Range<Key> {
    let (first, last) = sequences.into_inner();
    key::<Utterances>(&(lineage, first))..behind(key::<Utterances>(&(lineage, last)))
}

/// The keys of the data of a kind that is derived from these blocks of a conversation.
pub fn blocks_among(lineage: LineageId, kind: Derived, blocks: &RangeInclusive<Block>) -> Range<Key> {
    let [first, last] = [blocks.start(), blocks.end()]
        .map(|block| key::<Blocks>(&(lineage, BlockName { kind, block: *block })));
    first..behind(last)
}

/// The keys of the work due at `now`, longest due first.
pub fn dues_up_to(now: Timestamp) -> Range<Key> {
    all_of::<Dues>().start..beginning(prefix::<Dues>(&now)).end
}

/// The keys of outcomes older than `oldest`, oldest first.
pub fn outcome_ages_before(oldest: Timestamp) -> Range<Key> {
    all_of::<OutcomeAges>().start..prefix::<OutcomeAges>(&oldest)
}

/// The keys of waiting conversations after `after`, longest waiting first; of all if it is `None`.
pub fn waiting_behind(after: Option<&(Timestamp, ConversationKey)>) -> Range<Key> {
    let all = all_of::<Waiting>();
    match after {
        Some(after) => ascending(all, key::<Waiting>(after)),
        None => all,
    }
}

/// The prefix of a kind's keys with this first part.
fn prefix<K: Kind>(part: &impl KeyPart) -> Key {
    let mut prefix = KeyWriter::of(K::NUMBER);
    part.write(&mut prefix);
    prefix.done()
}
