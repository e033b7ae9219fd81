use proptest::prelude::*;

use super::*;
use crate::{
    Draft, Marks, Oversize, Policy, Reason, Refusal,
    compaction::{Undo, undo},
    exchange::{Pairing, Said},
    forget::Selector,
    memorize::{Memorize, Replace, replace},
    test_life::{Letters, Life, calls, result, said},
};

fn user() -> Draft {
    said(Role::User, "go on")
}

fn named(id: &str, draft: Draft) -> Draft {
    Draft { id: Some(id.into()), ..draft }
}

fn part(draft: Draft) -> Draft {
    let more = draft.more.map_or_else(Default::default, |more| *more);
    Draft { more: Some(Box::new(More { continues: true, ..more })), ..draft }
}

fn newest(count: usize) -> Selector {
    Selector { newest_messages: count, ..Selector::default() }
}

fn only(sequence: u64) -> Selector {
    Selector { sequences: Ranges::of(Sequence(sequence), Sequence(sequence)), ..Selector::default() }
}

/// A conversation with a user's utterance, two calls and their results.
fn exchange(policy: Policy) -> Life {
    let mut life = Life::new(policy);
    life.say(vec![user(), calls(&["a", "b"]), result("a"), result("b")]);
    life
}

fn open(life: &Life) -> Vec<&str> {
    life.state.head.open.iter().flat_map(|open| open.calls.iter().map(|call| &**call)).collect()
}

fn sequences(life: &Life) -> Vec<u64> {
    life.stored.keys().map(|sequence| sequence.get()).collect()
}

#[test]
fn an_answer_is_awaited_again_where_what_followed_went() {
    let mut life = Life::new(Policy::SESSION);
    let asks = More { awaits_answer: true, ..More::default() };
    life.say(vec![Draft { more: Some(Box::new(asks)), ..said(Role::Assistant, "Which folder?") }, user()]);
    assert!(!life.state.head.awaits_answer);
    life.erase(newest(1));
    assert!(life.state.head.awaits_answer);
    life.is_sound();
}

#[test]
fn what_leads_a_message_leaves_with_it() {
    let thought = || said(Role::Assistant, "");
    let mut life = Life::new(Policy { utterances: Some(Marks::of(6)), ..Policy::ROLLING });
    life.say(vec![user(), thought(), thought(), calls(&["a"]), result("a"), user()]);
    assert_eq!(life.said().iter().map(|one| one.unit.get()).collect::<Vec<_>>(), [1, 2, 2, 2, 2, 6]);
    life.say(vec![thought(), said(Role::Assistant, "Done.")]);
    assert_eq!(life.state.window.iter().map(|one| one.unit.get()).collect::<Vec<_>>(), [6, 7, 7]);
    life.is_sound();
}

#[test]
fn amid_a_conversation_the_rest_is_paired_by_itself() {
    let mut life = exchange(Policy::SESSION);
    life.say(vec![user()]);
    life.erase(only(3));
    assert_eq!(life.state.head.abandoned.iter().map(|call| &*call.id).collect::<Vec<_>>(), ["a"]);
    life.is_sound();
    life.memorize(vec![result("a")], false).unwrap();
    assert!(life.said()[4].late().is_some(), "the call was abandoned");
    life.erase(only(2));
    let asides: Vec<bool> = life.said().iter().map(|said| said.aside).collect();
    assert_eq!(asides, [false, true, false, false]);
    life.is_sound();
}

#[test]
fn a_message_goes_with_all_its_utterances() {
    let mut life = exchange(Policy::SESSION);
    life.say(vec![calls(&["c", "d"]), result("c"), part(result("d")), part(user())]);
    assert_eq!(life.erase(newest(1)).utterances.len(), 3);
    assert_eq!((sequences(&life), open(&life)), (vec![1, 2, 3, 4, 5], vec!["c", "d"]));
    life.is_sound();
}

#[test]
fn what_is_named_and_not_stored_selects_nothing() {
    let mut life = exchange(Policy::SESSION);
    let nothing = Selector { ids: vec!["who".into(), "x-1".into()], ..only(9) };
    let before = life.state.clone();
    assert!(life.erase(nothing).transition.is_none());
    assert_eq!(life.state, before);
}

#[test]
fn a_late_result_answers_a_newer_call_whose_own_result_went() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![calls(&["a"]), user(), calls(&["b", "a"]), result("a"), result("a")]);
    assert!(life.said()[4].late().is_some(), "only the older call waits");
    life.erase(only(4));
    assert!(life.said()[3].late().is_none());
    life.is_sound();
}

