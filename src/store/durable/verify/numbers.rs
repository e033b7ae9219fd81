//! The store's own numbers.

use super::survey::Survey;
use crate::store::durable::records::{self, Links, Meta, Metas};

/// Checks that no group is missing, and that the last unscrubbed group exists.
pub(super) fn check(survey: &mut Survey<'_>) {
    let (mut group, mut unscrubbed) = (0, 0);
    survey.each::<Metas>(|_, meta, value| match meta {
        Meta::Group => group = value.unwrap_or(u64::MAX),
        Meta::Unscrubbed => unscrubbed = value.unwrap_or(0),
        Meta::Copying => {}
    });
    if unscrubbed > group {
        let what = format_args!("is {unscrubbed}, but the last group is {group}");
        survey.problem(records::name::<Metas>(&Meta::Unscrubbed), what);
    }
    let mut links = Vec::new();
    survey.each::<Links>(|_, link, _| links.push(link));
    if let Some(missing) = records::missing_group(&links, group) {
        survey.problem(
            records::name::<Metas>(&Meta::Group),
            format_args!("is {group}, but group {missing} is missing"),
        );
    }
}
