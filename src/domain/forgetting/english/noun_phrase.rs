//! Noun phrases: "the last three messages", "Alice's messages", "the tool results", "turn 4",
//! "the whole conversation".

use crate::domain::{
    Role,
    forgetting::{
        Criterion, InstructionError, Take, doubts,
        time::Stretch,
        words::{self, Noun},
    },
};

use super::{
    cursor::{Cursor, Kind},
    modifier::modifiers,
    number::{count, dash, narrow, ordered, ordinal},
    place::{places, scope},
    reference::{Reference, numbered},
    selection::{NARROWER, Selection},
    time::{possessive, timed},
};

const AMONG: &str =
    "only the first or the last of a selection can be counted; or give a position in the window alone";
const HOW_MANY: &str = "say how many, as in: the last three messages";
const WHICH: &str = "say which: the first or the last ones, a number, or all of them";
const TWO_SPEAKERS: &str = "two speakers, but a message has only one";
const REPLIES: &str = "replies are the assistant's or a tool's; say messages for anyone else's";
const OUTPUTS: &str = "say whose: the tool results";
const PROMPTS: &str = "say messages, or the system prompt";

/// The quantity before a noun phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// No quantity.
    Plain,
    /// "all".
    All,
    /// "every", "each".
    Each,
    /// "any".
    Any,
    /// "the last three of".
    Among,
}

/// Which of the noun's utterances are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    /// Not specified.
    None,
    /// From one end (true for the oldest), and how many.
    End(bool, Option<u64>),
    /// A number without an end.
    Count,
    /// By number, from the first to the last.
    Ordinal(u64, u64),
}

/// What precedes a noun.
struct Front {
    /// Where the phrase begins.
    start: usize,
    quantity: Quantity,
    /// The day: "today's".
    day: Option<Stretch>,
    /// The owner: "my", "Alice's".
    owner: Option<Criterion>,
    pick: Pick,
    /// "user" in "user messages".
    role: Option<Role>,
}

/// Consumes a noun phrase and its modifiers; nothing if there is none.
///
/// # Errors
/// A phrase that leaves open which utterances are meant, or that no criteria can express.
pub(super) fn noun_phrase(
    cursor: &mut Cursor<'_>,
    quantity: Quantity,
) -> Result<Option<Selection>, InstructionError> {
    let start = cursor.at();
    let day = possessive(cursor);
    let owner = if day.is_none() { owner(cursor) } else { None };
    if owner.is_none() {
        let definite = cursor.word("the");
        let whole_allowed = matches!(quantity, Quantity::Plain | Quantity::All);
        if whole_allowed && history(cursor, definite || day.is_some(), quantity == Quantity::All) {
            return whole(cursor, day).map(Some);
        }
    }
    let pick = pick(cursor)?;
    if let (Pick::End(oldest, count), None, None) = (pick, &owner, day)
        && quantity != Quantity::Among
        && let Some(selection) = among(cursor, start, oldest, count)?
    {
        return Ok(Some(selection));
    }
    let role =
        words::role(cursor.peek_word()).filter(|_| words::noun(cursor.word_at(cursor.at() + 1)).is_some());
    if role.is_some() {
        cursor.advance();
    }
    let front = Front { start, quantity, day, owner, pick, role };
    match words::noun(cursor.peek_word()) {
        Some((noun, plural)) => {
            cursor.advance();
            front.with_noun(cursor, noun, plural).map(Some)
        }
        None if front.stands_alone() => front.utterances(cursor, Noun::Message, false).map(Some),
        None => {
            cursor.back(start);
            Ok(None)
        }
    }
}

