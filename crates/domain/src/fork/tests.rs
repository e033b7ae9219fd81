//! Forks of random conversations, next to a record of what was said in them.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::{
    Draft, Marks, Policy, Refusal, Role, Sequence, Utterance, UtteranceId,
    test_life::{Life, calls, name, result, said},
    update::UpdateUtterance,
};

impl Life {
    /// Forks it; this continues as the parent.
    fn fork(&mut self, at: Option<u64>, number: u8) -> Result<Self, Refusal> {
        let command = command(at, number);
        let forked = self.decide(|before, context| fork(before, &command, context))?;
        Ok(self.parted(forked))
    }

    fn parted(&mut self, Forked { parent, fork }: Forked) -> Self {
        let kept = fork.after.head.kept();
        let mut stored = self.stored.clone();
        stored.retain(|sequence, _| kept.contains(*sequence));
        let mut child = Self { state: fork.after.clone(), stored, looked_at: Cell::new(0), ..self.clone() };
        child.apply(fork);
        self.apply(parent);
        child
    }
}

fn command(at: Option<u64>, number: u8) -> Fork {
    Fork {
        start: None,
        key: name(&format!("fork {number}")),
        recipient: None,
        lineage: LineageId([number; 16]),
        branch: LineageId([number + 100; 16]),
        at: at.map(Sequence),
        title: None,
        expected: None,
    }
}

fn small(utterances: Option<u32>, archive_limit: u32) -> Policy {
    let utterances = utterances.map(Marks::of);
    Policy { utterances, archive_limit, summary_token_limit: Some(300), ..Policy::ROLLING }
}

#[derive(Clone, Debug)]
enum Step {
    Say(Role, bool),
    Call(usize),
    Answer,
    Forget(u64, bool),
    Restore(u64),
    Pin(u64, bool),
    Edit(u64),
    Fork,
}