/// A result was late for one of two calls with the same id: the other one takes another.
#[test]
fn a_late_result_answers_one_of_several_calls_with_its_id() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![calls(&["a", "a"]), result("a"), user(), result("a")]);
    life.erase(only(2));
    let answers = |life: &Life| life.state.head.abandoned.iter().map(|call| call.answer).collect::<Vec<_>>();
    assert_eq!(answers(&life), [Some(Sequence(4)), None]);
    life.memorize(vec![result("a")], false).unwrap();
    assert_eq!(answers(&life), [Some(Sequence(4)), Some(Sequence(5))]);
    life.is_sound();
    assert_eq!(life.memorize(vec![result("a")], false).unwrap_err().reason(), Reason::NoOpenCall);
}

#[test]
fn in_the_archive_a_unit_is_parted_too() {
    let mut life = exchange(Policy { utterances: Some(Marks::of(2)), ..Policy::ROLLING });
    (0..3).for_each(|_| life.say(vec![user()]));
    assert!(life.state.head.archived.contains(Sequence(4)));
    life.erase(only(4));
    assert_eq!(life.state.head.abandoned.iter().map(|call| &*call.id).collect::<Vec<_>>(), ["b"]);
    life.is_sound();
    life.erase(newest(5));
    assert_eq!(sequences(&life), [1]);
    life.is_sound();
}

/// A long exchange that waits for a result cannot leave the window; the parts it is split into can.
#[test]
fn what_an_exchange_held_in_the_window_leaves_it_when_it_is_parted() {
    let mut life = Life::new(Policy { utterances: Some(Marks::of(4)), ..Policy::ROLLING });
    life.say(vec![user(), calls(&["a"]), calls(&["b"])]);
    life.say((0..4).map(|_| said(Role::Assistant, "well")).collect());
    assert_eq!(life.state.window.len(), 6, "it waits");
    life.erase(only(2));
    life.is_sound();
}

/// The summary mentions a call with its outcome and lists what results name, whether these are stored or not.
#[test]
fn an_outcome_that_went_is_not_told_with_its_call() {
    let outcomes = ["error: no ZX-7142", "one\ntwo\nZX-7142"];
    for (archive_limit, content) in
        [9, 0].into_iter().flat_map(|limit| outcomes.map(|outcome| (limit, outcome)))
    {
        let rolling = Policy { utterances: Some(Marks::of(6)), archive_limit, ..Policy::ROLLING };
        let mut life = Life::new(rolling);
        life.say(vec![
            said(Role::Assistant, &"well ".repeat(60)),
            calls(&["a"]),
            Draft { content: content.into(), ..result("a") },
        ]);
        (0..7).for_each(|_| life.say(vec![user()]));
        let told = |life: &Life| format!("{:?}", life.state.summary);
        assert!(told(&life).contains("ZX-7142"), "{}", told(&life));
        life.erase(only(3));
        assert!(!told(&life).contains("ZX-7142"), "{}", told(&life));
        life.is_sound();
    }
}

#[test]
fn an_id_of_what_is_replaced_is_free_again() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![named("one", user()), named("two", user())]);
    life.replace(1, vec![named("two", user())]);
    life.replace(0, vec![named("two", user()), named("one", user())]);
    assert_eq!(sequences(&life), [4, 5]);
    life.is_sound();
}

#[test]
fn a_late_result_that_is_replaced_was_never_given() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![calls(&["a"]), user(), named("it", result("a"))]);
    assert!(life.said()[2].late().is_some());
    life.upsert(named("it", user())).unwrap();
    life.is_sound();
    life.memorize(vec![result("a")], false).unwrap();
    life.is_sound();
}

/// Two utterances of one summarised exchange: the second is replaced in the state that the first left.
#[test]
fn several_of_an_exchange_are_replaced_at_once() {
    let mut life = Life::new(Policy { utterances: Some(Marks::of(6)), ..Policy::ROLLING });
    life.say(vec![named("one", calls(&["a"])), named("two", said(Role::Assistant, "well")), result("a")]);
    (0..7).for_each(|_| life.say(vec![user()]));
    life.upsert_all(vec![named("one", user()), named("two", user())], true).unwrap();
    let units: Vec<_> = life.said().iter().take(3).map(|said| said.unit.get()).collect();
    assert_eq!((units, life.said()[0].tool_calls().len()), (vec![1, 2, 3], 0));
    let told = format!("{:?}", life.state.summary);
    assert!(!told.contains("find"), "{told}");
    life.is_sound();
}