/// Consumes "my", "the user's", "Alice's".
fn owner(cursor: &mut Cursor<'_>) -> Option<Criterion> {
    let start = cursor.at();
    if cursor.word("my") {
        return Some(Criterion::Speaker(Role::User));
    }
    if cursor.word("your") && !words::HISTORY.contains(&cursor.peek_word()) {
        return Some(Criterion::Speaker(Role::Assistant));
    }
    cursor.back(start);
    cursor.word("the");
    let role = words::role(cursor.peek_word());
    if let Some(role) = role {
        cursor.advance();
        if cursor.any(&["'s", "'"]) {
            return Some(Criterion::Speaker(role));
        }
    }
    cursor.back(start);
    let lower =
        (cursor.word_at(start + 1) == "'s" && !doubts::is_no_name(cursor.peek_word())).then(|| cursor.peek());
    let lower = lower.flatten().filter(|token| token.kind == Kind::Word).map(|token| token.text.to_owned());
    let name = cursor.name(doubts::is_no_name).or_else(|| {
        cursor.advance();
        lower
    });
    if name.is_some() && cursor.any(&["'s", "'"]) {
        return name.map(Criterion::Name);
    }
    cursor.back(start);
    None
}

/// Consumes "whole conversation", "our chat", "your memory". Without a determiner, consumes only names that
/// cannot be mistaken for a topic.
fn history(cursor: &mut Cursor<'_>, definite: bool, all: bool) -> bool {
    let start = cursor.at();
    if !definite && cursor.phrase("your memory") {
        return true;
    }
    let determined = definite || cursor.any(&["this", "our"]);
    let adjective = cursor.any(&["whole", "entire", "complete", "full"]);
    let bare = !determined && !adjective && !all;
    let found = cursor.phrases(if bare { &words::HISTORY[..words::BARE_HISTORY] } else { &words::HISTORY });
    if !found {
        cursor.back(start);
    }
    found
}

/// Consumes what follows the whole conversation, which can only be places and times.
fn whole(cursor: &mut Cursor<'_>, day: Option<Stretch>) -> Result<Selection, InstructionError> {
    let mut selection = Selection::default();
    if let Some(day) = day {
        selection.add_time(day);
    }
    places(cursor, &mut selection)?;
    while timed(cursor, &mut selection)? {
        places(cursor, &mut selection)?;
    }
    match selection.is_bare() {
        true if cursor.done() => Ok(Selection::of(Criterion::All)),
        true => Err(cursor.not_understood()),
        false => Ok(selection),
    }
}

/// Consumes "last three", "3 oldest", "third", "second to fourth".
fn pick(cursor: &mut Cursor<'_>) -> Result<Pick, InstructionError> {
    let start = cursor.at();
    if let Some(first) = ordinal(cursor)? {
        let after = cursor.at();
        if cursor.any(&["to", "through"]) || dash(cursor) {
            cursor.word("the");
            if let Some(last) = ordinal(cursor)? {
                ordered(cursor, start, first, last)?;
                return Ok(Pick::Ordinal(first, last));
            }
        }
        cursor.back(after);
        if first > 1 {
            return Ok(Pick::Ordinal(first, first));
        }
        cursor.back(start);
    }
    cursor.word("very");
    if let Some(oldest) = end(cursor) {
        return Ok(Pick::End(oldest, count(cursor)?));
    }
    cursor.back(start);
    match count(cursor)? {
        None => Ok(Pick::None),
        number => Ok(end(cursor).map_or(Pick::Count, |oldest| Pick::End(oldest, number))),
    }
}

/// Consumes "oldest", "most recent" and the like; returns true for the oldest.
fn end(cursor: &mut Cursor<'_>) -> Option<bool> {
    if cursor.phrase("most recent") {
        return Some(false);
    }
    let oldest = words::end(cursor.peek_word())?;
    cursor.advance();
    Some(oldest)
}

/// Consumes "of my messages" after "the last three".
fn among(
    cursor: &mut Cursor<'_>,
    start: usize,
    oldest: bool,
    count: Option<u64>,
) -> Result<Option<Selection>, InstructionError> {
    let after = cursor.at();
    if cursor.word("of")
        && let Some(mut selection) = noun_phrase(cursor, Quantity::Among)?
    {
        selection.take(taken(cursor, start, oldest, count)?);
        return Ok(Some(selection));
    }
    cursor.back(after);
    Ok(None)
}

