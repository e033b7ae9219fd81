//! Records of unknown kinds.

use std::ops::Bound;

use super::survey::Survey;
use crate::store::durable::{key_value::Key, records::Record};

/// Reports records of kinds that no other module checks.
pub(super) fn check(survey: &mut Survey<'_>) {
    let mut from = Bound::Unbounded;
    for kind in Record::NUMBERS {
        between(survey, &from, &Bound::Excluded(vec![*kind]));
        from = Bound::Included(vec![kind + 1]);
    }
    between(survey, &from, &Bound::Unbounded);
}

fn between(survey: &mut Survey<'_>, from: &Bound<Key>, to: &Bound<Key>) {
    for pair in survey.pairs.ascending(from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice)) {
        match pair {
            Ok((key, value)) => {
                survey.count();
                if let Err(bad) = Record::read(&key, &value) {
                    survey.unreadable(&bad);
                }
            }
            Err(error) => survey.problem("the records of unknown kinds", error),
        }
    }
}
