//! The commands of a sequence. They refer to existing things by numbers that wrap around, so any sequence is
//! meaningful, even after some of its commands are removed.

use std::fmt::{self, Display, Formatter};

use utterd::proto::Policy;

use crate::forms::Form;

/// A command and its destination.
#[derive(Clone, Debug)]
pub struct Step {
    pub at: Place,
    /// Which of the engines gets it.
    pub on: usize,
    pub command: Command,
}

/// How a conversation is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By the id `first`.
    First,
    /// By the id `second` and the recipient `ann`.
    Second,
    /// By nothing: the active conversation of `default`.
    Active,
    /// By the id `forked`, or `first` if that was not forked yet.
    Forked,
}

#[derive(Clone, Debug)]
pub enum Command {
    Memorize {
        says: Vec<Say>,
        lenient: bool,
        /// Replaces this many messages.
        instead: Option<u8>,
        /// An utterance with an existing id replaces the stored one.
        upsert: bool,
        /// As messages in a provider's format.
        messages: bool,
        state: Option<Values>,
        /// Also changes the recipient's own state.
        own: Option<Values>,
        attempt: Attempt,
    },
    Forget {
        form: Form,
        english: bool,
        hard: bool,
        dry_run: bool,
        /// Asks for the messages in the response.
        told: bool,
        attempt: Attempt,
    },
    /// Forgets by selector.
    Drop {
        named: Named,
        how: How,
        dry_run: bool,
        /// Asks for the messages in the response.
        told: bool,
        attempt: Attempt,
    },
    Restore {
        picks: Vec<u8>,
        unknown: bool,
        attempt: Attempt,
    },
    Mark {
        pick: u8,
        pinned: Option<bool>,
        note: Option<u8>,
        attempt: Attempt,
    },
    Update {
        policy: Option<Policy>,
        title: Option<u8>,
        attempt: Attempt,
    },
    Create {
        policy: Option<Policy>,
        cl100k: bool,
        attempt: Attempt,
    },
    /// Changes the state, or the recipient's own.
    Keep {
        values: Values,
        own: bool,
        attempt: Attempt,
    },
    /// Forks it before this many of the newest.
    Fork {
        back: u8,
        attempt: Attempt,
    },
    /// Compacts this many of the oldest.
    Compact {
        count: u8,
        no_summary: bool,
        preview: bool,
        attempt: Attempt,
    },
    /// Undoes the last compaction.
    Undo {
        attempt: Attempt,
    },
    End {
        attempt: Attempt,
    },
    Delete {
        attempt: Attempt,
    },
    /// Minutes pass.
    Wait(u32),
    /// The server stops, and another one opens its store.
    Restart,
    /// Sends an earlier request with a request id again.
    Retry(u8),
    /// Sends another request with the id of an earlier one.
    Reuse(u8),
    List {
        last: Option<u8>,
        newest_first: bool,
        archive: bool,
        forgotten: bool,
        page: u8,
    },
    Messages(Listing),
    Remember(Search),
    Summarize {
        scope: Scope,
        limit: Option<u8>,
        focus: bool,
    },
    Count {
        says: Vec<Say>,
    },
    /// Reads the trace again from one of its events on.
    Watch(u8),
    /// Reads state values by name.
    Kept(Vec<u8>),
    /// Lists the conversations of the place's recipient.
    Conversations,
}

/// Whether a call names its attempt, and which revision it expects.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempt {
    pub named: bool,
    /// The difference between the expected revision and the current one.
    pub expects: Option<i8>,
}

/// Values to set and to delete.
#[derive(Clone, Debug)]
pub struct Values {
    /// Names, each with its new value.
    pub set: Vec<(u8, u8)>,
    pub delete: Vec<u8>,
    /// Names, each with the difference between the expected version and the current one.
    pub expects: Vec<(u8, i8)>,
}

/// The contents of a selector.
#[derive(Clone, Debug)]
pub struct Named {
    pub picks: Vec<u8>,
    /// The first sequence and how many follow it.
    pub sequences: Option<(u8, u8)>,
    pub newest: Option<u8>,
}

