//! The vocabulary of the grammar, in lower case.

use crate::{Role, phrases::phrases};

/// What a noun refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noun {
    /// An utterance by anyone.
    Message,
    /// An utterance by the assistant, unless a tool is named.
    Reply,
    /// What a tool returned.
    Output,
    /// The system prompt.
    Prompt,
    /// The system utterances.
    Instructions,
    /// An utterance, once its speaker, place or topic is given.
    Thing,
    /// A turn.
    Turn,
    /// A place in the window.
    Position,
    /// A sequence number in the conversation.
    Sequence,
}

/// The noun, and whether it is plural.
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
        "message" | "utterance" | "entry" | "item" | "line" | "msg" | "comment" | "post" | "remark" => {
            Some(Noun::Message)
        }
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

/// The role that a word names.
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

/// The role that a pronoun refers to: the instruction is the user's and addresses the assistant.
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

/// Verbs that mean to forget.
pub(super) const VERBS: [&str; 17] = phrases(
    "get rid of|dispose of|throw away|throw out|clear out|wipe out|forget|remove|delete|drop|erase|discard|\
    clear|wipe|purge|strike|scratch",
);

/// The same verbs after "would you mind".
pub(super) const GERUNDS: [&str; 11] = phrases(
    "getting rid of|forgetting|removing|deleting|dropping|erasing|discarding|clearing|wiping|purging|striking",
);

/// Phrases that mean to forget everything else.
pub(super) const KEEP_ONLY: [&str; 7] =
    phrases("keep only|only keep|keep just|keep nothing but|retain only|only retain|leave only");

/// Phrases that take back what the user said last.
pub(super) const RETRACTIONS: [&str; 2] = ["scratch that", "strike that"];

/// Verbs of saying, for anyone.
pub(super) const SAID: [&str; 18] = phrases(
    "said|says|say|wrote|sent|posted|typed|mentioned|told you|told me|told us|shared|returned|produced|\
    gave you|gave me|reported|stated",
);

/// Verbs of saying for the assistant only: other speakers' answers and replies are not everything they say.
pub(super) const ANSWERED: [&str; 3] = ["answered", "replied", "responded"];

/// Participles of saying: "sent by the user".
pub(super) const SPOKEN: [&str; 14] = phrases(
    "said|mentioned|discussed|written|sent|posted|typed|made|spoken|produced|returned|given|generated|\
    provided",
);

/// Names for the whole conversation.
pub(super) const HISTORY: [&str; 15] = phrases(
    "conversation history|conversation log|chat history|chat log|message history|conversation|chat|history|\
    dialogue|dialog|thread|transcript|log|session|memory",
);

/// How many of the first names in [`HISTORY`] mean it even without an article.
pub(super) const BARE_HISTORY: usize = 8;

/// Verbs of saying that are about a subject, not a text: "what we discussed".
pub(super) const DISCUSSED: [&str; 7] =
    phrases("discussed|talked about|spoke about|spoke of|chatted about|went over|talked over");

/// Words that introduce a subject.
pub(super) const TOPIC: [&str; 22] = phrases(
    "about|regarding|concerning|related to|relating to|pertaining to|referring to|dealing with|\
    having to do with|has to do with|to do with|with regard to|with regards to|with respect to|\
    in relation to|in regard to|in regards to|on the subject of|on the topic of|discussing|talking about|\
    involving",
);

/// Words that introduce a text which the utterance holds.
pub(super) const CONTAINING: [&str; 5] =
    ["mentioning", "containing", "referencing", "with the word", "with the words"];

/// Words that introduce a subject after "that" or "which".
pub(super) const TOPIC_VERBS: [&str; 26] = phrases(
    "concern|concerns|discuss|discusses|discussed|refer to|refers to|referred to|talk about|talks about|\
    talked about|speak about|speaks about|spoke about|deal with|deals with|relate to|relates to|\
    has to do with|have to do with|had to do with|has anything to do with|have anything to do with|involve|\
    involves|involved",
);

/// Words that introduce a text which the utterance holds, after "that" or "which".
pub(super) const CONTAINING_VERBS: [&str; 11] = phrases(
    "mention|mentions|mentioned|contain|contains|contained|include|includes|included|reference|references",
);