/// The count from one end; one if none was given.
fn taken(
    cursor: &Cursor<'_>,
    start: usize,
    oldest: bool,
    count: Option<u64>,
) -> Result<Take, InstructionError> {
    let count = narrow(cursor, start, count.unwrap_or(1))?;
    Ok(if oldest { Take::Oldest(count) } else { Take::Newest(count) })
}

impl Front {
    /// Whether the phrase needs no noun: "the last three", "the oldest".
    fn stands_alone(&self) -> bool {
        let plain = matches!(self.quantity, Quantity::Plain | Quantity::All);
        plain
            && self.day.is_none()
            && self.owner.is_none()
            && self.role.is_none()
            && matches!(self.pick, Pick::End(..))
    }

    /// Consumes what follows the noun.
    fn with_noun(
        self,
        cursor: &mut Cursor<'_>,
        noun: Noun,
        plural: bool,
    ) -> Result<Selection, InstructionError> {
        let picked = self.pick != Pick::None;
        let restricted = matches!(self.quantity, Quantity::Each | Quantity::Any | Quantity::Among);
        if restricted && picked || self.pick == Pick::Count {
            return Err(cursor.refused(self.start, WHICH));
        }
        match noun {
            Noun::Turn | Noun::Position | Noun::Sequence
                if restricted || self.day.is_some() || self.owner.is_some() || self.role.is_some() =>
            {
                Err(cursor.refused(self.start, WHICH))
            }
            Noun::Turn => self.turns(cursor, plural),
            Noun::Position | Noun::Sequence if picked => Err(cursor.refused(self.start, WHICH)),
            Noun::Position | Noun::Sequence => self.numbers(cursor, noun),
            _ => self.utterances(cursor, noun, plural),
        }
    }

    /// Consumes what follows "turn".
    fn turns(self, cursor: &mut Cursor<'_>, plural: bool) -> Result<Selection, InstructionError> {
        let mut selection = Selection::default();
        match self.pick {
            Pick::End(_, None) if plural => return Err(cursor.refused(self.start, HOW_MANY)),
            Pick::End(oldest, count) => {
                let count = narrow(cursor, self.start, count.unwrap_or(1))?;
                selection.add(if oldest {
                    Criterion::FirstTurns(count)
                } else {
                    Criterion::LastTurns(count)
                });
            }
            Pick::Ordinal(from, to) => {
                let turns = ordered(cursor, self.start, from, to)?;
                selection.add(Reference::new(cursor, self.start, Noun::Turn, turns)?.within());
            }
            Pick::None | Pick::Count => return self.numbers(cursor, Noun::Turn),
        }
        while scope(cursor) {}
        Ok(selection)
    }

    /// Consumes the numbers required after "turn", "position" and "sequence".
    fn numbers(self, cursor: &mut Cursor<'_>, noun: Noun) -> Result<Selection, InstructionError> {
        let Some(numbers) = numbered(cursor, noun)? else {
            return Err(cursor.refused(self.start, WHICH));
        };
        let mut selection = Selection::default();
        selection.add(Reference::new(cursor, self.start, noun, numbers)?.within());
        while scope(cursor) {}
        Ok(selection)
    }

    /// Consumes what follows "messages".
    fn utterances(
        self,
        cursor: &mut Cursor<'_>,
        noun: Noun,
        plural: bool,
    ) -> Result<Selection, InstructionError> {
        let mut selection = Selection::default();
        let role = self.speaker(cursor, noun)?;
        if let Some(day) = self.day {
            selection.add_time(day);
        }
        selection.add_all(self.owner.clone().into_iter().chain(role.map(Criterion::Speaker)));
        let whose = !selection.is_bare();
        let mut numbered_here = false;
        if self.pick == Pick::None && matches!(self.quantity, Quantity::Plain | Quantity::All) {
            match numbered(cursor, noun)? {
                Some(_) if whose => return Err(cursor.refused(self.start, AMONG)),
                Some(numbers) => {
                    selection.add(Reference::new(cursor, self.start, noun, numbers)?.within());
                    numbered_here = true;
                }
                None => identified(cursor, &mut selection),
            }
        }
        modifiers(cursor, &mut selection)?;
        self.apply(cursor, &mut selection, noun, plural || numbered_here)?;
        Ok(selection)
    }

