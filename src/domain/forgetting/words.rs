//! The words that the grammar knows, in lower case.

use crate::domain::Role;

/// What a noun stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noun {
    /// An utterance of anyone.
    Message,
    /// An utterance of the assistant, unless a tool is named.
    Reply,
    /// What a tool returned.
    Output,
    /// The system prompt.
    Prompt,
    /// The system utterances.
    Instructions,
    /// An utterance, once who said it, where or about what is told.
    Thing,
    /// A turn.
    Turn,
    /// A place in the window.
    Position,
    /// A place in the conversation's life.
    Sequence,
}

/// The noun, and whether it is a plural.
pub(super) fn noun(word: &str) -> Option<(Noun, bool)> {
    match word {
        "instructions" => Some((Noun::Instructions, true)),
        "entries" => Some((Noun::Message, true)),
        "replies" => Some((Noun::Reply, true)),
        _ => match word.strip_suffix('s') {
            Some(stem) => singular(stem).map(|noun| (noun, true)),
            None => singular(word).map(|noun| (noun, false)),
        },
    }
}

fn singular(word: &str) -> Option<Noun> {
    match word {
        "message" | "utterance" | "entry" | "item" | "line" | "msg" => Some(Noun::Message),
        "reply" | "response" | "answer" => Some(Noun::Reply),
        "result" | "output" => Some(Noun::Output),
        "prompt" => Some(Noun::Prompt),
        "thing" => Some(Noun::Thing),
        "turn" => Some(Noun::Turn),
        "position" => Some(Noun::Position),
        "sequence" => Some(Noun::Sequence),
        _ => None,
    }
}

/// The role that a word stands for.
pub(super) fn role(word: &str) -> Option<Role> {
    match word {
        "user" | "users" | "human" | "humans" => Some(Role::User),
        "assistant" | "assistants" | "agent" | "agents" | "bot" | "bots" | "model" | "models" | "ai" => {
            Some(Role::Assistant)
        }
        "system" => Some(Role::System),
        "tool" | "tools" | "function" | "functions" => Some(Role::Tool),
        _ => None,
    }
}

/// The role of a speaker who is named by a pronoun: the instruction is the user's, and
/// spoken to the assistant.
pub(super) fn pronoun(word: &str) -> Option<Role> {
    match word {
        "i" | "me" => Some(Role::User),
        "you" => Some(Role::Assistant),
        _ => None,
    }
}

/// Which end a word names: true for the oldest.
pub(super) fn end(word: &str) -> Option<bool> {
    match word {
        "oldest" | "earliest" | "first" => Some(true),
        "newest" | "latest" | "last" | "final" => Some(false),
        _ => None,
    }
}

/// To forget.
pub(super) const VERBS: [&str; 16] = [
    "get rid of",
    "dispose of",
    "throw away",
    "throw out",
    "clear out",
    "wipe out",
    "forget",
    "remove",
    "delete",
    "drop",
    "erase",
    "discard",
    "clear",
    "wipe",
    "purge",
    "strike",
];

/// The same after "would you mind".
pub(super) const GERUNDS: [&str; 11] = [
    "getting rid of",
    "forgetting",
    "removing",
    "deleting",
    "dropping",
    "erasing",
    "discarding",
    "clearing",
    "wiping",
    "purging",
    "striking",
];

/// Verbs of saying, for anyone.
pub(super) const SAID: [&str; 17] = [
    "said",
    "says",
    "say",
    "wrote",
    "sent",
    "posted",
    "typed",
    "mentioned",
    "told you",
    "told me",
    "told us",
    "returned",
    "produced",
    "gave you",
    "gave me",
    "reported",
    "stated",
];

/// Verbs of saying, for the assistant only: what others answer or reply is not all they say.
pub(super) const ANSWERED: [&str; 3] = ["answered", "replied", "responded"];

/// Participles of saying: "sent by the user".
pub(super) const SPOKEN: [&str; 12] = [
    "said",
    "written",
    "sent",
    "posted",
    "typed",
    "made",
    "spoken",
    "produced",
    "returned",
    "given",
    "generated",
    "provided",
];

/// What the whole conversation is called.
pub(super) const HISTORY: [&str; 15] = [
    "conversation history",
    "conversation log",
    "chat history",
    "chat log",
    "message history",
    "conversation",
    "chat",
    "history",
    "dialogue",
    "dialog",
    "thread",
    "transcript",
    "log",
    "session",
    "memory",
];

/// What introduces a text to look for.
pub(super) const TOPIC: [&str; 15] = [
    "about",
    "regarding",
    "concerning",
    "mentioning",
    "containing",
    "related to",
    "relating to",
    "pertaining to",
    "referring to",
    "dealing with",
    "having to do with",
    "with regard to",
    "with respect to",
    "on the subject of",
    "on the topic of",
];

/// What introduces a text to look for after "that" or "which".
pub(super) const TOPIC_VERBS: [&str; 19] = [
    "mention",
    "mentions",
    "mentioned",
    "contain",
    "contains",
    "contained",
    "concern",
    "concerns",
    "discuss",
    "discusses",
    "discussed",
    "refer to",
    "refers to",
    "referred to",
    "talk about",
    "talks about",
    "talked about",
    "deal with",
    "deals with",
];

