//! Noun phrases: "the last three messages", "Alice's messages", "the tool results", "turn 4",
//! "the whole conversation".

use crate::{
    Role,
    forgetting::{
        Criterion, Result, Take,
        time::Stretch,
        words::{self, Noun},
    },
};

use super::{
    cursor::{Cursor, Kind},
    modifier::modifiers,
    pick::{Pick, pick},
    place::{places, scope},
    reference::{Reference, numbered},
    selection::{NARROWER, Selection},
    subject::{owners, tool},
    time::{possessive, timed},
};

const AMONG: &str =
    "give the number alone, or of one turn; or say which of them: the third one, the last two";
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

/// What precedes a noun.
struct Front {
    /// Where the phrase begins.
    start: usize,
    quantity: Quantity,
    /// The day: "today's".
    day: Option<Stretch>,
    /// The owners: "my", "Alice's and Bob's".
    owners: Vec<Vec<Criterion>>,
    pick: Pick,
    /// "user" in "user messages", "search tool" in "search tool results"; any of them.
    roles: Vec<Vec<Criterion>>,
}

/// Consumes a noun phrase and its modifiers; nothing if there is none.
///
/// # Errors
/// A phrase that leaves open which utterances are meant, or that no criteria can express.
pub(super) fn noun_phrase(cursor: &mut Cursor<'_>, quantity: Quantity) -> Result<Option<Selection>> {
    let start = cursor.at();
    let day = possessive(cursor);
    let owners = if day.is_none() { owners(cursor) } else { Vec::new() };
    if owners.is_empty() {
        let definite = cursor.word("the");
        let whole_allowed = matches!(quantity, Quantity::Plain | Quantity::All);
        if whole_allowed && history(cursor, definite || day.is_some(), quantity == Quantity::All) {
            return whole(cursor, day).map(Some);
        }
        if !definite && matches!(cursor.peek_word(), "a" | "an") && begins_noun(cursor, cursor.at() + 1) {
            cursor.advance();
        }
    }
    let pick = pick(cursor)?;
    let plain = owners.is_empty() && day.is_none() && quantity != Quantity::Among;
    if plain && let Some(selection) = among(cursor, start, &pick)? {
        return Ok(Some(selection));
    }
    let roles = roles(cursor);
    let front = Front { start, quantity, day, owners, pick, roles };
    match words::noun(cursor.peek_word()) {
        Some((noun, plural)) => {
            cursor.advance();
            front.with_noun(cursor, noun, plural).map(Some)
        }
        None if front.stands_alone() => {
            let many = cursor.word("ones");
            let _ = many || cursor.word("one");
            front.utterances(cursor, Noun::Message, many).map(Some)
        }
        None => {
            cursor.back(start);
            Ok(None)
        }
    }
}

/// Whether a noun, or a role and a noun, stand at a position.
fn begins_noun(cursor: &Cursor<'_>, at: usize) -> bool {
    let noun = |at: usize| words::noun(cursor.word_at(at)).is_some();
    noun(at) || words::role(cursor.word_at(at)).is_some() && noun(at + 1)
}

/// Consumes "user", "user and assistant", "search tool", `get_weather` before a noun.
fn roles(cursor: &mut Cursor<'_>) -> Vec<Vec<Criterion>> {
    let start = cursor.at();
    let mut all = Vec::new();
    loop {
        let word = cursor.peek_word();
        if let Some(role) = words::role(word) {
            cursor.advance();
            all.push(vec![Criterion::Speaker(role)]);
        } else if let Some(tool) = tool(cursor) {
            all.push(tool);
        } else if let Some(name) = cursor.peek().filter(|token| token.is_identifier()) {
            all.push(vec![Criterion::Name(name.text.to_owned())]);
            cursor.advance();
        }
        match words::noun(cursor.peek_word()) {
            Some(_) => return all,
            None if !all.is_empty() && cursor.any(&["and", "&"]) => {}
            None => break,
        }
    }
    cursor.back(start);
    Vec::new()
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
    cursor.back_unless(found, start);
    found
}

