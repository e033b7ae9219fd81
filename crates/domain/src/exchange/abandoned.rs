//! A conversation's abandoned calls, whose results may still arrive late.

use std::sync::Arc;

use crate::{
    Head, Ranges, Sequence, Utterance,
    exchange::{AbandonedCall, unanswered},
    limits::MAX_ABANDONED_CALLS,
};

impl Head {
    /// Returns the abandoned calls with `id`, newest first.
    pub fn abandoned_with<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a AbandonedCall> {
        self.abandoned.iter().rev().filter(move |call| *call.id == *id)
    }

    /// Whether a late result would be accepted.
    pub fn awaits_late_results(&self) -> bool {
        self.abandoned.iter().any(|call| call.answer.is_none())
    }

    /// Marks the unanswered calls of `unit` as abandoned. Only the newest [`MAX_ABANDONED_CALLS`] are kept.
    pub(crate) fn abandon(&mut self, unit: &[Arc<Utterance>]) {
        self.open = None;
        let new = unanswered(unit).into_iter();
        let new = new.map(|(id, caller)| AbandonedCall { id: id.into(), caller, answer: None });
        let all: Vec<_> = self.abandoned.iter().cloned().chain(new).collect();
        self.abandoned = all[all.len().saturating_sub(MAX_ABANDONED_CALLS)..].into();
    }

    /// Records `answer` as the late result of `call`.
    pub(crate) fn answer_late(&mut self, call: &AbandonedCall, answer: Sequence) {
        let mut all = self.abandoned.to_vec();
        if let Some(answered) = all.iter_mut().rev().find(|other| *other == call) {
            answered.answer = Some(answer);
        }
        self.abandoned = all.into();
    }

    /// Removes the calls of `callers` from the abandoned ones, because they were removed or are open again.
    pub(crate) fn unabandon(&mut self, callers: &Ranges) {
        self.change_abandoned(|call| (!callers.contains(call.caller)).then(|| call.clone()));
    }

    /// Clears the late results among `gone`, as if they had never arrived.
    pub(crate) fn unanswer(&mut self, gone: &Ranges) {
        self.change_abandoned(|call| {
            let answer = call.answer.filter(|answer| !gone.contains(*answer));
            Some(AbandonedCall { answer, ..call.clone() })
        });
    }

    fn change_abandoned(&mut self, change: impl Fn(&AbandonedCall) -> Option<AbandonedCall>) {
        if !self.abandoned.is_empty() {
            self.abandoned = self.abandoned.iter().filter_map(change).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Draft, Marks, Policy, Role,
        test_life::{Life, calls, result, said},
    };

    fn user() -> Draft {
        said(Role::User, "meanwhile")
    }

    /// A call at 2, abandoned at 3.
    fn abandoned(policy: Policy) -> Life {
        let mut life = Life::new(policy);
        life.say(vec![said(Role::User, "go"), calls(&["a"]), user()]);
        life
    }

    fn refused(life: &mut Life, call: &str) -> String {
        life.memorize(vec![result(call)], false).unwrap_err().to_string()
    }

    fn small() -> Policy {
        Policy { utterances: Some(Marks::of(3)), ..Policy::ROLLING }
    }

    /// Ids are reused: an open call is answered first, then the nearest abandoned one.
    #[test]
    fn the_nearest_call_is_answered() {
        let mut life = abandoned(Policy::ROLLING);
        life.say(vec![calls(&["a"]), result("a"), calls(&["a"]), user()]);
        life.say(vec![calls(&["a"]), result("a"), result("a"), result("a")]);
        assert!(refused(&mut life, "a").contains("answered late"));
        let callers: Vec<_> =
            life.said().iter().map(|said| said.late().map(|late| late.caller.get())).collect();
        assert_eq!(callers[7..], [None, None, Some(6), Some(2)]);
        life.is_sound();
    }

    /// Calls of one utterance with one id are answered in their order, some in time and the rest late.
    #[test]
    fn calls_with_the_same_id_are_answered_late_in_their_order() {
        let mut life = Life::new(Policy::ROLLING);
        let mut caller = calls(&["a", "a", "a"]);
        let made = &mut caller.more.as_mut().unwrap().tool_calls;
        made.iter_mut().zip(["one", "two", "three"]).for_each(|(call, name)| call.name = name.into());
        life.say(vec![said(Role::User, "go"), caller, result("a"), user(), result("a"), result("a")]);
        let told = life.said();
        let tools: Vec<_> = told.iter().filter_map(|said| said.late()).map(|late| &*late.tool).collect();
        assert_eq!(tools, ["two", "three"]);
        life.is_sound();
    }

    #[test]
    fn a_call_in_the_archive_is_looked_up_alone() {
        let mut life = abandoned(small());
        (0..10).for_each(|_| life.say(vec![user()]));
        assert!(life.state.head.archived.contains(Sequence(2)));
        life.looked_at.set(0);
        life.memorize(vec![result("a")], false).unwrap();
        assert_eq!(life.looked_at.get(), 1);
        life.is_sound();
    }

    #[test]
    fn what_is_not_stored_is_not_answered() {
        let mut life = abandoned(Policy { archive_limit: 0, ..small() });
        (0..10).for_each(|_| life.say(vec![user()]));
        assert!(refused(&mut life, "a").contains("is not an open call"));
        let mut life = abandoned(Policy::ROLLING);
        life.forget(2, true);
        assert!(refused(&mut life, "a").contains("is not an open call"));
        assert!(life.state.head.abandoned.is_empty());
    }

    #[test]
    fn a_forgotten_call_is_answered_once_it_is_back() {
        let mut life = abandoned(Policy::ROLLING);
        life.forget(2, false);
        assert!(refused(&mut life, "a").contains("of utterance 2, which is forgotten"));
        life.restore(2);
        life.memorize(vec![result("a")], false).unwrap();
        life.forget(4, false);
        assert!(refused(&mut life, "a").contains("by utterance 4"), "it can be restored");
        life.forget(4, true);
        life.memorize(vec![result("a")], false).unwrap();
        life.is_sound();
    }

    /// A call that was answered late does not wait again when it is restored.
    #[test]
    fn a_call_that_was_answered_late_stays_answered() {
        let mut life = Life::new(Policy::ROLLING);
        life.say(vec![said(Role::User, "go"), calls(&["a"])]);
        life.forget(2, false);
        life.say(vec![said(Role::Assistant, "hm")]);
        life.forget(3, false);
        life.restore(2);
        life.say(vec![result("a")]);
        assert!(life.said()[3].late().is_some(), "the forgotten utterance came after the call");
        life.restore(3);
        life.forget(2, false);
        life.restore(2);
        assert_eq!(life.state.head.open, None);
        life.is_sound();
    }

    #[test]
    fn amid_an_exchange_it_is_of_its_unit() {
        let mut life = abandoned(Policy::ROLLING);
        life.say(vec![calls(&["b"]), result("a"), result("b")]);
        let units: Vec<_> = life.said().iter().map(|said| said.unit.get()).collect();
        assert_eq!((units, &life.state.head.open), (vec![1, 2, 3, 4, 4, 4], &None));
        life.is_sound();
    }

    #[test]
    fn of_too_many_the_oldest_are_not_known() {
        let mut life = Life::new(Policy::SESSION);
        for number in 0..=MAX_ABANDONED_CALLS {
            life.say(vec![calls(&[&number.to_string()]), user()]);
        }
        assert_eq!(life.state.head.abandoned.len(), MAX_ABANDONED_CALLS);
        assert!(refused(&mut life, "0").contains("is not an open call"));
        life.memorize(vec![result("1")], false).unwrap();
    }
}
