//! Every record is read back as it was written.

use std::{fmt::Debug, sync::Arc};

use proptest::{collection::vec, option, prelude::*};

use super::{given::*, *};
use crate::{Derived, Due, Outcome, Reference};
use utterd_domain::{
    Block, ConversationKey, Copied, ForkedFrom, Identity, LineageId, Origin, RecipientId, Role, Sequence,
    ShareId, Timestamp, UtteranceId,
    capacity::{Capacity, OverLimit},
    compaction::Advice,
    forget::erasure::InForks,
    share::{Share, ShareDigest},
    state::{StateContent, StateEntry, StateValue},
};

fn comes_back<K>(key: K::Key, value: impl Into<K::Value>)
where
    K: Kind<Key: Clone + Debug + PartialEq, Value: Clone + Debug + PartialEq>,
{
    let value = value.into();
    let (stored_key, stored) = pair::<K>(&key, &value);
    assert_eq!(stored_key, super::key::<K>(&key));
    assert_eq!(decode_key::<K>(&stored_key).as_ref(), Ok(&key));
    assert_eq!(decode::<K>(&stored_key, &stored), Ok((key, value)));
}

fn identity() -> impl Strategy<Value = Identity> {
    (conversation(), id(), lineage(), time(), encoding()).prop_map(
        |(key, recipient, lineage, start_time, encoding)| Identity {
            key,
            recipient: RecipientId::new(&recipient).unwrap(),
            lineage,
            start_time,
            encoding,
        },
    )
}

fn description() -> impl Strategy<Value = Description> {
    let shares = prop::collection::vec(share(), 0..4);
    let copies = prop::collection::vec(copied(), 0..4);
    let titles = [option::of(text(20)), option::of(text(20))];
    (titles, map(), shares, option::of(forked_from()), copies).prop_map(
        |([title, made_title], labels, shares, forked_from, copies)| Description {
            state: Arc::default(),
            title: title.map(Into::into),
            made_title: made_title.map(Into::into),
            labels: labels.into(),
            shares: shares.into(),
            forked_from: forked_from.map(Into::into),
            copies: copies.into(),
        },
    )
}

fn share() -> impl Strategy<Value = Share> {
    (any::<u128>(), any::<[u8; 32]>(), any::<[i64; 2]>(), any::<bool>()).prop_map(
        |(id, digest, times, include_archive)| Share {
            id: ShareId::assigned(id),
            digest: ShareDigest(digest),
            create_time: Timestamp(times[0]),
            expire_time: Timestamp(times[1]),
            include_archive,
        },
    )
}

fn copied() -> impl Strategy<Value = Copied> {
    (sequence(), sequence(), 0..9_u64, lineage(), any::<bool>()).prop_map(
        |(first, origin, more, lineage, edited)| {
            let first = Sequence(first.0.min(u64::MAX >> 2));
            let origin = Origin { lineage, sequence: Sequence(origin.0.min(u64::MAX >> 2)) };
            Copied { first, last: Sequence(first.0 + more), origin, edited }
        },
    )
}

fn forked_from() -> impl Strategy<Value = ForkedFrom> {
    (conversation_id(), sequence_or_0(), any::<bool>())
        .prop_map(|(conversation, sequence, approximate)| ForkedFrom { conversation, sequence, approximate })
}