    /// The role named by the noun and what precedes it.
    fn speaker(&self, cursor: &Cursor<'_>, noun: Noun) -> Result<Option<Role>, InstructionError> {
        let owner = match self.owner {
            Some(Criterion::Speaker(role)) => Some(role),
            _ => None,
        };
        if owner.is_some() && self.role.is_some() && owner != self.role {
            return Err(cursor.refused(self.start, TWO_SPEAKERS));
        }
        let said = self.role.or(owner);
        let (role, why) = match (noun, said) {
            (Noun::Reply, None) if self.owner.is_none() => (Some(Role::Assistant), None),
            (Noun::Reply, Some(Role::Assistant | Role::Tool)) => (said, None),
            (Noun::Reply, _) => (None, Some(REPLIES)),
            (Noun::Output, Some(Role::Tool)) | (Noun::Prompt, Some(Role::System)) => (said, None),
            (Noun::Output, _) => (None, Some(OUTPUTS)),
            (Noun::Prompt, _) => (None, Some(PROMPTS)),
            (Noun::Instructions, None) if self.owner.is_none() => (Some(Role::System), None),
            (Noun::Instructions, Some(Role::System)) => (said, None),
            (Noun::Instructions, _) => (None, Some(TWO_SPEAKERS)),
            _ => (said, None),
        };
        why.map_or(Ok(role), |why| Err(cursor.refused(self.start, why)))
    }

    /// Applies the pick after all modifiers are read.
    fn apply(
        &self,
        cursor: &Cursor<'_>,
        selection: &mut Selection,
        noun: Noun,
        plural: bool,
    ) -> Result<(), InstructionError> {
        let refused = |why| Err(cursor.refused(self.start, why));
        match self.pick {
            Pick::Ordinal(..) if !selection.is_bare() || noun != Noun::Message => refused(AMONG),
            Pick::Ordinal(from, to) => {
                let numbers = ordered(cursor, self.start, from, to)?;
                selection.add(Reference::new(cursor, self.start, noun, numbers)?.within());
                Ok(())
            }
            Pick::End(_, None) if plural => refused(HOW_MANY),
            Pick::End(..) if noun == Noun::Thing && selection.is_bare() => refused(NARROWER),
            Pick::End(oldest, count) => {
                selection.take(taken(cursor, self.start, oldest, count)?);
                Ok(())
            }
            Pick::Count => refused(WHICH),
            Pick::None => self.without_pick(cursor, selection, noun, plural),
        }
    }

    /// Decides on a phrase without a pick: a plural or a universal means all of them, a singular must mean
    /// exactly one.
    fn without_pick(
        &self,
        cursor: &Cursor<'_>,
        selection: &mut Selection,
        noun: Noun,
        plural: bool,
    ) -> Result<(), InstructionError> {
        let everyone = matches!(self.quantity, Quantity::All | Quantity::Each);
        let universal = everyone || self.quantity == Quantity::Any;
        let every_one = everyone && plural == (self.quantity == Quantity::All);
        let whole = every_one && noun == Noun::Message && selection.is_everything() && cursor.done();
        let alone = noun == Noun::Prompt || selection.is_single();
        match () {
            () if whole => *selection = Selection::of(Criterion::All),
            () if self.quantity == Quantity::Among && plural => {}
            () if selection.is_bare() && !cursor.done() => return Err(cursor.not_understood()),
            () if selection.is_bare() => return Err(cursor.refused(self.start, NARROWER)),
            () if !plural && !universal && !alone => return Err(cursor.refused(self.start, WHICH)),
            () => {}
        }
        Ok(())
    }
}

/// Consumes "id x7".
fn identified(cursor: &mut Cursor<'_>, selection: &mut Selection) {
    let start = cursor.at();
    if cursor.word("id")
        && let Some(token) = cursor.peek().filter(|token| token.kind != Kind::Mark)
    {
        let id = token.text.to_owned();
        cursor.advance();
        return selection.add(Criterion::Id(id));
    }
    cursor.back(start);
}
