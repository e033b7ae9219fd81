use std::{
    collections::{BTreeMap, HashMap},
    ops::RangeInclusive,
};

use proptest::prelude::*;

use super::{archive::Archive, *};
use crate::conformance::{
    self,
    forks::random_family,
    support::{family::Family, script::Script, values::users},
};
use utterd_domain::{LineageId, Policy, Role, UtteranceId};

/// The approximate bytes that a family of conversations takes, with shared utterances counted once.
fn bytes(family: &Family) -> u64 {
    let heads = family.members.values().map(|member| member.state.head.memory_bytes()).sum::<usize>();
    let states = family.members.values().map(|member| &member.state);
    let told = states.clone().map(|state| state.summary.memory_bytes()).sum::<usize>();
    let compactions = states.flat_map(|state| state.compactions.iter());
    let compactions = compactions.map(|compaction| compaction.memory_bytes()).sum::<usize>();
    let stored = family.members.values().flat_map(Script::stored);
    let distinct: HashMap<_, _> = stored.map(|utterance| (Arc::as_ptr(utterance), utterance)).collect();
    let said = distinct.values().map(|utterance| utterance.memory_bytes()).sum::<usize>();
    (heads + told + compactions + said) as u64
}

/// After any operations on a family, each utterance that a member has is charged for once.
#[test]
fn what_forks_share_is_charged_for_once() {
    for seed in 1..=20 {
        let memory = Arc::new(MemoryStore::new(0));
        conformance::run(async { (MemoryStore::new(0), ()) }, async |_| {
            let store: Arc<dyn Store> = memory.clone();
            let mut family = random_family(&store, seed, 60).await;
            assert_eq!(memory.used_bytes(), bytes(&family), "seed {seed}");
            family.delete_all().await;
            assert_eq!(memory.used_bytes(), 0);
        });
    }
}

/// A fork takes the bytes of a head, no matter how long its history in the window or the archive is.
#[test]
fn a_fork_takes_the_same_room_at_any_length() {
    let taken = |policy: Policy, count: usize| {
        let memory = Arc::new(MemoryStore::new(0));
        let mut taken = 0;
        conformance::run(async { (MemoryStore::new(0), ()) }, async |_| {
            let store: Arc<dyn Store> = memory.clone();
            let mut family = Family::of(&store, "parent", policy);
            family.member("parent").say(users(count)).await;
            let before = memory.used_bytes();
            family.fork("parent", "fork").await;
            taken = memory.used_bytes() - before;
        });
        taken
    };
    let untitled = Policy { summarization_enabled: false, ..Policy::ROLLING };
    for policy in [Policy::SESSION, untitled] {
        assert_eq!(taken(policy.clone(), 30), taken(policy, 2_000));
    }
}

/// Folded segments, and the text of a model, are charged for. Segments that an undo restores are charged for
/// once.
#[test]
fn what_compactions_keep_is_charged_for() {
    let memory = Arc::new(MemoryStore::new(0));
    conformance::run(async { (MemoryStore::new(0), ()) }, async |_| {
        let store: Arc<dyn Store> = memory.clone();
        let policy = Policy { summary_token_limit: Some(90), llm_summaries: Some(true), ..Policy::SESSION };
        let mut family = Family::of(&store, "it", policy);
        for _ in 0..3 {
            family.member("it").say(users(40)).await;
            family.member("it").compact(15).await;
            let waiting = family.member("it").awaiting();
            assert_eq!(memory.used_bytes(), bytes(&family), "it waits");
            family.member("it").replace_by_llm(waiting[0], "- the codes of the rooms").await;
            assert_eq!(memory.used_bytes(), bytes(&family), "it is told");
        }
        let before = memory.used_bytes();
        family.member("it").undo().await;
        assert_eq!(memory.used_bytes(), bytes(&family));
        assert!(memory.used_bytes() < before, "what it folded is kept once");
        family.delete_all().await;
        assert_eq!(memory.used_bytes(), 0);
    });
}

fn utterance(sequence: u64, id: Option<&str>) -> Arc<Utterance> {
    Arc::new(Utterance {
        sequence: Sequence(sequence),
        unit: Sequence(sequence),
        create_time: Timestamp(0),
        turn: 0,
        tokens: 0,
        id: id.map_or(UtteranceId::Assigned(LineageId([0; 16])), |id| UtteranceId::Given(id.into())),
        role: Role::User,
        forgotten: false,
        pinned: false,
        instruction: false,
        aside: false,
        content: "".into(),
        more: None,
    })
}

fn range(first: u64, length: u64) -> RangeInclusive<Sequence> {
    Sequence(first)..=Sequence(first + length)
}

proptest! {
    #[test]
    fn an_archive_behaves_like_a_map(steps in prop::collection::vec((0..7u8, 1..300u64, 0..90u64, 0..3usize), 0..120)) {
        let mut archives = vec![(Archive::default(), BTreeMap::<Sequence, Arc<Utterance>>::new())];
        for (step, first, length, which) in steps {
            let which = which % archives.len();
            let count = archives.len();
            let (archive, naive) = &mut archives[which];
            let ranges = Ranges::of(Sequence(first), Sequence(first + length));
            match step {
                0..=2 => for sequence in first..=first + length {
                    let id = (sequence % 3 == 0).then(|| format!("id {sequence}"));
                    let utterance = utterance(sequence, id.as_deref());
                    archive.keep(&utterance);
                    naive.insert(Sequence(sequence), utterance);
                },
                3 | 4 => {
                    archive.remove(&ranges);
                    naive.retain(|sequence, _| !ranges.contains(*sequence));
                }
                5 if count < 3 => { let copy = archives[which].clone(); archives.push(copy); }
                _ => {
                    let part = archive.part(&ranges);
                    let kept = naive.iter().filter(|(sequence, _)| ranges.contains(**sequence));
                    let kept = kept.map(|(sequence, utterance)| (*sequence, utterance.clone())).collect();
                    archives[which] = (part, kept);
                }
            }
            for (archive, naive) in &archives {
                let all: Vec<_> = archive.among(range(1, 500)).cloned().collect();
                prop_assert_eq!(&all, &naive.values().cloned().collect::<Vec<_>>());
                let some: Vec<_> = archive.among(range(first, length)).cloned().collect();
                prop_assert_eq!(some, naive.range(range(first, length)).map(|(_, u)| u.clone()).collect::<Vec<_>>());
                for sequence in (first..first + 20).map(Sequence) {
                    prop_assert_eq!(archive.get(sequence), naive.get(&sequence));
                    let named = naive.get(&sequence).filter(|u| u.given_id().is_some()).map(|u| u.sequence);
                    prop_assert_eq!(archive.given(&format!("id {sequence}")), named);
                }
            }
        }
    }
}
