//! Conversation ids for transcripts.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::domain::limits::MAX_ID_BYTES;

/// Bytes of a shortened id that are a hash: `~` and 16 hexadecimal digits.
const HASH_BYTES: usize = 17;
/// Bytes kept for what makes an id unique.
const SUFFIX_BYTES: usize = 8;

/// Gives out ids that are accepted and differ from each other.
///
/// The same names in the same order give the same ids, so that a second replay finds what the
/// first one stored.
#[derive(Default)]
pub struct Names(HashSet<String>);

impl Names {
    /// The id for `name`: control characters are replaced, a long name ends in a hash of the whole,
    /// and one that was given out before gets a number.
    pub fn take(&mut self, name: &str) -> String {
        let safe = safe(name);
        let numbered = (2..).map(|number: u64| format!("{safe}~{number}"));
        let free = std::iter::once(safe.clone()).chain(numbered).find(|id| !self.0.contains(id));
        let id = free.unwrap_or(safe);
        self.0.insert(id.clone());
        id
    }
}

fn safe(name: &str) -> String {
    let clean: String = name.chars().map(|c| if c.is_control() { '-' } else { c }).collect();
    let longest = MAX_ID_BYTES - SUFFIX_BYTES;
    if clean.len() <= longest {
        return clean;
    }
    let end = clean.floor_char_boundary(longest - HASH_BYTES);
    format!("{}~{:016x}", &clean[..end], xxh3_64(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_becomes_an_id_of_its_own() {
        let mut names = Names::default();
        let long = "ü".repeat(300);
        let ids: Vec<_> =
            ["a/b", "a/b", "a\nb", &long, &long, &format!("{long}x")].map(|n| names.take(n)).into();
        assert!(ids.iter().all(|id| id.len() <= MAX_ID_BYTES && !id.contains(char::is_control)), "{ids:?}");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        assert_eq!(ids[..3], ["a/b", "a/b~2", "a-b"]);
    }
}
