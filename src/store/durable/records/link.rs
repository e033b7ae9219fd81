//! That a group is there.
//!
//! Each group writes a link and removes that of the group before it. So there is one link, that of
//! the last group; when a group is missing among others, the link before it is there still.

use crate::store::durable::key_value::{Key, Value};

use super::{
    Fault, KeyReader, KeyWriter, Kind, Meta, Metas,
    kind::{key, message, pair},
};

/// The kind of links, by their groups: there is nothing but the key.
#[derive(Clone, Copy, Debug)]
pub struct Links;

/// What tells of a group: its number, and its link instead of those that are there.
pub fn group_writes(group: u64, links: &[u64]) -> impl Iterator<Item = (Key, Option<Value>)> {
    let written = [pair::<Metas>(&Meta::Group, &group), pair::<Links>(&group, &())];
    let removed = links.iter().map(|link| (key::<Links>(link), None));
    written.into_iter().map(|(key, value)| (key, Some(value))).chain(removed)
}

/// The first group that is missing, when these are the links in a store whose last group is `group`.
pub fn missing_group(links: &[u64], group: u64) -> Option<u64> {
    match links {
        [] if group == 0 => None,
        [link] if *link == group => None,
        [link, ..] if *link < group => Some(link + 1),
        _ => Some(group),
    }
}

impl Kind for Links {
    const NUMBER: u8 = 14;
    const VERSION: u8 = 1;
    const NAME: &'static str = "link";
    type Key = u64;
    type Value = ();

    fn write_key(key: &u64, to: &mut KeyWriter) {
        to.long(*key);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<u64, Fault> {
        parts.long()
    }

    fn show(key: &u64) -> String {
        format!("of group {key}")
    }

    fn write(_: &u64, _: &(), _: &mut Vec<u8>) {}

    fn read(_: &u64, payload: &[u8]) -> Result<(), Fault> {
        message(payload)
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
