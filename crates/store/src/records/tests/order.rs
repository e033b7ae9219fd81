//! Keys sort like their parts, and ranges contain the right keys.

use std::cmp::Reverse;

use proptest::{collection::vec, prelude::*};

use super::{given::*, *};
use crate::{Derived, Due, RecipientKey};
use utterd_domain::{
    Block, ConversationId, ConversationKey, Namespace, RecipientId, RequestId, Sequence, Timestamp,
};

/// Few values, so that equal ones occur.
fn few_times() -> impl Strategy<Value = Timestamp> {
    prop_oneof![-2..3i64, Just(i64::MIN), Just(i64::MAX)].prop_map(Timestamp)
}

fn few_recipients() -> impl Strategy<Value = crate::RecipientKey> {
    prop_oneof![recipient(), Just(stable::recipient())]
}

/// Two names that would run together without a separator. They consist of few characters, some of which equal
/// length bytes.
fn names_alike() -> impl Strategy<Value = [String; 2]> {
    let name = || prop_oneof!["[a/:! ]{1,3}", "[a!]{32,34}"];
    [name(), name()]
}

fn named([namespace, id]: &[String; 2]) -> ConversationKey {
    let id = ConversationId::new(id).unwrap();
    ConversationKey { namespace: Namespace::new(namespace).unwrap(), id }
}

fn outcome(names: &[String; 2]) -> OutcomeName {
    let request = RequestId::new(&names[1]).unwrap();
    OutcomeName { namespace: named(names).namespace, rpc: "Memorize".into(), request }
}

fn recipient_of(names: &[String; 2]) -> RecipientKey {
    RecipientKey { namespace: named(names).namespace, id: RecipientId::new(&names[1]).unwrap() }
}

fn owner(recipient: &RecipientKey) -> (Namespace, RecipientId) {
    (recipient.namespace.clone(), recipient.id.clone())
}

fn place(names: &[String; 2], time: Timestamp) -> ListPlace {
    ListPlace { owner: owner(&recipient_of(names)), time, conversation: named(names).id }
}

