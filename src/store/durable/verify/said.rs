//! The ids that clients gave, and the utterances of forks.

use std::{cell::Cell, collections::BTreeMap, ops::Bound};

use crate::{
    domain::{Head, LineageId, Sequence, Utterance},
    store::durable::{
        key_value::{Key, KeyValueError, Ordered, Value},
        lineages::Lineages,
        records::{self, GivenIds, Utterances},
    },
};

/// The ids that clients gave in a lineage, with the sequences that they lead to, without those of checked
/// utterances.
pub(super) struct Ids(BTreeMap<Box<str>, Sequence>);

impl Ids {
    pub(super) fn take(lineages: &mut Lineages<'_>, lineage: LineageId) -> Self {
        let mut ids = BTreeMap::new();
        while let Some(((_, id), sequence, _)) = lineages.take::<GivenIds>(lineage) {
            ids.extend(sequence.map(|sequence| (id, sequence)));
        }
        Self(ids)
    }

    /// Returns the problem with the id of an utterance, if there is one.
    pub(super) fn ask_for(&mut self, utterance: &Utterance) -> Option<String> {
        let (id, sequence) = (utterance.given_id()?, utterance.sequence);
        match self.0.remove(id) {
            Some(led_to) if led_to == sequence => None,
            Some(led_to) => {
                Some(format!("the id {id:?} leads to utterance {led_to}, but utterance {sequence} has it"))
            }
            None => Some(format!("the id {id:?} does not lead to utterance {sequence}, which has it")),
        }
    }

    /// Returns the problems with the remaining ids, which no utterance has.
    pub(super) fn rest(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|(id, sequence)| {
            format!("the id {id:?} leads to utterance {sequence}, which does not have it")
        })
    }
}

/// Passes the utterances of a conversation that was forked or is a fork to `each`, ascending, each in its
/// latest version. Returns whether none was skipped. Unreadable ones are reported where their lineage is
/// checked.
pub(super) fn each_of_forked(
    head: &Head,
    pairs: &dyn Ordered,
    mut each: impl FnMut(Sequence, Option<&Utterance>),
) -> bool {
    let (kept, is_broken) = (head.kept(), Cell::new(false));
    let read = |pair: Result<(Key, Value), KeyValueError>| {
        let (key, value) = pair.inspect_err(|_| is_broken.set(true)).ok()?;
        let (_, sequence) = records::decode_key::<Utterances>(&key).ok()?;
        let utterance = records::decode::<Utterances>(&key, &value).ok();
        Some((sequence, utterance.map(|(_, utterance)| utterance)))
    };
    let utterances = |(lineage, through)| {
        let keys = records::utterances_among(lineage, Sequence(0)..=through);
        let pairs = pairs.ascending(Bound::Included(&keys.start), Bound::Excluded(&keys.end));
        pairs.filter_map(read).peekable()
    };
    let mut lineages: Vec<_> = head.lineages().map(utterances).collect();
    while let Some(next) = lineages.iter_mut().filter_map(|it| Some(it.peek()?.0)).min() {
        let versions = lineages.iter_mut().filter_map(|it| it.next_if(|(sequence, _)| *sequence == next));
        let versions: Vec<_> = versions.collect();
        if kept.contains(next) {
            each(next, versions.first().and_then(|(_, utterance)| utterance.as_ref()));
        }
    }
    !is_broken.get()
}