/// How something is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Soft,
    Hard,
    /// Possibly a part of an exchange.
    Exact,
}

/// The messages to list.
#[derive(Clone, Debug)]
pub struct Listing {
    pub last: Option<u8>,
    /// After which sequence, and before which one.
    pub after: Option<u8>,
    pub before: Option<u8>,
    pub role: Option<u8>,
    pub picks: Vec<u8>,
    pub newest_first: bool,
    pub skip: u8,
    pub page: u8,
}

/// An utterance to say.
#[derive(Clone, Debug)]
pub struct Say {
    pub who: Who,
    /// The number of the content.
    pub text: u8,
    pub name: Option<u8>,
    pub id: Given,
    /// The difference between its turn number and the last one.
    pub turn: Option<i8>,
    /// Said this many minutes ago.
    pub ago: Option<u8>,
    pub pinned: bool,
    pub note: bool,
    pub awaits: bool,
    pub extras: bool,
}

#[derive(Clone, Debug)]
pub enum Who {
    System,
    User,
    Assistant,
    /// The assistant, calling tools with these ids.
    Calls(Vec<u8>),
    /// A tool that answers one of the open calls; the assistant if none is open.
    Answer(u8),
    /// A tool that answers a call with this id, open or not.
    Result(u8),
    /// A tool without a call id.
    Stray,
    /// An assistant that says nothing.
    Silence,
    /// An unknown role.
    Nobody,
}

/// The utterance's id.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    ByServer,
    New,
    /// That of an earlier utterance with a given id, stored or not.
    Earlier(u8),
    /// That of an earlier utterance, made by the server.
    Assigned(u8),
}

/// A Remember.
#[derive(Clone, Debug)]
pub struct Search {
    pub prompt: Prompt,
    /// WINDOW, CONVERSATION or RECIPIENT.
    pub scope: i32,
    pub recency: bool,
    pub neighbors: u8,
    pub page: u8,
    pub role: Option<u8>,
    pub name: Option<u8>,
    pub pinned: Option<bool>,
    pub noted: bool,
    /// The lowest turn and how many follow it.
    pub turns: Option<(u8, u8)>,
    /// The lowest sequence and how many follow it.
    pub sequences: Option<(u8, u8)>,
    /// Said at most this many minutes ago.
    pub since: Option<u8>,
}

#[derive(Clone, Debug)]
pub enum Prompt {
    None,
    /// A marker, of whatever was said, forgotten or not.
    Marker(u8),
    /// Words that many hold.
    Words,
}

