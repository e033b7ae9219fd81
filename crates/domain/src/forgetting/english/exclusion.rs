//! Exclusions: "everything but the last message", "keep only turn 4", "keep the last three and forget the
//! rest".
//!
//! The exclusion is a phrase of its own. A count in it counts the utterances that the sentence would
//! otherwise forget: "my messages except the last one" keeps the last one of mine.

use crate::{
    forgetting::{Criterion, Result, words},
    phrases::phrases,
};

use super::{
    cursor::Cursor,
    object::objects,
    selection::Selection,
    topic::{self, Joint},
};

/// Phrases that turn from what to forget to what to keep, the longer ones first.
const TURNS: [&str; 26] = phrases(
    "with the exception of|except for|except|excepting|excluding|other than|apart from|aside from|besides|\
    save for|but not|but for|but keep only|but only keep|but just keep|but please keep|but keep|but leave|\
    but retain|but|and keep only|and only keep|and just keep|and keep|and leave|and retain",
);
/// The same after a comma.
const AFTER_COMMA: [&str; 5] = ["keep only", "only keep", "just keep", "keep", "leave"];
/// Everything besides what was named before.
const REST: [&str; 7] = phrases(
    "the rest of the conversation|everything else|all of the rest|all the rest|all else|the rest|\
    anything else",
);

const KEEP_ONLY: &str = "say keep only …, or keep … and forget the rest";
const TWO: &str = "say what to keep of one selection at a time";

/// What to forget, and what to keep of it.
pub(super) struct Meaning {
    pub selected: Vec<Selection>,
    pub kept: Vec<Selection>,
}

/// Consumes what follows a verb of forgetting: objects, and what is excluded from them.
pub(super) fn forgotten(cursor: &mut Cursor<'_>) -> Result<Meaning> {
    let Some(turn) = turn(cursor) else {
        return Ok(Meaning { selected: objects(cursor)?, kept: Vec::new() });
    };
    let end = cursor.limit(turn.from);
    let is_rest = rest(cursor);
    let selected = if is_rest { everything() } else { objects(cursor)? };
    cursor.limit(end);
    cursor.back(turn.to);
    let start = cursor.at();
    if turn.keeps && rest(cursor) {
        return match selected.iter().any(Selection::is_all) {
            true => Err(cursor.refused(start, KEEP_ONLY)),
            false => Ok(Meaning { selected, kept: Vec::new() }),
        };
    }
    let mut kept = match objects(cursor) {
        Ok(kept) => kept,
        // "About Paris except Rome" keeps a topic too.
        Err(error) if selected.iter().all(Selection::has_topic) => {
            cursor.back(start);
            let mut topic = Selection::default();
            topic::read(cursor, &mut topic, Joint::Unclear).map_err(|_| error)?;
            vec![topic]
        }
        Err(error) => return Err(error),
    };
    for part in kept.iter_mut().filter(|part| part.counts()) {
        let [base] = &*selected else { return Err(cursor.refused(start, TWO)) };
        part.among(base).map_err(|why| cursor.refused(start, why))?;
    }
    Ok(Meaning { selected, kept })
}

/// Consumes what follows "keep only".
pub(super) fn kept_only(cursor: &mut Cursor<'_>) -> Result<Meaning> {
    Ok(Meaning { selected: everything(), kept: objects(cursor)? })
}

/// Consumes what follows "keep", which must end with "and forget the rest".
pub(super) fn kept(cursor: &mut Cursor<'_>) -> Result<Meaning> {
    let start = cursor.at();
    let rest = REST.iter().any(|rest| cursor.drop_last_phrase(rest));
    let verb = words::VERBS.iter().any(|verb| cursor.drop_last_phrase(verb));
    cursor.drop_last_phrase("please");
    let joint = ["and then", "and", "but"].iter().any(|joint| cursor.drop_last_phrase(joint));
    let comma = cursor.drop_last_mark(',');
    match rest && verb && (joint || comma) {
        true => kept_only(cursor),
        false => Err(cursor.refused(start, KEEP_ONLY)),
    }
}

fn everything() -> Vec<Selection> {
    vec![Selection::of(Criterion::All)]
}

/// Consumes "the rest", if nothing follows.
fn rest(cursor: &mut Cursor<'_>) -> bool {
    let start = cursor.at();
    let found = cursor.phrases(&REST) && cursor.done();
    cursor.back_unless(found, start);
    found
}

/// A phrase that turns.
struct Turn {
    /// Where what precedes it ends.
    from: usize,
    /// Where what follows it begins.
    to: usize,
    /// It is a verb of keeping.
    keeps: bool,
}

/// The first phrase that turns, if any; the cursor does not move.
fn turn(cursor: &mut Cursor<'_>) -> Option<Turn> {
    let start = cursor.at();
    let found = (start + 1..cursor.end()).find_map(|at| {
        cursor.back(at);
        let comma = cursor.token(at - 1).is_some_and(|token| token.is_mark(','));
        let found = cursor.phrases(&TURNS) || comma && cursor.phrases(&AFTER_COMMA);
        let to = cursor.at();
        let keeps = (at..to).any(|at| matches!(cursor.word_at(at), "keep" | "leave" | "retain"));
        found.then_some(Turn { from: if comma { at - 1 } else { at }, to, keeps })
    });
    cursor.back(start);
    found
}