fn step() -> impl Strategy<Value = Step> {
    let role = prop::sample::select(vec![Role::User, Role::User, Role::Assistant, Role::System]);
    prop_oneof![
        12 => (role, prop::bool::weighted(0.1)).prop_map(|(role, pinned)| Step::Say(role, pinned)),
        4 => (1..4usize).prop_map(Step::Call),
        7 => Just(Step::Answer),
        1 => (1..40u64, any::<bool>()).prop_map(|(sequence, hard)| Step::Forget(sequence, hard)),
        1 => (1..40u64).prop_map(Step::Restore),
        1 => (1..40u64, any::<bool>()).prop_map(|(sequence, pinned)| Step::Pin(sequence, pinned)),
        1 => (1..40u64).prop_map(Step::Edit),
        1 => Just(Step::Fork),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    let utterances = prop::option::of(1..12u32);
    let archive = prop_oneof![Just(0u32), 3..12u32, Just(1_000)];
    let tokens = prop::option::weighted(0.3, 50..400u32);
    let turns = prop::option::weighted(0.3, 1..6u32);
    (utterances, archive, tokens, turns).prop_map(|(utterances, archive, tokens, turns)| Policy {
        tokens: tokens.map(Marks::of),
        turns: turns.map(Marks::of),
        ..small(utterances, archive)
    })
}

/// Performs `step`, and returns the fork that it made, if any.
fn take(life: &mut Life, step: &Step, number: u8) -> Option<Life> {
    let n = life.state.head.next;
    match step {
        Step::Say(role, pinned) => {
            let text = format!("It costs {n} euros and the file is /srv/report-{n}.txt.");
            life.say(vec![Draft { pinned: *pinned, ..said(*role, &text) }]);
        }
        Step::Call(count) => life.say(vec![calls(&["a", "b", "c"][..*count])]),
        Step::Answer => {
            let late = || life.state.head.abandoned.iter().find(|call| call.answer.is_none());
            let open = life.state.head.open.as_ref().map(|open| open.calls[0].clone());
            let open = open.or_else(|| late().map(|call| call.id.clone()));
            life.say(vec![result(open.as_deref().unwrap_or("none"))]);
        }
        Step::Forget(sequence, hard) => life.forget(*sequence, *hard),
        Step::Restore(sequence) => life.restore(*sequence),
        Step::Pin(sequence, pinned) => life.update(*sequence, Some(*pinned), None),
        Step::Edit(sequence) => life.update(*sequence, None, Some(&format!("Rather {n} dollars."))),
        Step::Fork => return life.fork(None, number).ok(),
    }
    None
}

fn lived(policy: Policy, steps: &[Step]) -> Life {
    let mut life = Life::new(policy);
    for (step, number) in steps.iter().zip((10..90).cycle()) {
        take(&mut life, step, number);
    }
    life
}

proptest! {
    /// At any point that does not cut an exchange, a fork has its parent's utterances up to that point, and
    /// the same exchange is open as in its parent at that time.
    #[test]
    fn says_what_its_parent_says(policy in policy(), steps in prop::collection::vec(step(), 1..60), at in 1..80u64) {
        let mut life = lived(policy, &steps);
        let newest = life.state.head.newest().get();
        prop_assume!(newest > 0);
        let at = 1 + at % newest;
        let before = life.clone();
        let units: Vec<_> = life.stored.values().map(|u| (u.unit.get(), u.sequence.get())).collect();
        let cut = units.iter().find(|(unit, sequence)| *unit <= at && *sequence > at);
        match (life.fork(Some(at), 99), cut) {
            (Err(Refusal::CutsExchange { first, last, .. }), Some((unit, _))) => {
                let last_of = units.iter().filter(|(own, _)| own == unit).map(|(_, sequence)| *sequence).max();
                prop_assert_eq!((first.get(), Some(last.get())), (*unit, last_of));
                prop_assert!(life.clone().fork(Some(last.get()), 99).is_ok());
                prop_assert!(first.get() == 1 || life.fork(Some(first.get() - 1), 99).is_ok());
            }
            (Ok(fork), None) => {
                let expected: Vec<_> = before.said().into_iter().filter(|u| u.sequence.get() <= at).collect();
                prop_assert_eq!(fork.said(), expected);
                fork.is_sound();
                prop_assert_eq!(fork.state.head.next, Sequence(at + 1));
                let covered = before.state.summary.covers().intersection(&fork.state.head.left);
                prop_assert_eq!(fork.state.summary.covers(), covered);
                prop_assert_eq!(life.said(), before.said());
                prop_assert_eq!(&life.state.window, &before.state.window);
                prop_assert_eq!(&life.state.summary, &before.state.summary);
                life.is_sound();
            }
            (outcome, cut) => prop_assert!(false, "{:?} for a cut at {cut:?}", outcome.err()),
        }
    }

    /// A fork made later at an earlier point continues as the parent continued from there.
    #[test]
    fn goes_on_as_its_parent_did(steps in prop::collection::vec(step(), 1..40), rest in prop::collection::vec(step(), 1..10)) {
        let speaks = |step: &Step| matches!(step, Step::Say(_, false) | Step::Call(_) | Step::Answer);
        let steps: Vec<_> = steps.into_iter().filter(speaks).collect();
        let rest: Vec<_> = rest.into_iter().filter(speaks).collect();
        let then = lived(small(Some(5), 1_000), &steps);
        prop_assume!(!then.stored.is_empty());
        let mut life = then.clone();
        rest.iter().for_each(|step| { take(&mut life, step, 0); });
        if let Ok(fork) = life.fork(Some(then.state.head.newest().get()), 99) {
            let (head, was) = (&fork.state.head, &then.state.head);
            let middle = |head: &Head| (head.next, head.turn, head.open.clone(), head.abandoned.clone(), head.awaits_answer, head.only_instructions);
            prop_assert_eq!(middle(head), middle(was));
            let oldest = fork.state.window.iter().find(|utterance| !utterance.instruction);
            let oldest = oldest.map(|oldest| oldest.sequence);
            prop_assert!(oldest.is_none() || head.left.last() < oldest, "the newest are in the window");
        }
    }

    /// What either side does after the fork does not affect the other.
    #[test]
    fn sides_do_not_see_each_other(
        policy in policy(),
        steps in prop::collection::vec(step(), 1..40),
        later in prop::collection::vec((any::<bool>(), step()), 1..30),
    ) {
        let mut parent = lived(policy, &steps);
        prop_assume!(parent.state.head.newest().get() > 0);
        let mut fork = parent.fork(None, 99).unwrap();
        for (on_parent, step) in &later {
            let (changed, other) = if *on_parent { (&mut parent, &fork) } else { (&mut fork, &parent) };
            let before = (other.said(), other.state.clone());
            take(changed, step, 50);
            changed.is_sound();
            prop_assert_eq!(before, (other.said(), other.state.clone()));
        }
    }

    /// An edit as a fork has everything said before, and then the edited utterance.
    #[test]
    fn an_edit_as_a_fork_ends_with_it(policy in policy(), steps in prop::collection::vec(step(), 1..50), at in any::<prop::sample::Index>()) {
        let mut life = lived(policy, &steps);
        let before = life.said();
        prop_assume!(!before.is_empty());
        let target = before[at.index(before.len())].clone();
        let update = UpdateUtterance {
            id: target.id_text().into(), pinned: None, metadata: None, content: Some(life.new_content("else")), expected: None,
        };
        let command = ForkEdited { fork: command(None, 99), update };
        match life.decide(|before, context| fork_edited(before, &command, context)) {
            Err(refusal) => prop_assert!(target.forgotten && refusal.to_string().contains("Restore")),
            Ok(ForkedEdited { forked, utterance }) => {
                let fork = life.parted(forked);
                fork.is_sound();
                prop_assert_eq!(life.said(), before.clone());
                let told = |said: &[Arc<Utterance>]| said.iter().map(|u| (u.role, u.content.clone(), u.turn)).collect::<Vec<_>>();
                let mut expected: Vec<_> = before.into_iter().filter(|u| u.sequence <= target.sequence).collect();
                if let Some(last) = expected.last_mut() {
                    *last = Arc::new(Utterance { content: "else".into(), ..(**last).clone() });
                }
                if fork.state.head.policy.archive_limit == 1_000 {
                    prop_assert_eq!(told(&fork.said()), told(&expected));
                }
                prop_assert_eq!(&*utterance.content, "else");
                prop_assert!(utterance.more.as_ref().is_none_or(|more| more.original.is_none()));
                prop_assert!(matches!(utterance.id, UtteranceId::Assigned(LineageId([99, ..]))));
            }
        }
    }
}

/// What a fork at the newest utterance reads and writes does not grow with the window.
#[test]
fn the_newest_point_costs_the_same_at_any_length() {
    let written = |count: usize| {
        let mut life = Life::new(small(None, 1_000));
        let policy = Policy::SESSION;
        life.state.head.policy = policy;
        for _ in 0..count.div_ceil(1_000) {
            let text = |n: usize| said(Role::User, if n.is_multiple_of(2) { "even" } else { "odd" });
            life.say((0..count.min(1_000)).map(text).collect());
        }
        let command = command(None, 99);
        let forked = life.decide(|before, context| fork(before, &command, context)).unwrap();
        let Forked { parent, fork } = forked;
        assert_eq!(fork.after.window.len(), count);
        let shared = fork.after.window.iter().zip(life.state.window.iter());
        assert!(shared.into_iter().all(|(one, other)| Arc::ptr_eq(one, other)), "nothing is copied");
        let records = |change: &Change| change.appended.len() + change.rewritten.len() + change.evicted.len();
        let trunks = fork.after.head.trunks.len() + parent.after.head.trunks.len();
        (records(&parent.change), records(&fork.change), trunks, life.looked_at.get())
    };
    assert_eq!(written(10), (0, 0, 2, 0));
    assert_eq!(written(100_000), (0, 0, 2, 0));
}

/// A fork far back reads only what returns to the window, and the sources of its segments.
#[test]
fn a_point_in_the_archive_is_not_searched_for() {
    let mut life = Life::new(small(Some(50), 10_000));
    life.state.head.policy.summary_token_limit = None;
    for _ in 0..1_000 {
        life.say(vec![said(Role::User, "The report is /srv/report.txt.")]);
    }
    life.fork(Some(500), 99).unwrap().is_sound();
    assert!(life.looked_at.get() < 300, "{} were looked at", life.looked_at.get());
}

/// Forking a parent repeatedly does not make it read more lineages.
#[test]
fn many_forks_share_one_trunk() {
    let mut life = Life::new(Policy::ROLLING);
    life.say(vec![said(Role::System, "Be kind."), said(Role::User, "hello")]);
    for number in 10..40 {
        let fork = life.fork(None, number).unwrap();
        assert_eq!(fork.state.head.trunks.len(), 1);
    }
    assert_eq!(life.state.head.trunks.len(), 1);
    assert_eq!(life.state.head.branch, LineageId([110; 16]));
    life.update(2, Some(true), None);
    let fork = life.fork(Some(1), 40).unwrap();
    let lineages: Vec<_> =
        fork.state.head.trunks.iter().map(|trunk| (trunk.lineage.0[0], trunk.through.get())).collect();
    assert_eq!(lineages, [(1, 1), (110, 1)], "what was changed since the first fork is shared");
}

/// If its sources are gone, a segment that is cut keeps its sentences from what the fork has.
#[test]
fn without_its_sources_a_segment_is_approximate() {
    let mut life = Life::new(small(Some(10), 0));
    for n in 0..20 {
        life.say(vec![said(Role::User, &format!("The invoice {n} is in /srv/invoices/{n}.pdf."))]);
    }
    let covered = life.state.summary.segments()[0].covers.last().unwrap().get();
    let fork = life.fork(Some(covered - 1), 99).unwrap();
    fork.is_sound();
    assert!(fork.state.head.forked_from.as_ref().unwrap().approximate);
    assert!(!fork.state.summary.text().contains(&format!("invoice {covered} ")));
    let exact = life.fork(Some(covered), 98).unwrap();
    assert!(!exact.state.head.forked_from.as_ref().unwrap().approximate);
}
