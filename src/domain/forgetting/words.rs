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
pub(super) const VERBS: [&str; 17] = [
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
    "scratch",
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

/// What takes back what the user said last.
pub(super) const RETRACTIONS: [&str; 2] = ["scratch that", "strike that"];

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

/// How many of [`HISTORY`] mean it also without an article.
pub(super) const BARE_HISTORY: usize = 8;

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
