//! Where the records are that are read together.

use std::ops::{Range, RangeInclusive};

use super::{
    Dues, Kind, ListPlace, Listed, OutcomeAges, Utterances, Waiting,
    key::{KeyPart, KeyWriter, beginning, behind},
    keys::OfLineage,
    kind::key,
};
use crate::{
    domain::{ConversationKey, LineageId, Sequence, Timestamp},
    store::{RecipientKey, durable::key_value::Key},
};

/// The keys of all records of a kind.
pub fn all_of<K: Kind>() -> Range<Key> {
    beginning(vec![K::NUMBER])
}

/// The keys of all records of a kind that are of a lineage.
pub fn of_lineage<K: Kind<Key: OfLineage>>(lineage: LineageId) -> Range<Key> {
    beginning(prefix::<K>(&lineage))
}

/// The keys of a list of a recipient's conversations; backwards, they are by descending time, then by
/// descending id.
pub fn of_recipient<K: Kind<Key = ListPlace>>(recipient: &RecipientKey) -> Range<Key> {
    // The recipient's id is not the last part here.
    let mut prefix = KeyWriter::of(K::NUMBER);
    recipient.namespace.write(&mut prefix);
    recipient.id.write(&mut prefix);
    beginning(prefix.done())
}

/// The keys of a recipient's list that come behind `place` when the list is read backwards,
/// whether there is a conversation at that place or not.
pub fn listed_behind(place: &ListPlace) -> Range<Key> {
    of_recipient::<Listed>(&place.recipient).start..key::<Listed>(place)
}

/// The keys of the utterances of a lineage from one sequence to another.
pub fn utterances_among(lineage: LineageId, sequences: RangeInclusive<Sequence>) -> Range<Key> {
    let (first, last) = sequences.into_inner();
    key::<Utterances>(&(lineage, first))..behind(key::<Utterances>(&(lineage, last)))
}

/// The keys of what is due at `now`, the longest due first.
pub fn dues_up_to(now: Timestamp) -> Range<Key> {
    all_of::<Dues>().start..beginning(prefix::<Dues>(&now)).end
}

/// The keys of outcomes older than `oldest`, the oldest first.
pub fn outcome_ages_before(oldest: Timestamp) -> Range<Key> {
    all_of::<OutcomeAges>().start..prefix::<OutcomeAges>(&oldest)
}

/// The keys of all that waits behind `after`, the longest waiting first; of all when there is none.
pub fn waiting_behind(after: Option<&(Timestamp, ConversationKey)>) -> Range<Key> {
    let all = all_of::<Waiting>();
    match after {
        // No key is between one and the same with a zero byte behind it.
        Some(after) => [&*key::<Waiting>(after), &[0]].concat()..all.end,
        None => all,
    }
}

/// What the keys of a kind begin with whose first part is this one.
fn prefix<K: Kind>(part: &impl KeyPart) -> Key {
    let mut prefix = KeyWriter::of(K::NUMBER);
    part.write(&mut prefix);
    prefix.done()
}
