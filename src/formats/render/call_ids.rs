//! Ids of calls, as a provider accepts them and each once.

use std::fmt::Write;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::domain::Sequence;

/// What a provider accepts as an id.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// Bytes at most.
    pub(super) most: usize,
    /// Characters.
    pub(super) accepts: fn(char) -> bool,
}

/// The ids of the calls of one rendering.
///
/// - An id that the provider accepts stays as it is the first time.
/// - One that it refuses is cleaned, cut, and told from others by a hash of what it was.
/// - One that stands in the rendering before gets the sequence of its utterance behind it. (Some
///   providers refuse a request that has an id twice; real transcripts reuse them.)
///
/// So an id depends on the utterance and on what is before it, and is the same in the next
/// rendering that begins the same.
pub(super) struct CallIds {
    rule: Rule,
    used: FxHashSet<String>,
}

impl CallIds {
    /// Ids by a provider's rule.
    pub(super) fn by(rule: Rule) -> Self {
        Self { rule, used: FxHashSet::default() }
    }

    /// The id of a call that the utterance with `sequence` makes.
    pub(super) fn assign(&mut self, id: &str, sequence: Sequence) -> String {
        let accepted = self.accepted(id);
        let mut assigned = accepted.clone();
        let mut count = 1;
        while self.used.contains(&assigned) {
            let mut ending = format!("_{sequence}");
            if count > 1 {
                let _ = write!(ending, "_{count}");
            }
            assigned = self.ending_in(&accepted, &ending);
            count += 1;
        }
        self.used.insert(assigned.clone());
        assigned
    }

    fn accepted(&self, id: &str) -> String {
        if !id.is_empty() && id.len() <= self.rule.most && id.chars().all(self.rule.accepts) {
            return id.to_owned();
        }
        let clean: String = id.chars().map(|c| if (self.rule.accepts)(c) { c } else { '_' }).collect();
        self.ending_in(&clean, &format!("_{:08x}", xxh3_64(id.as_bytes()) as u32))
    }

    /// The start of `id`, as much as there is room for, and `ending`.
    fn ending_in(&self, id: &str, ending: &str) -> String {
        let room = self.rule.most.saturating_sub(ending.len());
        let end = id.floor_char_boundary(room.min(id.len()));
        format!("{}{ending}", &id[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { most: 16, accepts: |c| c.is_ascii_alphanumeric() || c == '_' };

    #[test]
    fn ids_stay_unless_they_are_refused_or_used() {
        let mut ids = CallIds::by(RULE);
        assert_eq!(ids.assign("call_1", Sequence(2)), "call_1");
        assert_eq!(ids.assign("call_2", Sequence(2)), "call_2");
        assert_eq!(ids.assign("call_1", Sequence(8)), "call_1_8");
        assert_eq!(ids.assign("call_1", Sequence(8)), "call_1_8_2");
        let refused = ids.assign("call.1", Sequence(9));
        assert!(refused.starts_with("call_1_") && refused.len() == 15, "{refused}");
        assert_ne!(refused, ids.assign("call:1", Sequence(9)));
        let long = ids.assign(&"é".repeat(40), Sequence(10));
        assert!(long.len() <= 16 && long.chars().all(RULE.accepts), "{long}");
        assert_eq!(ids.assign("", Sequence(11)).len(), 9);
    }
}
