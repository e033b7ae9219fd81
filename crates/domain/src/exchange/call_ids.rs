//! Call ids in a form that a provider accepts.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

/// What a provider accepts as a call id.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The maximum length in bytes.
    pub most: usize,
    /// Whether a character is accepted.
    pub accepts: fn(char) -> bool,
    /// Whether an id may be used again in another message.
    pub recurs: bool,
    /// Whether the replacement for a refused id ends in a hash of that id, so that it does not depend on what
    /// came before.
    pub hashes: bool,
}

impl Rule {
    /// Anthropic: `^[a-zA-Z0-9_-]+$`, at most 64 characters, unique in a request.
    pub const ANTHROPIC: Self = Self {
        most: 64,
        accepts: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
        recurs: false,
        hashes: false,
    };

    /// OpenAI chat completions: at most 40 characters, unique in a message.
    pub const OPENAI_CHAT: Self = Self { most: 40, accepts: |_| true, recurs: true, hashes: false };

    /// OpenAI Responses: at most 64 characters, unique in a request.
    pub const OPENAI_RESPONSES: Self = Self { most: 64, accepts: |_| true, recurs: false, hashes: false };
}

/// Assigns the call ids of one request.
///
/// - An id that the provider accepts is kept, the first time it is used.
/// - An id that it refuses is cleaned up and truncated.
/// - An id that is taken gets an ending, and also a number if that is taken too.
///
/// So an id depends only on its message and what comes before it.
#[derive(Clone, Debug)]
pub struct CallIds {
    rule: Rule,
    taken: HashSet<String>,
    /// The last number given to each id with an ending.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// Assigns ids by a provider's rule.
    pub fn by(rule: Rule) -> Self {
        Self { rule, taken: HashSet::new(), numbers: HashMap::new() }
    }

    /// Starts another message.
    pub fn next_message(&mut self) {
        if self.rule.recurs {
            self.taken.clear();
            self.numbers.clear();
        }
    }

    /// Marks an id as taken, unchanged.
    pub fn take(&mut self, id: &str) {
        self.taken.insert(id.to_owned());
    }

    /// Returns the id to send for a call; an id that is taken gets `ending`.
    pub fn assign(&mut self, id: &str, ending: &str) -> String {
        let accepted = self.accepted(id);
        if self.taken.insert(accepted.clone()) {
            return accepted;
        }
        let mut assigned = self.ending_in(&accepted, ending);
        let number = self.numbers.get(&assigned).copied();
        let (first, mut number) = (assigned.clone(), number.unwrap_or(1));
        while !self.taken.insert(assigned.clone()) {
            number += 1;
            assigned = self.ending_in(&accepted, &format!("{ending}_{number}"));
        }
        self.numbers.insert(first, number);
        assigned
    }

    fn accepted(&self, id: &str) -> String {
        let Rule { most, accepts, hashes, .. } = self.rule;
        if !id.is_empty() && id.len() <= most && id.chars().all(accepts) {
            return id.to_owned();
        }
        let clean: String = id.chars().map(|c| if accepts(c) { c } else { '_' }).collect();
        match hashes {
            true => self.ending_in(&clean, &format!("_{:08x}", xxh3_64(id.as_bytes()) as u32)),
            false if clean.is_empty() => "-".to_owned(),
            false => self.ending_in(&clean, ""),
        }
    }

    /// As much of the start of `id` as there is room for, followed by `ending`.
    fn ending_in(&self, id: &str, ending: &str) -> String {
        let room = self.rule.most.saturating_sub(ending.len());
        format!("{}{ending}", &id[..id.floor_char_boundary(room)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule =
        Rule { most: 16, accepts: |c| c.is_ascii_alphanumeric() || c == '_', recurs: false, hashes: true };

    #[test]
    fn ids_stay_unless_they_are_refused_or_used() {
        let mut ids = CallIds::by(RULE);
        assert_eq!(ids.assign("call_1", "_2"), "call_1");
        assert_eq!(ids.assign("call_2", "_2"), "call_2");
        assert_eq!(ids.assign("call_1", "_8"), "call_1_8");
        assert_eq!(ids.assign("call_1", "_8"), "call_1_8_2");
        assert_eq!(ids.assign("call_1", "_8"), "call_1_8_3");
        assert_eq!(ids.assign("call_1", "_9"), "call_1_9");
        let refused = ids.assign("call.1", "_9");
        assert!(refused.starts_with("call_1_") && refused.len() == 15, "{refused}");
        assert_ne!(refused, ids.assign("call:1", "_9"));
        let long = ids.assign(&"é".repeat(40), "_10");
        assert!(long.len() <= 16 && long.chars().all(RULE.accepts), "{long}");
        assert_eq!(ids.assign("", "_11").len(), 9);
    }

    #[test]
    fn an_id_recurs_in_another_message_where_the_provider_lets_it() {
        let mut ids = CallIds::by(Rule::OPENAI_CHAT);
        assert_eq!([ids.assign("a", ""), ids.assign("a", "")], ["a", "a_2"]);
        ids.next_message();
        assert_eq!(ids.assign("a", ""), "a");
    }
}