#[test]
fn a_result_that_replaces_answers_a_call_of_its_exchange() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![named("it", calls(&["a"])), user()]);
    let refused = life.upsert_all(vec![named("it", result("a"))], false).unwrap_err();
    assert!(matches!(&refused, Refusal::Field(Reason::NoOpenCall, _)), "{refused}");
    let told = life.upsert(named("it", result("a"))).unwrap();
    assert_eq!(told.irregularities.iter().map(|one| one.sequence.get()).collect::<Vec<_>>(), [1]);
    life.is_sound();
}

#[test]
fn a_policy_that_rejects_what_is_large_rejects_it_in_the_place_of_another() {
    let small = Policy { oversize: Oversize::Reject, tokens: Some(Marks::of(60)), ..Policy::ROLLING };
    let mut life = Life::new(small);
    life.say(vec![calls(&["a"]), named("it", result("a"))]);
    let refused = life.upsert(named("it", Draft { content: "x".repeat(60).into(), ..result("a") }));
    let refused = refused.unwrap_err();
    assert!(matches!(&refused, Refusal::Field(Reason::Oversize, _)), "{refused}");
}

/// An id that the server assigned names its utterance, and names nothing once that utterance is removed.
#[test]
fn an_id_of_the_server_that_is_gone_is_given_to_nothing() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![user(), user()]);
    let id = life.id(2).unwrap();
    let drafts = vec![named(&id, user())];
    let tokens = vec![drafts[0].tokens(&Letters)];
    let memorize = Memorize { drafts, tokens, lenient: true, upsert: true, ..Memorize::default() };
    let command = Replace { after: Sequence(1), memorize };
    let refused = life.decide(|before, context| replace(before, &command, context));
    let refused = refused.unwrap_err();
    assert!(matches!(&refused, Refusal::Field(Reason::InvalidId, _)), "{refused}");
}

#[test]
fn instructions_end_where_one_becomes_something_else() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![said(Role::System, "be brief"), named("it", said(Role::System, "be kind"))]);
    life.say(vec![said(Role::System, "be long"), user()]);
    let instructions = |life: &Life| life.said().iter().map(|said| said.instruction).collect::<Vec<_>>();
    life.upsert(named("it", said(Role::System, "be kinder"))).unwrap();
    assert_eq!(instructions(&life), [true, true, true, false]);
    life.upsert(named("it", user())).unwrap();
    assert_eq!(instructions(&life), [true, false, false, false]);
    life.is_sound();
}

/// They are never evicted, whatever they replaced and wherever they were then.
#[test]
fn system_messages_at_the_head_are_instructions() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![named("it", user()), said(Role::System, "be kind"), user(), said(Role::System, "be long")]);
    let instructions = |life: &Life| life.said().iter().map(|said| said.instruction).collect::<Vec<_>>();
    assert_eq!(instructions(&life), [false; 4]);
    life.upsert(named("it", said(Role::System, "be brief"))).unwrap();
    assert_eq!(instructions(&life), [true, true, false, false]);
    life.is_sound();

    let mut life = Life::new(Policy::SESSION);
    life.say(vec![named("it", calls(&["a"])), said(Role::System, "be kind"), result("a")]);
    life.upsert(named("it", said(Role::System, "be brief"))).unwrap();
    assert_eq!(instructions(&life), [true, true, false]);
    life.is_sound();

    let turns = Marks::with_keep(3, 1);
    let mut life = Life::new(Policy { turns, ..Policy::ROLLING });
    life.say(vec![named("it", user()), user(), user(), user()]);
    life.upsert(named("it", said(Role::System, "be brief"))).unwrap();
    assert_eq!(instructions(&life), [false; 4], "it has left the window");
    life.is_sound();
    let undone = life.decide(|before, context| undo(before, &Undo { expected: None }, context)).unwrap();
    life.apply(undone.transition);
    assert_eq!(instructions(&life), [true, false, false, false]);
    life.is_sound();
}

#[test]
fn a_message_of_several_utterances_is_not_replaced_in_its_place() {
    let mut life = Life::new(Policy::SESSION);
    life.say(vec![named("it", user()), part(user())]);
    let refused = life.upsert(named("it", user())).unwrap_err();
    assert!(matches!(&refused, Refusal::Field(Reason::InvalidField, _)), "{refused}");
    life.is_sound();
}