/// Consumes what follows the whole conversation, which can only be places and times.
fn whole(cursor: &mut Cursor<'_>, day: Option<Stretch>) -> Result<Selection> {
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

/// Consumes "of my messages" after "the last three".
fn among(cursor: &mut Cursor<'_>, start: usize, pick: &Pick) -> Result<Option<Selection>> {
    let after = cursor.at();
    if pick.stands_alone()
        && cursor.word("of")
        && let Some(mut selection) = noun_phrase(cursor, Quantity::Among)?
    {
        pick.of_utterances(cursor, start, &mut selection, false)?;
        return Ok(Some(selection));
    }
    cursor.back(after);
    Ok(None)
}

impl Front {
    /// Whether the phrase needs no noun: "the last three", "the oldest".
    fn stands_alone(&self) -> bool {
        let plain = matches!(self.quantity, Quantity::Plain | Quantity::All);
        plain && self.day.is_none() && !self.is_owned() && self.pick.stands_alone()
    }

    fn is_owned(&self) -> bool {
        !self.owners.is_empty() || !self.roles.is_empty()
    }

    /// Consumes what follows the noun.
    fn with_noun(self, cursor: &mut Cursor<'_>, noun: Noun, plural: bool) -> Result<Selection> {
        let picked = self.pick != Pick::None;
        let restricted = matches!(self.quantity, Quantity::Each | Quantity::Any | Quantity::Among);
        if restricted && picked || self.pick == Pick::Count {
            return Err(cursor.refused(self.start, WHICH));
        }
        match noun {
            Noun::Turn | Noun::Position | Noun::Sequence
                if restricted || self.day.is_some() || self.is_owned() =>
            {
                Err(cursor.refused(self.start, WHICH))
            }
            Noun::Turn if picked => {
                let selection = self.pick.of_turns(cursor, self.start, plural);
                while scope(cursor) {}
                selection
            }
            Noun::Position | Noun::Sequence if picked => Err(cursor.refused(self.start, WHICH)),
            Noun::Turn | Noun::Position | Noun::Sequence => self.numbers(cursor, noun),
            _ => self.utterances(cursor, noun, plural),
        }
    }

    /// Consumes the numbers required after "turn", "position" and "sequence".
    fn numbers(self, cursor: &mut Cursor<'_>, noun: Noun) -> Result<Selection> {
        let Some(numbers) = numbered(cursor, noun)? else {
            return Err(cursor.refused(self.start, WHICH));
        };
        let mut selection = Selection::default();
        selection.add(Reference::new(cursor, self.start, noun, numbers)?.within());
        while scope(cursor) {}
        Ok(selection)
    }

    /// Consumes what follows "messages".
    fn utterances(self, cursor: &mut Cursor<'_>, noun: Noun, plural: bool) -> Result<Selection> {
        let mut selection = Selection::default();
        let role = self.speaker(cursor, noun)?;
        if let Some(day) = self.day {
            selection.add_time(day);
        }
        for lists in [&self.owners, &self.roles].into_iter().filter(|lists| !lists.is_empty()) {
            selection.add_any_of(lists.clone()).map_err(|why| cursor.refused(self.start, why))?;
        }
        selection.add_all(role.map(Criterion::Speaker));
        let mut numbers = None;
        if self.pick == Pick::None && matches!(self.quantity, Quantity::Plain | Quantity::All) {
            numbers = numbered(cursor, noun)?;
            if numbers.is_none() {
                identified(cursor, &mut selection);
            }
        }
        modifiers(cursor, &mut selection)?;
        if noun == Noun::Output && !selection.is_of_tools() {
            return Err(cursor.refused(self.start, OUTPUTS));
        }
        match numbers {
            Some(numbers) if selection.is_one_turn() => selection.take(Take::Nth(numbers)),
            Some(_) if !selection.is_bare() => return Err(cursor.refused(self.start, AMONG)),
            Some(numbers) => selection.add(Reference::new(cursor, self.start, noun, numbers)?.within()),
            None => self.apply(cursor, &mut selection, noun, plural)?,
        }
        Ok(selection)
    }

    /// The role named by the noun and what precedes it.
    fn speaker(&self, cursor: &Cursor<'_>, noun: Noun) -> Result<Option<Role>> {
        let named = || self.owners.iter().chain(&self.roles).flatten();
        let mut said =
            named().filter_map(|one| if let Criterion::Speaker(role) = one { Some(*role) } else { None });
        let said = match (said.next(), said.any(|_| true)) {
            (Some(_), true) if self.owners.is_empty() || self.roles.is_empty() => return Ok(None),
            (Some(_), true) if named().collect::<Vec<_>>().windows(2).any(|pair| pair[0] != pair[1]) => {
                return Err(cursor.refused(self.start, TWO_SPEAKERS));
            }
            (said, _) => said,
        };
        let (role, why) = match (noun, said) {
            (Noun::Reply, None) if self.owners.is_empty() => (Some(Role::Assistant), None),
            (Noun::Reply, Some(Role::Assistant | Role::Tool)) => (None, None),
            (Noun::Reply, _) => (None, Some(REPLIES)),
            (Noun::Output, None | Some(Role::Tool)) | (Noun::Prompt, Some(Role::System)) => (None, None),
            (Noun::Output, _) => (None, Some(OUTPUTS)),
            (Noun::Prompt, _) => (None, Some(PROMPTS)),
            (Noun::Instructions, None) if self.owners.is_empty() => (Some(Role::System), None),
            (Noun::Instructions, Some(Role::System)) => (None, None),
            (Noun::Instructions, _) => (None, Some(TWO_SPEAKERS)),
            _ => (None, None),
        };
        why.map_or(Ok(role), |why| Err(cursor.refused(self.start, why)))
    }

    /// Applies the pick after all modifiers are read. Without one, a plural or a universal means all of them,
    /// a singular exactly one.
    fn apply(&self, cursor: &Cursor<'_>, selection: &mut Selection, noun: Noun, plural: bool) -> Result<()> {
        if self.pick != Pick::None {
            return match noun == Noun::Thing && selection.is_bare() {
                true => Err(cursor.refused(self.start, NARROWER)),
                false => self.pick.of_utterances(cursor, self.start, selection, plural),
            };
        }
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
            () if !plural && !universal && !alone => selection.mean_one(),
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
