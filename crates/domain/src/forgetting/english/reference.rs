//! References to places: "turn 4", "messages 3 to 7", "the third turn", "the last two turns".

use crate::forgetting::{
    Criterion, Numbers, Result,
    words::{self, Noun},
};

use super::{
    cursor::Cursor,
    number::{cardinal, digits, narrow, ordered, ordinal, span},
};

const TOO_LARGE: &str = "the number is too large";

/// A reference to one or more places.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    /// Turns, positions in the window, or sequences, by number.
    Numbered(Counter, Numbers),
    /// The first or the last turns.
    Counted(Criterion),
}

/// What a reference counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Counter {
    Turn,
    Position,
    Sequence,
}

impl Reference {
    /// The utterances at the place.
    pub fn within(self) -> Criterion {
        match self {
            Self::Numbered(Counter::Turn, turns) => Criterion::Turn(turns),
            Self::Numbered(Counter::Position, positions) => Criterion::Position(positions),
            Self::Numbered(Counter::Sequence, sequences) => Criterion::Sequence(sequences),
            Self::Counted(criterion) => criterion,
        }
    }

    /// The utterances before it; `None` if it is several places, or the first.
    pub fn before(self) -> Option<Criterion> {
        match self.single()? {
            (Counter::Turn, turn) => Some(Criterion::BeforeTurn(u32::try_from(turn).ok()?)),
            (counter, number) => counter.range(1, number.checked_sub(1)?),
        }
    }

    /// The utterances up to and including the place.
    pub fn through(self) -> Option<Criterion> {
        match self.single()? {
            (Counter::Turn, turn) => Some(Criterion::BeforeTurn(u32::try_from(turn.checked_add(1)?).ok()?)),
            (counter, number) => counter.range(1, number),
        }
    }

    /// The utterances after it.
    pub fn after(self) -> Option<Criterion> {
        match self.single()? {
            (Counter::Turn, turn) => Some(Criterion::AfterTurn(u32::try_from(turn).ok()?)),
            (counter, number) => counter.onwards(number.checked_add(1)?),
        }
    }

    /// The utterances from the place on.
    pub fn onwards(self) -> Option<Criterion> {
        let (counter, number) = self.single()?;
        counter.onwards(number)
    }

    /// The counter and the number, unless it is several places.
    pub fn single(&self) -> Option<(Counter, u64)> {
        match self {
            Self::Numbered(counter, numbers) => Some((*counter, numbers.single()?)),
            Self::Counted(_) => None,
        }
    }

    /// The places with these numbers that `noun` counts.
    pub fn new(cursor: &Cursor<'_>, start: usize, noun: Noun, numbers: Numbers) -> Result<Self> {
        let counter = match noun {
            Noun::Sequence => Counter::Sequence,
            Noun::Turn => Counter::Turn,
            _ => Counter::Position,
        };
        match numbers.exceeds(u32::MAX.into()) && !matches!(counter, Counter::Sequence) {
            true => Err(cursor.refused(start, TOO_LARGE)),
            false => Ok(Self::Numbered(counter, numbers)),
        }
    }
}

impl Counter {
    fn range(self, from: u64, to: u64) -> Option<Criterion> {
        Numbers::range(from, to).ok().map(|numbers| Reference::Numbered(self, numbers).within())
    }

    fn onwards(self, from: u64) -> Option<Criterion> {
        Numbers::from(from).ok().map(|numbers| Reference::Numbered(self, numbers).within())
    }
}

/// Consumes a reference.
///
/// # Errors
/// Numbers that are invalid, reversed or have gaps.
pub(super) fn reference(cursor: &mut Cursor<'_>) -> Result<Option<Reference>> {
    let start = cursor.at();
    if let Some(found) = underscored(cursor)? {
        return Ok(Some(found));
    }
    cursor.word("the");
    if let Some(found) = counted_turns(cursor)? {
        return Ok(Some(Reference::Counted(found)));
    }
    if let Some(number) = ordinal(cursor)?
        && let Some(noun @ (Noun::Turn | Noun::Message)) = place_noun(cursor)
    {
        let numbers = ordered(cursor, start, number, number)?;
        return Reference::new(cursor, start, noun, numbers).map(Some);
    }
    cursor.back(start);
    cursor.word("the");
    if let Some(noun) = place_noun(cursor)
        && let Some(numbers) = numbered(cursor, noun)?
    {
        return Reference::new(cursor, start, noun, numbers).map(Some);
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes what follows "between": "turn 2 and turn 4", "messages 3 and 7".
pub(super) fn pair(cursor: &mut Cursor<'_>) -> Result<Option<Reference>> {
    let start = cursor.at();
    cursor.word("the");
    if let Some(noun) = place_noun(cursor)
        && let Some(from) = cardinal(cursor)?
        && cursor.any(&["and", "to"])
    {
        repeated(cursor, noun);
        if let Some(to) = cardinal(cursor)? {
            let range = ordered(cursor, start, from, to)?;
            return Reference::new(cursor, start, noun, range).map(Some);
        }
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes the numbers after a noun.
pub(super) fn numbered(cursor: &mut Cursor<'_>, noun: Noun) -> Result<Option<Numbers>> {
    let start = cursor.at();
    cursor.any(&["number", "numbers"]);
    let numbers = span(cursor, |cursor| repeated(cursor, noun))?;
    cursor.back_unless(numbers.is_some(), start);
    Ok(numbers)
}

/// Consumes "first two turns", "last turn".
fn counted_turns(cursor: &mut Cursor<'_>) -> Result<Option<Criterion>> {
    let start = cursor.at();
    let Some(oldest) = words::end(cursor.peek_word()) else { return Ok(None) };
    cursor.advance();
    let count = cardinal(cursor)?;
    let wanted = if count.is_some() { ["turn", "turns"] } else { ["turn", "turn"] };
    if !cursor.any(&wanted) {
        cursor.back(start);
        return Ok(None);
    }
    let count = narrow(cursor, start, count.unwrap_or(1))?;
    Ok(Some(if oldest { Criterion::FirstTurns(count) } else { Criterion::LastTurns(count) }))
}

/// Consumes `turn_4`.
pub(super) fn underscored(cursor: &mut Cursor<'_>) -> Result<Option<Reference>> {
    let Some(number) = cursor.peek_word().strip_prefix("turn_").and_then(digits) else {
        return Ok(None);
    };
    let start = cursor.at();
    cursor.advance();
    let range = ordered(cursor, start, number, number)?;
    Reference::new(cursor, start, Noun::Turn, range).map(Some)
}

/// Consumes a noun that numbers can follow.
fn place_noun(cursor: &mut Cursor<'_>) -> Option<Noun> {
    let (noun, _) = words::noun(cursor.peek_word())?;
    let place = matches!(noun, Noun::Turn | Noun::Message | Noun::Position | Noun::Sequence);
    if place {
        cursor.advance();
    }
    place.then_some(noun)
}

/// Skips a repeated `noun`: "turn 2 to turn 4".
fn repeated(cursor: &mut Cursor<'_>, noun: Noun) {
    if words::noun(cursor.peek_word()).is_some_and(|(again, _)| again == noun) {
        cursor.advance();
        cursor.word("number");
    }
}
