//! Outcomes, and the order of their age.

use super::{set_hash::SetHash, survey::Survey};
use crate::{
    domain::Timestamp,
    store::durable::records::{self, OutcomeAges, OutcomeName, Outcomes},
};

/// Each outcome has an age, of its time, and each age is of an outcome.
pub(super) fn check(survey: &mut Survey<'_>) {
    let (mut outcomes, mut ages) = (SetHash::default(), SetHash::default());
    let mut complete = survey.walk::<Outcomes>(|survey, name, outcome| {
        survey.report.outcomes += 1;
        if let Some(outcome) = outcome {
            outcomes.add(&records::key::<OutcomeAges>(&(outcome.time, name)));
        }
    });
    complete &= survey.walk::<OutcomeAges>(|_, age, _| ages.add(&records::key::<OutcomeAges>(&age)));
    if outcomes != ages && complete {
        compare(survey);
    }
}

/// Names the outcomes and the ages that do not belong together.
fn compare(survey: &mut Survey<'_>) {
    for (key, value) in all(&records::all_of::<Outcomes>(), survey) {
        let Ok((name, outcome)) = records::decode::<Outcomes>(&key, &value) else { continue };
        if !has_age(outcome.time, &name, survey) {
            let what = format_args!("it is of {} µs, and has no age", outcome.time.0);
            survey.problem(records::name::<Outcomes>(&name), what);
        }
    }
    for (key, _) in all(&records::all_of::<OutcomeAges>(), survey) {
        let Ok(age) = records::decode_key::<OutcomeAges>(&key) else { continue };
        if let Some(wrong) = check_age(&age, survey) {
            survey.problem(records::name::<OutcomeAges>(&age), wrong);
        }
    }
}

fn check_age((time, name): &(Timestamp, OutcomeName), survey: &Survey<'_>) -> Option<&'static str> {
    let key = records::key::<Outcomes>(name);
    let Some(value) = survey.pairs.get(&key).ok()? else { return Some("there is no such outcome") };
    let (_, outcome) = records::decode::<Outcomes>(&key, &value).ok()?;
    let older = outcome.time != *time && has_age(outcome.time, name, survey);
    older.then_some("the outcome is of another time")
}

fn has_age(time: Timestamp, name: &OutcomeName, survey: &Survey<'_>) -> bool {
    let key = records::key::<OutcomeAges>(&(time, name.clone()));
    // What cannot be read was noted before.
    survey.pairs.get(&key).map_or(true, |age| age.is_some())
}

fn all<'a>(prefix: &[u8], survey: &Survey<'a>) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> + use<'a> {
    survey.from(prefix, prefix).map_while(Result::ok)
}