#[derive(Clone, Debug)]
pub enum Scope {
    All,
    Recent(u8),
    Evicted,
    Turns(u8, u8),
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = match self.at {
            Place::First => "",
            Place::Second => "second: ",
            Place::Active => "active: ",
            Place::Forked => "forked: ",
        };
        let engine = if self.on == 0 { "" } else { "on the other, " };
        write!(f, "{engine}{place}{}", self.command)
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memorize { says, lenient, instead, upsert, messages, state, own, attempt } => {
                let upsert = if *upsert { " or replace" } else { "" };
                let messages = if *messages { " as messages" } else { "" };
                let lenient = if *lenient { " leniently" } else { "" };
                let state = state.as_ref().map(|values| format!(", and {values}")).unwrap_or_default();
                let own = own.as_ref().map(|values| format!(", and of its own {values}")).unwrap_or_default();
                let instead = instead.map(|count| format!(" instead of {count}")).unwrap_or_default();
                write!(
                    f,
                    "memorize{upsert}{messages}{lenient}{instead} [{}]{state}{own}{attempt}",
                    list(says)
                )
            }
            Self::Forget { form, english, hard, dry_run, told, attempt } => {
                let mode = if *hard { "erase" } else { "forget" };
                let told = if *told { ", telling it" } else { "" };
                let english = if *english { " in English" } else { "" };
                let dry = if *dry_run { ", dry run" } else { "" };
                write!(f, "{mode} {form:?}{english}{dry}{told}{attempt}")
            }
            Self::Drop { named, how, dry_run, told, attempt } => {
                let dry = if *dry_run { ", dry run" } else { "" };
                let told = if *told { ", telling it" } else { "" };
                write!(f, "forget {how:?} {named:?}{dry}{told}{attempt}")
            }
            Self::Restore { picks, unknown, attempt } => {
                write!(f, "restore {picks:?}{}{attempt}", if *unknown { " and an unknown" } else { "" })
            }
            Self::Mark { pick, pinned, note, attempt } => {
                write!(f, "mark {pick}: pinned {pinned:?}, note {note:?}{attempt}")
            }
            Self::Update { policy, title, attempt } => {
                let policy = policy.as_ref().map_or("as it is".to_owned(), shown);
                write!(f, "update: title {title:?}, policy {policy}{attempt}")
            }
            Self::Create { policy, cl100k, attempt } => {
                let policy = policy.as_ref().map_or("the default".to_owned(), shown);
                write!(f, "create{}: policy {policy}{attempt}", if *cl100k { " in cl100k" } else { "" })
            }
            Self::Keep { values, own, attempt } => {
                write!(f, "{}{values}{attempt}", if *own { "of its own " } else { "" })
            }
            Self::Compact { count, no_summary, preview, attempt } => {
                let summary = if *no_summary { " without a summary" } else { "" };
                let preview = if *preview { ", previewed" } else { "" };
                write!(f, "compact {count}{summary}{preview}{attempt}")
            }
            Self::Fork { back, attempt } => write!(f, "fork {back}{attempt}"),
            Self::Undo { attempt } => write!(f, "undo{attempt}"),
            Self::End { attempt } => write!(f, "end{attempt}"),
            Self::Delete { attempt } => write!(f, "delete{attempt}"),
            other => write!(f, "{other:?}"),
        }
    }
}

impl Display for Values {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "keep {:?}, delete {:?}, expecting {:?}", self.set, self.delete, self.expects)
    }
}

impl Display for Attempt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.named {
            write!(f, ", with a request id")?;
        }
        match self.expects {
            Some(off) => write!(f, ", expecting the revision{off:+}"),
            None => Ok(()),
        }
    }
}

impl Display for Say {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}#{}", self.who, self.text)?;
        self.name.iter().try_for_each(|name| write!(f, " name{name}"))?;
        self.turn.iter().try_for_each(|turn| write!(f, " turn{turn:+}"))?;
        self.ago.iter().try_for_each(|ago| write!(f, " ago{ago}"))?;
        if !matches!(self.id, Given::ByServer) {
            write!(f, " {:?}", self.id)?;
        }
        let flags =
            [(self.pinned, "pinned"), (self.note, "noted"), (self.awaits, "awaits"), (self.extras, "extras")];
        flags.iter().filter(|(set, _)| *set).try_for_each(|(_, flag)| write!(f, " {flag}"))
    }
}

/// Entries, separated by commas.
pub fn list<T: Display>(entries: &[T]) -> String {
    entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The fields of a policy that are set.
fn shown(policy: &Policy) -> String {
    let numbers = [
        ("max_utterances", policy.max_utterances),
        ("keep_utterances", policy.keep_utterances),
        ("max_tokens", policy.max_tokens),
        ("keep_tokens", policy.keep_tokens),
        ("max_turns", policy.max_turns),
        ("keep_turns", policy.keep_turns),
        ("summary_token_limit", policy.summary_token_limit),
        ("archive_limit", policy.archive_limit),
        ("preset", Some(policy.preset).filter(|preset| *preset != 0)),
        ("oversize", Some(policy.oversize).filter(|oversize| *oversize != 0)),
        ("summarization_enabled", policy.summarization_enabled.map(i32::from)),
    ];
    let set = numbers.iter().filter_map(|(name, value)| Some(format!("{name}: {}", (*value)?)));
    format!("{{{}}}", set.collect::<Vec<_>>().join(", "))
}
