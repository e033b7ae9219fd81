//! Outcomes, and their index by age.

use super::survey::Survey;
use crate::{
    domain::Timestamp,
    store::durable::records::{self, OutcomeAges, OutcomeName, Outcomes},
};

/// Checks that each outcome has an age record with its time, and each age record an outcome.
pub(super) fn check(survey: &mut Survey<'_>) {
    survey.walk::<Outcomes>(|survey, name, outcome| {
        let Some(outcome) = outcome else { return };
        if survey.lacks::<OutcomeAges>(&(outcome.time, name.clone())) {
            let what = format_args!("its time is {} µs, but it has no age record", outcome.time.0);
            survey.problem(records::name::<Outcomes>(&name), what);
        }
    });
    survey.walk::<OutcomeAges>(|survey, age, _| {
        if let Some(wrong) = check_age(&age, survey) {
            survey.problem(records::name::<OutcomeAges>(&age), wrong);
        }
    });
}

fn check_age((time, name): &(Timestamp, OutcomeName), survey: &Survey<'_>) -> Option<&'static str> {
    let Ok(outcome) = records::get::<Outcomes>(survey.engine?, name) else { return None };
    let Some(outcome) = outcome else { return Some("there is no such outcome") };
    // An outcome without an age record was already reported itself.
    let is_older = outcome.time != *time && !survey.lacks::<OutcomeAges>(&(outcome.time, name.clone()));
    is_older.then_some("the outcome has another time")
}