fn capacity() -> impl Strategy<Value = Capacity> {
    let causes = [OverLimit::NewestUnit, OverLimit::OpenExchange, OverLimit::Instructions, OverLimit::Pinned];
    let causes = prop::sample::subsequence(causes.to_vec(), 0..=4);
    let advice = any::<(u32, u64)>().prop_map(|(threshold, utterances)| Advice { threshold, utterances });
    let parts = (any::<[u64; 9]>(), any::<[Option<u32>; 7]>(), causes, option::of(advice));
    parts.prop_map(|(counts, limits, over_limit, advice)| Capacity {
        utterances: counts[0],
        forgotten: counts[1],
        turns: counts[2],
        tokens: counts[3],
        max_utterances: limits[0],
        max_tokens: limits[1],
        max_turns: limits[2],
        keep_utterances: limits[4],
        keep_tokens: limits[5],
        keep_turns: limits[6],
        over_limit,
        archived: counts[4],
        summary_tokens: counts[5],
        summary_limit: limits[3],
        segments: counts[6],
        covered: counts[7],
        provisional: counts[8],
        advice,
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let sets = (ranges(), ranges(), ranges(), ranges(), ranges());
    let call = (any::<u128>(), time(), conversation_id(), revision(), any::<bool>());
    let rest = (
        option::of(sequence()),
        any::<u32>(),
        capacity(),
        option::of(conversation_id()),
        references(),
        option::of(in_forks()),
    );
    (call, sets, rest).prop_map(
        |(
            call,
            (memorized, evicted, forgotten, restored, still_told),
            (target, rebuilt_segments, capacity, ended, references, in_forks),
        )| {
            Outcome {
                body: call.0,
                time: call.1,
                conversation: call.2,
                revision: call.3,
                started: call.4,
                ended,
                memorized,
                evicted,
                forgotten,
                restored,
                target,
                still_told,
                rebuilt_segments,
                capacity,
                references,
                in_forks,
            }
        },
    )
}

fn in_forks() -> impl Strategy<Value = InForks> {
    any::<[u64; 2]>().prop_map(|[conversations, utterances]| InForks { conversations, utterances })
}

/// Ascending references, with given ids, and assigned ids of a few lineages.
fn references() -> impl Strategy<Value = Vec<Reference>> {
    let id = prop_oneof![
        "[a-z]{1,9}".prop_map(|id| UtteranceId::given(&id).unwrap()),
        (1u8..3).prop_map(|byte| UtteranceId::Assigned(LineageId([byte; 16]))),
    ];
    let role = (0..Role::ALL.len()).prop_map(|place| Role::ALL[place]);
    let one = (1u64..1_000, id, role, any::<u32>(), any::<u32>(), option::of(any::<u32>()), any::<bool>());
    vec(one, 0..6).prop_map(|ones| {
        let mut sequence = Sequence(0);
        let reference = |(step, id, role, turn, tokens, position, late)| {
            sequence.0 += step;
            Reference { sequence, id, role, turn, tokens, position, late }
        };
        ones.into_iter().map(reference).collect()
    })
}

proptest! {
    #[test]
    fn metas(number: u64) {
        comes_back::<Metas>(Meta::Group, number);
        comes_back::<Metas>(Meta::Unscrubbed, number);
        comes_back::<Metas>(Meta::Copying, number);
    }

    #[test]
    fn states(
        lineage in lineage(), name in id(), version in revision(), content in prop::collection::vec(any::<u8>(), 0..40),
        json in text(20), entries in prop::collection::vec((id(), revision(), any::<u32>()), 0..4),
    ) {
        let name: Box<str> = name.into();
        for content in [StateContent::Bytes(content.into()), StateContent::Json(json.into())] {
            let value = StateValue { name: name.clone(), version, content };
            comes_back::<StateValues>((lineage, StateName(name.clone())), value);
        }
        let entry = |(name, version, bytes): (String, _, _)| StateEntry { name: name.into(), version, bytes };
        let state = entries.into_iter().map(entry).collect();
        comes_back::<Descriptions>(lineage, Description { state, ..Description::default() });
    }

    #[test]
    fn conversations(identity in identity()) {
        comes_back::<ConversationName>(identity.key.clone(), identity);
    }

    #[test]
    fn heads(record in compacted_head()) {
        comes_back::<Heads>(record.head.branch, record);
    }

    #[test]
    fn a_head_is_put_together_again(record in compacted_head(), identity in identity(), description in description()) {
        let (lineage, identity) = (identity.lineage, Arc::new(identity));
        let whole = record.clone().complete(identity.clone(), description);
        let stored = pair::<Heads>(&lineage, &whole.clone().into());
        prop_assert_eq!(&stored, &pair::<Heads>(&lineage, &record.into()));
        let (_, read) = decode::<Heads>(&stored.0, &stored.1).unwrap();
        prop_assert_eq!(read.complete(identity, Description::of(&whole.head)), whole);
    }

    #[test]
    fn ended_lists(recipient in recipient(), time in time(), conversation in conversation_id()) {
        comes_back::<Ended>(ListPlace { owner: (recipient.namespace, recipient.id), time, conversation }, ());
    }

    #[test]
    fn descriptions(lineage in lineage(), description in description()) {
        comes_back::<Descriptions>(lineage, description);
    }

    #[test]
    fn segments(lineage in lineage(), segment in told_segment(), imported in imported_segment()) {
        comes_back::<Segments>((lineage, segment.number), segment);
        comes_back::<Segments>((lineage, imported.number), imported);
    }

    #[test]
    fn compactions(lineage in lineage(), compaction in compaction()) {
        comes_back::<Compactions>((lineage, compaction.number), compaction);
    }

    #[test]
    fn utterances((lineage, utterance) in utterance()) {
        comes_back::<Utterances>((lineage, utterance.sequence), utterance);
    }

    #[test]
    fn given_ids(lineage in lineage(), id in id(), sequence in sequence()) {
        comes_back::<GivenIds>((lineage, id.into()), sequence);
    }

    #[test]
    fn lists(identity in identity()) {
        let Identity { key, recipient, start_time, .. } = identity;
        comes_back::<Listed>(ListPlace { owner: (key.namespace, recipient), time: start_time, conversation: key.id }, ());
    }

    #[test]
    fn active_conversations(recipient in recipient(), conversation in conversation_id()) {
        comes_back::<Active>(recipient, conversation);
    }

    #[test]
    fn outcomes(name in outcome_name(), outcome in outcome()) {
        comes_back::<Outcomes>(name, outcome);
    }

    #[test]
    fn outcome_ages(time in time(), name in outcome_name()) {
        comes_back::<OutcomeAges>((time, name), ());
    }

    #[test]
    fn dues(time in time(), conversation in conversation()) {
        comes_back::<Dues>((time, Due::Expired(conversation)), ());
    }

    #[test]
    fn waiting(since in time(), conversation in conversation()) {
        comes_back::<Waiting>((since, conversation), ());
    }

    #[test]
    fn readers(trunk in lineage(), reader in lineage(), conversation in conversation(), through in sequence_or_0()) {
        comes_back::<Readers>((trunk, reader), LineageReader { conversation, through });
    }

    #[test]
    fn links(group: u64) {
        comes_back::<Links>(group, ());
    }

    #[test]
    fn blocks(lineage in lineage(), block: u64, embeds: bool, content: Vec<u8>) {
        let kind = if embeds { Derived::Embeddings } else { Derived::Index };
        comes_back::<Blocks>((lineage, BlockName { kind, block: Block(block) }), BlockBytes(content));
    }

    #[test]
    fn lists_by_time(conversation in conversation(), recipient in id(), time in time()) {
        let ConversationKey { namespace, id } = conversation;
        let place = NamespacePlace { owner: namespace.clone(), time, conversation: id.clone() };
        comes_back::<Started>(place.clone(), ());
        comes_back::<Updated>(place, ());
        let owner = (namespace, RecipientId::new(&recipient).unwrap());
        comes_back::<RecipientUpdated>(ListPlace { owner, time, conversation: id }, ());
    }
}

/// Texts around the limits of one-byte and two-byte lengths.
#[test]
fn texts_of_any_length_come_back() {
    for length in [0, 1, 127, 128, 129, 16_383, 16_384, 2_000_000] {
        let (lineage, mut utterance) = stable::utterance();
        utterance.content = "x".repeat(length).into();
        comes_back::<Utterances>((lineage, utterance.sequence), utterance.clone());
        let mut more = utterance.more.take().unwrap_or_default();
        more.extras_json = Some("y".repeat(length).into());
        utterance.more = Some(more);
        comes_back::<Utterances>((lineage, utterance.sequence), utterance);
    }
}

/// An empty description, and one that only seems empty.
#[test]
fn an_empty_title_is_a_title() {
    assert!(Description::default().is_empty());
    let titled = Description { title: Some("".into()), ..Description::default() };
    assert!(!titled.is_empty());
    comes_back::<Descriptions>(stable::LINEAGE, titled);
}
