//! Records of kinds that are not known.

use std::ops::Bound;

use super::survey::Survey;
use crate::store::durable::{
    key_value::Key,
    records::{
        Active, Compactions, ConversationName, Descriptions, Dues, Ended, Endings, GivenIds, Heads, Kind,
        Links, Listed, Metas, OutcomeAges, Outcomes, Policies, Readers, Record, Segments, Utterances,
        Waiting, prefix_end,
    },
};

/// The kinds that are looked at elsewhere, ascending.
const KNOWN: [u8; 19] = [
    Metas::NUMBER,
    ConversationName::NUMBER,
    Heads::NUMBER,
    Policies::NUMBER,
    Descriptions::NUMBER,
    Segments::NUMBER,
    Utterances::NUMBER,
    GivenIds::NUMBER,
    Listed::NUMBER,
    Active::NUMBER,
    Outcomes::NUMBER,
    OutcomeAges::NUMBER,
    Dues::NUMBER,
    Links::NUMBER,
    Readers::NUMBER,
    Endings::NUMBER,
    Ended::NUMBER,
    Compactions::NUMBER,
    Waiting::NUMBER,
];

/// There is no record of another kind.
pub(super) fn check(survey: &mut Survey<'_>) {
    let mut from = Bound::Unbounded;
    for kind in KNOWN {
        between(survey, &from, &Bound::Excluded(vec![kind]));
        from = match prefix_end(&[kind]) {
            Bound::Excluded(end) => Bound::Included(end),
            end => end,
        };
    }
    between(survey, &from, &Bound::Unbounded);
}

fn between(survey: &mut Survey<'_>, from: &Bound<Key>, to: &Bound<Key>) {
    for pair in survey.pairs.range(from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice)) {
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