proptest! {
    #[test]
    fn utterances_are_by_sequence(a in lineage(), b in lineage(), one in sequence(), other in sequence()) {
        let key = |lineage, sequence| key::<Utterances>(&(lineage, sequence));
        prop_assert_eq!(key(a, one).cmp(&key(b, other)), (a, one).cmp(&(b, other)));
        prop_assert_eq!(key(a, one).cmp(&key(a, other)), one.cmp(&other));
        prop_assert!(of_lineage::<Utterances>(a).contains(&key(a, one)));
        prop_assert_eq!(of_lineage::<Utterances>(a).contains(&key(b, one)), a == b);
        let (first, last) = (one.min(other), one.max(other));
        let among = utterances_among(a, first..=last);
        for sequence in [first, last, Sequence(first.0 - 1), last.next()] {
            let inside = (first..=last).contains(&sequence);
            prop_assert_eq!(among.contains(&key(a, sequence)), inside);
        }
    }

    #[test]
    fn lineages_keep_apart(a in lineage(), b in lineage(), number in 1..=u32::MAX, id in id()) {
        let (segments, compactions) = (of_lineage::<Segments>(a), of_lineage::<Compactions>(a));
        let ids = of_lineage::<GivenIds>(a);
        prop_assert!(segments.contains(&key::<Segments>(&(a, number))));
        prop_assert_eq!(segments.contains(&key::<Segments>(&(b, number))), a == b);
        prop_assert!(compactions.contains(&key::<Compactions>(&(a, number))));
        prop_assert_eq!(compactions.contains(&key::<Compactions>(&(b, number))), a == b);
        prop_assert!(ids.contains(&key::<GivenIds>(&(a, id.as_str().into()))));
        prop_assert_eq!(ids.contains(&key::<GivenIds>(&(b, id.into()))), a == b);
    }

    #[test]
    fn blocks_are_by_number(lineage in lineage(), [one, other] in any::<[u64; 2]>()) {
        let key = |block| key::<Blocks>(&(lineage, BlockName { kind: Derived::Index, block: Block(block) }));
        prop_assert_eq!(key(one).cmp(&key(other)), one.cmp(&other));
        prop_assert!(of_lineage::<Blocks>(lineage).contains(&key(one)));
    }

    #[test]
    fn readers_are_by_what_they_read(a in lineage(), b in lineage(), reader in lineage()) {
        prop_assert!(of_lineage::<Readers>(a).contains(&key::<Readers>(&(a, reader))));
        prop_assert_eq!(of_lineage::<Readers>(a).contains(&key::<Readers>(&(b, reader))), a == b);
    }

    #[test]
    fn a_list_is_by_descending_start_then_id(
        recipients in [few_recipients(), few_recipients()],
        entries in vec((few_times(), conversation_id(), 0..2usize), 0..8),
    ) {
        let entry = |(time, conversation, whose): &(Timestamp, _, usize)| ListPlace {
            owner: owner(&recipients[*whose]), time: *time, conversation: Clone::clone(conversation),
        };
        let mut entries: Vec<ListPlace> = entries.iter().map(entry).collect();
        let mut keys: Vec<Key> = entries.iter().map(key::<Listed>).collect();
        keys.sort();
        let of = |wanted: &ListPlace| wanted.owner == owner(&recipients[0]);
        let listed: Vec<ListPlace> = keys.iter().rev().filter(|key| of_list::<_, Listed>(&owner(&recipients[0])).contains(*key))
            .map(|key| decode_key::<Listed>(key).unwrap()).collect();
        entries.retain(of);
        entries.sort_by_key(|entry| Reverse((entry.time, entry.conversation.clone())));
        prop_assert_eq!(&listed, &entries);
        for (place, last) in listed.iter().enumerate() {
            let at = super::key::<Listed>(last);
            let behind = keys.iter().rev().filter(|key| descending(of_list::<_, Listed>(&last.owner), at.clone()).contains(*key)).count();
            prop_assert_eq!(behind, listed[place..].iter().filter(|entry| *entry != last).count());
        }
    }

    #[test]
    fn a_namespaces_list_is_by_time_then_id(
        namespaces in [names_alike(), names_alike()],
        entries in vec((few_times(), conversation_id(), 0..2usize), 0..8),
        last in (few_times(), conversation_id()),
    ) {
        let namespaces = namespaces.map(|names| named(&names).namespace);
        let entry = |(time, id, whose): &(Timestamp, _, usize)| NamespacePlace {
            owner: namespaces[*whose].clone(), time: *time, conversation: Clone::clone(id),
        };
        let mut entries: Vec<NamespacePlace> = entries.iter().map(entry).collect();
        let mut keys: Vec<Key> = entries.iter().map(key::<Updated>).collect();
        keys.sort();
        let all = || of_list::<_, Updated>(&namespaces[0]);
        let listed: Vec<NamespacePlace> = keys.iter().filter(|key| all().contains(*key))
            .map(|key| decode_key::<Updated>(key).unwrap()).collect();
        entries.retain(|entry| entry.owner == namespaces[0]);
        entries.sort_by_key(|entry| (entry.time, entry.conversation.clone()));
        prop_assert_eq!(&listed, &entries);
        let (time, id) = &last;
        let at = key::<Updated>(&entry(&(*time, id.clone(), 0)));
        let place = |entry: &NamespacePlace| (entry.time, entry.conversation.clone());
        let behind = keys.iter().filter(|key| ascending(all(), at.clone()).contains(*key)).count();
        prop_assert_eq!(behind, listed.iter().filter(|entry| place(entry) > last).count());
        let before = keys.iter().filter(|key| descending(all(), at.clone()).contains(*key)).count();
        prop_assert_eq!(before, listed.iter().filter(|entry| place(entry) < last).count());
        let of_time = of_list_at::<_, Updated>(&namespaces[0], *time);
        let together = keys.iter().filter(|key| of_time.contains(*key)).count();
        prop_assert_eq!(together, listed.iter().filter(|entry| entry.time == *time).count());
    }

    #[test]
    fn names_are_by_how_they_begin(one in names_alike(), other in names_alike(), beginning in "[a!]{1,3}") {
        let (mine, others) = (named(&one), named(&other));
        let names = names_from(&mine.namespace, &beginning);
        let begins = others.namespace == mine.namespace && others.id.as_str().starts_with(&beginning);
        prop_assert_eq!(names.contains(&key::<ConversationName>(&others)), begins);
    }

    #[test]
    fn outcomes_are_by_age(time in few_times(), oldest in few_times(), name in outcome_name()) {
        let age = key::<OutcomeAges>(&(time, name));
        prop_assert_eq!(outcome_ages_before(oldest).contains(&age), time < oldest);
    }

    #[test]
    fn work_is_by_when_it_is_due(time in few_times(), now in few_times(), conversation in conversation()) {
        let due = key::<Dues>(&(time, Due::Expired(conversation)));
        prop_assert_eq!(dues_up_to(now).contains(&due), time <= now);
    }

    #[test]
    fn what_waits_is_by_time_then_id(
        entries in prop::collection::btree_set((few_times(), conversation_id()), 0..8), last in (few_times(), conversation_id()),
    ) {
        let entry = |(since, id): &(Timestamp, _)| (*since, ConversationKey { id: Clone::clone(id), ..stable::identity().key });
        let mut keys: Vec<Key> = entries.iter().map(|one| key::<Waiting>(&entry(one))).collect();
        keys.sort();
        let all: Vec<_> = keys.iter().map(|key| decode_key::<Waiting>(key).unwrap()).collect();
        prop_assert_eq!(&all, &entries.iter().map(entry).collect::<Vec<_>>());
        prop_assert!(keys.iter().all(|key| waiting_behind(None).contains(key)));
        for last in entries.iter().chain([&last]) {
            let behind = waiting_behind(Some(&entry(last)));
            let listed = keys.iter().filter(|key| behind.contains(*key)).count();
            prop_assert_eq!(listed, entries.iter().filter(|one| *one > last).count());
        }
    }

    /// Keys differ, no matter what the names contain, and where one name ends and the next begins.
    #[test]
    fn names_keep_apart(one in names_alike(), other in names_alike(), time in few_times()) {
        let same = one == other;
        prop_assert_eq!(key::<ConversationName>(&named(&one)) == key::<ConversationName>(&named(&other)), same);
        let waiting = |names| key::<Waiting>(&(time, named(names)));
        prop_assert_eq!(waiting(&one) == waiting(&other), same);
        let due = |names| key::<Dues>(&(time, Due::Expired(named(names))));
        prop_assert_eq!(due(&one) == due(&other), same);
        prop_assert_eq!(key::<Outcomes>(&outcome(&one)) == key::<Outcomes>(&outcome(&other)), same);
        let (mine, others) = (recipient_of(&one), recipient_of(&other));
        prop_assert_eq!(key::<Active>(&mine) == key::<Active>(&others), mine == others);
        prop_assert_eq!(of_list::<_, Listed>(&owner(&mine)).contains(&key::<Listed>(&place(&other, time))), mine == others);
        prop_assert_eq!(of_list::<_, Ended>(&owner(&mine)).contains(&key::<Ended>(&place(&other, time))), mine == others);
    }

    #[test]
    fn times_are_in_order(one in time(), other in time(), conversation in conversation()) {
        let key = |time| key::<Dues>(&(time, Due::Expired(conversation.clone())));
        prop_assert_eq!(key(one).cmp(&key(other)), one.cmp(&other));
    }
}
