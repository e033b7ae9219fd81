//! Forget instructions: their wording and their meaning.

use utterd::proto::{ForgetSelector, Role, SequenceRange};

use crate::{
    commands::Named,
    naive::{Conversation, Criterion, Selection, Take},
    text::{NAMES, TOPICS, marker},
};

/// An instruction before its numbers are fitted to the conversation.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Oldest,
    Newest,
    First(u8),
    Last(u8),
    FirstTurns(u8),
    LastTurns(u8),
    /// A position and how many follow it.
    Position(u8, u8),
    /// Turns are counted back from the newest.
    Before(u8),
    After(u8),
    Turn(u8, u8),
    Speaker(u8),
    Name(u8),
    Sequence(u8, u8),
    Id(u8),
    AboutMarker(u8),
    AboutTopic(u8),
    All,
    SpeakerBefore(u8, u8),
    SpeakerLast(u8, u8),
    SpeakerAbout(u8, u8),
    NameAfter(u8, u8),
    /// Something nobody can understand.
    Nonsense(u8),
}

const ROLES: [(Role, &str); 4] =
    [(Role::User, "user"), (Role::Assistant, "assistant"), (Role::Tool, "tool"), (Role::System, "system")];
const NONSENSE: [&str; 8] =
    ["", "banana", "last:0", "position:0", "turn:3-1", "all speaker:user", "before:turn_0", "speaker:robot"];

impl Form {
    /// The instruction in words, and its meaning; `None` if it must be refused.
    pub fn spell(self, conversation: Option<&Conversation>, english: bool) -> (String, Option<Selection>) {
        if let Self::Nonsense(which) = self {
            return (NONSENSE[usize::from(which) % NONSENSE.len()].to_owned(), None);
        }
        let fitted = Fitted(conversation);
        let (short, criteria, take) = self.short(&fitted);
        let words = english.then(|| self.english(&fitted)).flatten();
        let english = words.is_some();
        (words.unwrap_or(short), Some(Selection { criteria, take, english }))
    }

    fn short(self, fitted: &Fitted<'_>) -> (String, Vec<Criterion>, Option<Take>) {
        let one = |text: String, criterion: Criterion| (text, vec![criterion], None);
        let count = |text: String, take: Take| (text, Vec::new(), Some(take));
        let about = |word: &str| Criterion::About(word.to_owned());
        match self {
            Self::Oldest => count("oldest".into(), Take::Oldest(1)),
            Self::Newest => count("newest".into(), Take::Newest(1)),
            Self::First(n) => count(format!("first:{}", above(n)), Take::Oldest(above(n))),
            Self::Last(n) => count(format!("last:{}", above(n)), Take::Newest(above(n))),
            Self::FirstTurns(n) => one(format!("first:{}_turns", above(n)), Criterion::FirstTurns(above(n))),
            Self::LastTurns(n) => one(format!("last:{}_turns", above(n)), Criterion::LastTurns(above(n))),
            Self::Position(at, more) => {
                let (first, last) = fitted.positions(at, more);
                one(format!("position:{}", span(first, last)), Criterion::Position(first, last))
            }
            Self::Before(back) => {
                let turn = fitted.turn(back);
                one(format!("before:turn_{turn}"), Criterion::Before(turn))
            }
            Self::After(back) => {
                let turn = fitted.turn(back);
                one(format!("after:turn_{turn}"), Criterion::After(turn))
            }
            Self::Turn(back, more) => {
                let (first, last) = (fitted.turn(back), fitted.turn(back) + i32::from(more % 3));
                one(format!("turn:{}", span(first, last)), Criterion::Turn(first, last))
            }
            Self::Speaker(who) => one(format!("speaker:{}", role(who).1), Criterion::Speaker(role(who).0)),
            Self::Name(name) => one(format!("name:{}", called(name)), Criterion::Name(called(name).into())),
            Self::Sequence(at, more) => {
                let (first, last) = fitted.sequences(at, more);
                one(format!("sequence:{}", span(first, last)), Criterion::Sequence(first, last))
            }
            Self::Id(pick) => {
                let id = fitted.id(pick);
                one(format!("id:{id}"), Criterion::Id(id))
            }
            Self::AboutMarker(pick) => {
                let word = fitted.marker(pick);
                one(format!("about:{word}"), about(&word))
            }
            Self::AboutTopic(which) => one(format!("about:{}", topic(which)), about(topic(which))),
            Self::All => one("all".into(), Criterion::All),
            Self::SpeakerBefore(who, back) => {
                let ((role, name), turn) = (role(who), fitted.turn(back));
                let criteria = vec![Criterion::Speaker(role), Criterion::Before(turn)];
                (format!("speaker:{name} before:turn_{turn}"), criteria, None)
            }
            Self::SpeakerLast(who, n) => {
                let text = format!("speaker:{} last:{}", role(who).1, above(n));
                (text, vec![Criterion::Speaker(role(who).0)], Some(Take::Newest(above(n))))
            }
            Self::SpeakerAbout(who, which) => {
                let text = format!("speaker:{} about:{}", role(who).1, topic(which));
                (text, vec![Criterion::Speaker(role(who).0), about(topic(which))], None)
            }
            Self::NameAfter(name, back) => {
                let turn = fitted.turn(back);
                let criteria = vec![Criterion::Name(called(name).into()), Criterion::After(turn)];
                (format!("name:{}, after:turn_{turn}", called(name)), criteria, None)
            }
            Self::Nonsense(_) => unreachable!("spelt before"),
        }
    }

