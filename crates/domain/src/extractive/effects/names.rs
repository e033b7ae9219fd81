//! What a tool's name says about its effect.

use std::ops::Range;

use crate::extractive::effects::{
    effect::Effect,
    leaves::Leaf,
    verbs::{Verb, verb},
};
use crate::phrases::phrases;

/// How much of a name is read, in bytes.
const NAME_BYTES: usize = 128;

/// The words of a tool's name, in lower case: `createIssue`, `create_issue`, `github.create-issue`.
pub(super) struct Name {
    text: String,
    words: Vec<Range<usize>>,
    /// Where the tool's own words start; the words before name its origin.
    own: usize,
}

impl Name {
    pub(super) fn of(name: &str) -> Self {
        let mut words = Self { text: String::new(), words: Vec::new(), own: 0 };
        let mut before = ['\0'; 2];
        let mut chars = name.char_indices().take_while(|(at, _)| *at < NAME_BYTES).peekable();
        while let Some((_, c)) = chars.next() {
            let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            let ends_acronym = before[1].is_uppercase() && c.is_uppercase() && next_is_lower;
            if !c.is_alphanumeric() || before[1].is_lowercase() && c.is_uppercase() || ends_acronym {
                words.end_word();
            }
            if c.is_alphanumeric() {
                words.text.extend(c.to_lowercase());
            } else if matches!(c, '.' | '/' | ':') || c == '_' && before[1] == '_' {
                words.own = words.words.len();
            }
            before = [before[1], c];
        }
        words.end_word();
        words
    }

    fn end_word(&mut self) {
        let start = self.words.last().map_or(0, |word| word.end);
        if start < self.text.len() {
            self.words.push(start..self.text.len());
        }
    }

    pub(super) fn words(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.words.iter().map(|word| &self.text[word.clone()])
    }

    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.words().any(|word| any.contains(&word))
    }

    /// The tool's own words, or all words if it has none.
    fn own(&self) -> Vec<&str> {
        let own: Vec<&str> = self.words().skip(self.own).collect();
        if own.is_empty() { self.words().collect() } else { own }
    }

    /// Whether the tool keeps the agent's own notes: a list that is rewritten each time.
    pub(super) fn takes_notes(&self) -> bool {
        takes_notes(&self.own())
    }

    /// Whether the tool is an editor, whose action is in an argument: `edit`, `str_replace_editor`.
    pub(super) fn is_editor(&self) -> bool {
        self.has(&["edit", "editor"])
    }

    /// The effect indicated by the first word or by a phrase.
    pub(super) fn opening(&self) -> Option<Effect> {
        let own = self.own();
        if takes_notes(&own) {
            return Some(Effect::Reads);
        }
        phrase(&own).or_else(|| strong(own.first()?))
    }

    /// The effect indicated by the words together: the verb is first, or else last, or else after the name of
    /// a service.
    pub(super) fn effect(&self) -> Option<Effect> {
        let own = self.own();
        let all: Vec<&str> = self.words().collect();
        self.opening().or_else(|| of_words(&own)).or_else(|| of_words(&all))
    }
}

/// The effect indicated by `words` together.
pub(super) fn of_words(words: &[&str]) -> Option<Effect> {
    let opens =
        |at: usize| words.get(at).copied().and_then(verb) == Some(Verb::Opens) && words.len() > at + 1;
    phrase(words)
        .or_else(|| strong(words.first()?))
        .or_else(|| opens(0).then_some(()).and_then(|()| object(words)))
        .or_else(|| strong(words.last()?))
        .or_else(|| words.iter().find_map(|word| strong(word)))
        .or_else(|| words.last().filter(|last| verb(last) == Some(Verb::Noun)).map(|_| Effect::Reads))
        .or_else(|| (opens(0) || opens(1)).then_some(Effect::Changes))
        .or_else(|| (words.len() == 1 && verb(words[0]) == Some(Verb::Opens)).then_some(Effect::Changes))
}

/// A verb that can be a noun needs an object after it: `order_status` orders nothing, `book_search` books
/// nothing.
fn object(words: &[&str]) -> Option<Effect> {
    match verb(words.last()?) {
        Some(Verb::Noun | Verb::Reads | Verb::Changes) => None,
        _ => Some(Effect::Changes),
    }
}

/// What two words mean together but not alone: `check_in`, `find_and_replace`, `open_ticket`.
fn phrase(words: &[&str]) -> Option<Effect> {
    const ENDS: &[&str] = &["in", "out", "up", "off", "on", "back"];
    let changing = |word: &&str| matches!(verb(word), Some(Verb::Changes));
    let joins = words.windows(2).any(|two| matches!(two[0], "and" | "or") && changing(&two[1]));
    let replaces = words.len() > 1 && matches!(words[0], "find" | "search") && words.contains(&"replace");
    if joins || replaces {
        return Some(Effect::Changes);
    }
    match words {
        ["check", end, ..] if ENDS.contains(end) => Some(Effect::Changes),
        ["open" | "close" | "resolve", rest @ ..] => {
            let is_case = rest.iter().any(|word| CASES.contains(word));
            Some(if is_case { Effect::Changes } else { Effect::Reads })
        }
        _ => None,
    }
}

/// Things that are opened, closed and resolved for good.
const CASES: [&str; 19] = phrases(
    "account|alert|case|claim|conflict|discussion|dispute|incident|issue|milestone|order|position|pr|pull|\
    request|review|thread|ticket|trade",
);

/// Whether a tool with these words of its own keeps notes.
fn takes_notes(words: &[&str]) -> bool {
    let list = |word: &&str| matches!(*word, "todo" | "todos" | "plan");
    let rest = |word: &&str| list(word) || matches!(*word, "write" | "update" | "set" | "list");
    words.iter().any(list) && words.iter().all(rest) && words.len() <= 3
}

fn strong(word: &str) -> Option<Effect> {
    match verb(word)? {
        Verb::Changes => Some(Effect::Changes),
        Verb::Reads => Some(Effect::Reads),
        Verb::Opens | Verb::Noun => None,
    }
}

/// The effect of the action named in an argument: `command: "view"`, `action: "delete"`, `tool_name:
/// "send_mail"`.
pub(super) fn by_action(arguments: &[Leaf<'_>]) -> Option<Effect> {
    const KEYS: [&str; 9] =
        phrases("command|action|operation|op|sub_command|subcommand|tool_name|tool|function");
    let actions = arguments.iter().filter(|leaf| leaf.is_text && leaf.depth == 1 && KEYS.contains(&leaf.key));
    let words = |leaf: &Leaf<'_>| !leaf.raw.is_empty() && !leaf.raw.contains([' ', '\\']);
    actions.filter(|leaf| words(leaf)).find_map(|leaf| Name::of(leaf.raw).effect())
}