#[derive(Clone, Debug)]
enum Step {
    Say(Vec<u8>),
    Erase(u64),
    Pop(usize),
    Replace(u64, Vec<u8>),
    Upsert(u8, u8),
    Forget(u64),
    Restore(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = || prop::collection::vec(0..9_u8, 1..5);
    prop_oneof![
        6 => kinds().prop_map(Step::Say),
        3 => (1..30_u64).prop_map(Step::Erase),
        3 => (1..4_usize).prop_map(Step::Pop),
        2 => (0..30_u64, kinds()).prop_map(|(after, kinds)| Step::Replace(after, kinds)),
        2 => (0..3_u8, 0..9_u8).prop_map(|(id, kind)| Step::Upsert(id, kind)),
        1 => (1..30_u64).prop_map(Step::Forget),
        1 => (1..30_u64).prop_map(Step::Restore),
    ]
}

fn draft(kind: u8) -> Draft {
    match kind {
        0 => user(),
        1 => said(Role::Assistant, "well"),
        2 => calls(&["a"]),
        3 => calls(&["b", "a"]),
        4 => result("a"),
        5 => result("b"),
        6 => said(Role::Assistant, ""),
        7 => part(result("a")),
        _ => said(Role::System, "note"),
    }
}

fn drafts(kinds: Vec<u8>) -> Vec<Draft> {
    kinds.into_iter().map(draft).collect()
}

proptest! {
    /// Whatever is removed, replaced or forgotten: the state is sound, everything not selected stays, and if
    /// nothing is forgotten or late, results answer the same calls as in a plain list.
    #[test]
    fn any_life_is_sound(steps in prop::collection::vec(step(), 1..25), small in any::<bool>()) {
        let rolling = Policy { utterances: Some(Marks::of(6)), ..Policy::ROLLING };
        let mut life = Life::new(if small { rolling } else { Policy::SESSION });
        life.say(vec![user()]);
        for step in steps {
            let before = sequences(&life);
            match step {
                Step::Say(kinds) => life.say(drafts(kinds)),
                Step::Erase(sequence) => {
                    life.erase(only(sequence));
                    let rest: Vec<_> = before.into_iter().filter(|one| *one != sequence).collect();
                    prop_assert_eq!(sequences(&life), rest);
                }
                Step::Pop(count) => {
                    let gone = life.erase(newest(count)).utterances.len();
                    prop_assert_eq!(sequences(&life).len(), before.len() - gone);
                }
                Step::Replace(after, kinds) => {
                    life.replace(after, drafts(kinds));
                    prop_assert!(sequences(&life).iter().all(|one| *one <= after || !before.contains(one)));
                }
                Step::Upsert(id, kind) => drop(life.upsert(named(&id.to_string(), draft(kind)))),
                Step::Forget(sequence) => life.forget(sequence, false),
                Step::Restore(sequence) => life.restore(sequence),
            }
            life.is_sound();
        }
    }

    /// Popping from the end repeatedly restores the conversation as it was before each batch.
    #[test]
    fn what_is_popped_was_never_said(batches in prop::collection::vec(prop::collection::vec(0..7_u8, 1..4), 1..6)) {
        let mut life = Life::new(Policy::SESSION);
        let mut states = Vec::new();
        for batch in batches {
            states.push((life.said(), life.state.head.open.clone(), life.state.head.turn, batch.len()));
            life.say(drafts(batch));
        }
        while let Some((said, open, turn, count)) = states.pop() {
            life.erase(newest(count));
            let plain = |said: &[Arc<Utterance>]| said.iter().map(|one| (one.sequence, one.unit)).collect::<Vec<_>>();
            prop_assert_eq!(plain(&life.said()), plain(&said));
            if life.said().iter().all(|one| one.late().is_none()) {
                prop_assert_eq!(&life.state.head.open, &open);
            }
            prop_assert_eq!(life.state.head.turn, turn);
            let pairing = Pairing::of(life.said().iter().map(|one| Said::from(&**one)));
            let units: Vec<_> = life.said().iter().map(|one| one.unit).collect();
            let paired: Vec<_> = pairing.unit.iter().map(|place| life.said()[*place].sequence).collect();
            prop_assert_eq!(units, paired);
        }
    }
}