/// Why a sentence, or an unquoted text to look for, that holds `word` is refused wherever it
/// stands: an exception, a negation or a condition would turn the meaning of all the rest.
pub(super) fn refused(word: &str) -> Option<&'static str> {
    match word {
        "except" | "excepting" | "exception" | "excluding" | "exclude" | "excludes" | "but" | "besides"
        | "barring" | "save" | "only" | "rather" | "instead" | "however" | "although" | "though"
        | "aside" | "apart" => {
            Some("an exception cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        "not" | "never" | "no" | "none" | "nor" | "neither" | "without" | "cannot" | "dont" | "doesnt"
        | "didnt" | "cant" | "wont" | "keep" | "keeping" | "keeps" | "kept" | "retain" | "preserve" => {
            Some("what to keep cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        "if" | "unless" | "whenever" | "otherwise" => {
            Some("a condition cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        _ if word.ends_with("n't") => {
            Some("a negation cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        _ => None,
    }
}

/// Whether a word can only begin another instruction, after "and", "then" or a comma.
pub(super) fn begins_another(word: &str) -> bool {
    let verb = VERBS.contains(&word) || GERUNDS.contains(&word);
    verb || end(word).is_some()
        || TOPIC.contains(&word)
        || matches!(
            word,
            "remember"
                | "store"
                | "memorize"
                | "memorise"
                | "recall"
                | "restore"
                | "leave"
                | "tell"
                | "say"
                | "show"
                | "send"
                | "add"
                | "write"
                | "start"
                | "begin"
                | "continue"
                | "summarize"
                | "summarise"
                | "let"
                | "make"
                | "give"
                | "do"
                | "get"
                | "go"
                | "stop"
                | "then"
                | "also"
                | "please"
                | "everything"
                | "anything"
                | "nothing"
                | "all"
                | "what"
                | "whatever"
                | "every"
                | "my"
                | "your"
                | "i"
                | "you"
                | "before"
                | "after"
                | "from"
                | "by"
        )
}

/// Units of time, and days.
fn unit_of_time(word: &str) -> bool {
    let word = word.strip_suffix('s').unwrap_or(word);
    matches!(
        word,
        "second"
            | "minute"
            | "hour"
            | "day"
            | "week"
            | "weekend"
            | "month"
            | "year"
            | "morning"
            | "afternoon"
            | "evening"
            | "night"
            | "noon"
            | "midnight"
            | "monday"
            | "tuesday"
            | "wednesday"
            | "thursday"
            | "friday"
            | "saturday"
            | "sunday"
            | "january"
            | "february"
            | "march"
            | "april"
            | "may"
            | "june"
            | "july"
            | "august"
            | "september"
            | "october"
            | "november"
            | "december"
    )
}

/// Whether `words`, the end of a text, tell a time: "yesterday", "last week", "on Monday".
pub(super) fn ends_in_time(words: &[&str]) -> bool {
    match words {
        [
            ..,
            "yesterday" | "today" | "tonight" | "tomorrow" | "earlier" | "recently" | "ago" | "now"
            | "lately" | "already" | "again" | "before" | "after" | "since" | "afterwards" | "later",
        ] => true,
        [
            ..,
            "last" | "this" | "next" | "past" | "previous" | "that" | "on" | "in" | "since" | "until",
            unit,
        ] => unit_of_time(unit),
        [.., "last" | "this" | "next" | "past" | "previous" | "in", _, unit] => unit_of_time(unit),
        _ => false,
    }
}

/// Whether a word says nothing by itself, so that a text of only such words names no topic.
pub(super) fn says_nothing(word: &str) -> bool {
    matches!(
        word,
        "it" | "its"
            | "that"
            | "this"
            | "these"
            | "those"
            | "them"
            | "they"
            | "him"
            | "he"
            | "her"
            | "she"
            | "me"
            | "i"
            | "you"
            | "us"
            | "we"
            | "myself"
            | "yourself"
            | "himself"
            | "herself"
            | "themselves"
            | "itself"
            | "everything"
            | "anything"
            | "something"
            | "nothing"
            | "all"
            | "what"
            | "whatever"
            | "which"
            | "who"
            | "someone"
            | "anyone"
            | "everyone"
            | "somebody"
            | "anybody"
            | "everybody"
            | "the"
            | "a"
            | "an"
            | "any"
            | "some"
            | "my"
            | "your"
            | "our"
            | "of"
            | "to"
            | "in"
            | "on"
            | "one"
            | "ones"
            | "there"
            | "here"
            | "thing"
            | "things"
            | "stuff"
            | "both"
            | "each"
            | "every"
            | "and"
            | "topic"
            | "subject"
            | "same"
            | "such"
    )
}

/// Whether a word cannot be someone's name unless quoted.
pub(super) fn is_no_name(word: &str) -> bool {
    let time = unit_of_time(word) || ends_in_time(&[word]);
    time || says_nothing(word)
        || noun(word).is_some()
        || role(word).is_some()
        || end(word).is_some()
        || begins_another(word)
        || HISTORY.contains(&word)
        || SAID.contains(&word)
        || SPOKEN.contains(&word)
        || matches!(
            word,
            "for"
                | "at"
                | "with"
                | "between"
                | "during"
                | "within"
                | "through"
                | "till"
                | "until"
                | "while"
                | "when"
                | "where"
                | "how"
                | "why"
                | "or"
                | "as"
                | "is"
                | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "had"
                | "be"
                | "been"
                | "his"
                | "their"
                | "people"
                | "whoever"
                | "whose"
                | "window"
                | "buffer"
                | "context"
                | "archive"
                | "summary"
                | "turn"
                | "id"
                | "name"
                | "number"
                | "few"
                | "several"
                | "many"
                | "most"
                | "half"
                | "couple"
                | "recent"
                | "previous"
                | "next"
                | "so"
                | "just"
                | "thanks"
                | "thank"
                | "summaries"
        )
}
