//! Links: records that reveal missing groups.
//!
//! Each group writes its link and removes the link of the previous group. So there is normally one link, that
//! of the last group. If a group is missing before later ones, the link of the group before it remains.

use super::{
    Links, Meta, Metas,
    key::{Key, Value},
    kind::{key, pair},
};

/// Returns the writes that record a group: its number, and its link, which replaces `links`.
pub fn group_writes(group: u64, links: &[u64]) -> impl Iterator<Item = (Key, Option<Value>)> {
    let written = [pair::<Metas>(&Meta::Group, &group), pair::<Links>(&group, &())];
    let removed = links.iter().map(|link| (key::<Links>(link), None));
    written.into_iter().map(|(key, value)| (key, Some(value))).chain(removed)
}

/// Returns the first missing group, given the links of a store whose last group is `group`.
pub fn missing_group(links: &[u64], group: u64) -> Option<u64> {
    match links {
        [] if group == 0 => None,
        [link] if *link == group => None,
        [link, ..] if *link < group => Some(link + 1),
        _ => Some(group),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_group_that_is_missing() {
        for (links, group, missing) in [
            (&[][..], 0, None),
            (&[7], 7, None),
            (&[], 7, Some(7)),
            (&[3, 7], 7, Some(4)),
            (&[3, 5, 7], 7, Some(4)),
            (&[6], 7, Some(7)),
            (&[9], 7, Some(7)),
        ] {
            assert_eq!(missing_group(links, group), missing, "{links:?} {group}");
        }
    }
}