    /// The same in plain English, for forms that have a phrase here.
    fn english(self, fitted: &Fitted<'_>) -> Option<String> {
        let several = |n: u8| (above(n) > 1).then(|| above(n));
        Some(match self {
            Self::Oldest => "forget the oldest message".into(),
            Self::Newest => "please delete the newest message, thanks".into(),
            Self::First(n) => format!("remove the {} oldest items", several(n)?),
            Self::Last(n) => format!("Forget the last {} messages.", several(n)?),
            Self::LastTurns(n) => format!("let's forget the last {} turns, ok?", several(n)?),
            Self::Position(at, more) => match fitted.positions(at, more) {
                (first, last) if first == last => format!("drop message number {first}"),
                (first, last) => format!("drop messages {first} to {last}"),
            },
            Self::Before(back) => format!("forget everything that came before turn {}", fitted.turn(back)),
            Self::After(back) => format!("forget everything after turn {}", fitted.turn(back)),
            Self::Turn(back, 0) => format!("erase turn {}", fitted.turn(back)),
            Self::Speaker(who) => match role(who).0 {
                Role::User => "delete all of my messages".into(),
                Role::Assistant => "forget everything the model said".into(),
                Role::Tool => "remove all tool results".into(),
                _ => "forget the system messages".into(),
            },
            Self::Name(name) => format!("forget what {} said", ["Ann", "Bob"].get(usize::from(name % 3))?),
            Self::AboutMarker(pick) => format!("forget everything about {}", fitted.marker(pick)),
            Self::AboutTopic(which) => format!("forget all messages mentioning {}", topic(which)),
            Self::All => "wipe the whole history".into(),
            Self::SpeakerBefore(who, back) if role(who).0 == Role::User => {
                format!("remove everything the user said before turn {}", fitted.turn(back))
            }
            Self::SpeakerLast(who, n) if role(who).0 == Role::Assistant => {
                format!("forget your last {} replies", several(n)?)
            }
            _ => return None,
        })
    }
}

impl Named {
    /// As a selector.
    pub fn selector(&self, conversation: Option<&Conversation>) -> ForgetSelector {
        let fitted = Fitted(conversation);
        let range = self.sequences.map(|(at, more)| fitted.sequences(at, more));
        ForgetSelector {
            utterance_ids: self.picks.iter().map(|pick| fitted.id(*pick)).collect(),
            sequences: range.map(|(first, last)| SequenceRange { first, last }).into_iter().collect(),
            newest_messages: self.newest.map(|newest| i32::from(newest) + 1),
        }
    }
}

/// Fits numbers to what a conversation contains, and slightly beyond.
struct Fitted<'a>(Option<&'a Conversation>);

impl Fitted<'_> {
    fn said(&self) -> usize {
        self.0.map_or(0, |conversation| conversation.said.len())
    }

    fn turn(&self, back: u8) -> i32 {
        let newest = self.0.map_or(0, Conversation::last_turn);
        (newest + 1 - i32::from(back) % (newest + 2)).max(1)
    }

    fn positions(&self, at: u8, more: u8) -> (i32, i32) {
        let slots = self.0.map_or(0, |conversation| conversation.window().len());
        let first = usize::from(at) % (slots + 1) + 1;
        (first as i32, first as i32 + i32::from(more % 3))
    }

    fn sequences(&self, at: u8, more: u8) -> (i64, i64) {
        let first = usize::from(at) % (self.said() + 1) + 1;
        (first as i64, first as i64 + i64::from(more % 4))
    }

    fn id(&self, pick: u8) -> String {
        let id = self.0.and_then(|conversation| conversation.any_id(pick));
        id.unwrap_or_else(|| "nothing".into())
    }

    fn marker(&self, pick: u8) -> String {
        marker(self.0.and_then(|conversation| conversation.any_marker(pick)).unwrap_or(0))
    }
}

fn above(n: u8) -> usize {
    usize::from(n % 5) + 1
}

fn role(who: u8) -> (Role, &'static str) {
    ROLES[usize::from(who) % ROLES.len()]
}

fn called(name: u8) -> &'static str {
    NAMES[usize::from(name) % NAMES.len()]
}

fn topic(which: u8) -> &'static str {
    TOPICS[usize::from(which) % TOPICS.len()]
}

fn span<T: std::fmt::Display + PartialEq>(first: T, last: T) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}
