//! Plain English for what the short forms express.
//!
//! A sentence is a wrapper of politeness, a verb of forgetting, an object, and the closing.
//! Each word of it is consumed by a rule, or the sentence is refused: no rule skips words
//! that it does not know.

mod cursor;
mod modifier;
mod number;
mod object;
mod reference;
mod selection;
mod topic;

use crate::domain::forgetting::{Criterion, Instruction, InstructionError, canonical, words};

use self::cursor::Cursor;

/// Said before the verb, any number of times.
const OPENERS: [&str; 17] = [
    "please",
    "kindly",
    "hey",
    "hi",
    "hello",
    "ok",
    "okay",
    "alright",
    "well",
    "so",
    "now",
    "just",
    "simply",
    "go ahead and",
    "i think",
    "sorry",
    "oh",
];

/// Said before the verb, which must follow. Those of the first group make a question.
const QUESTIONS: [&str; 5] = ["could you", "can you", "would you", "will you", "may i ask you to"];
const WISHES: [&str; 16] = [
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "i need you to",
    "i want to",
    "i would like to",
    "i'd like to",
    "i need to",
    "i ask you to",
    "you can",
    "you may",
    "you should",
    "you must",
    "let us",
    "we should",
    "we can",
];

/// Said after the object.
const CLOSINGS: [&str; 12] = [
    "thank you very much",
    "thank you so much",
    "thank you",
    "many thanks",
    "thanks a lot",
    "thanks",
    "thx",
    "cheers",
    "please",
    "kindly",
    "for me",
    "for us",
];
/// The same, after which a question mark asks nothing.
const TAGS: [&str; 4] = ["okay", "ok", "will you", "would you"];

/// Reads a sentence.
pub(super) fn parse(text: &str) -> Result<Instruction, InstructionError> {
    let mut cursor = Cursor::new(text)?;
    if let Some((word, why)) =
        cursor.words().find_map(|word| words::refused(&word.lower).map(|why| (word.text, why)))
    {
        return Err(InstructionError::part(word, why));
    }
    let asked = strip_closings(&mut cursor);
    let question = wrapper(&mut cursor)?;
    if asked && !question {
        return Err(InstructionError::part(text, "a question; say what to forget"));
    }
    if cursor.done() {
        return Err(cursor.not_understood());
    }
    if canonical::is_canonical(cursor.rest()) {
        let instruction = canonical::parse(cursor.rest())?;
        let holds_text = instruction.criteria().iter().any(|one| matches!(one, Criterion::About(_)));
        if !holds_text {
            return Ok(instruction);
        }
    }
    let selection = object::object(&mut cursor)?;
    if !cursor.done() {
        return Err(cursor.not_understood());
    }
    selection.instruction()
}

/// Takes politeness and marks off the end; tells whether a question mark was among them.
fn strip_closings(cursor: &mut Cursor<'_>) -> bool {
    let mut asked = false;
    loop {
        if cursor.drop_last_mark('?') {
            asked = true;
        } else if TAGS.iter().any(|tag| cursor.drop_last_phrase(tag)) {
            asked = false;
        } else if !['.', '!', ',', '…'].into_iter().any(|mark| cursor.drop_last_mark(mark))
            && !CLOSINGS.iter().any(|closing| cursor.drop_last_phrase(closing))
        {
            return asked;
        }
    }
}

/// Passes over politeness and the verb; tells whether it makes a question.
fn wrapper(cursor: &mut Cursor<'_>) -> Result<bool, InstructionError> {
    openers(cursor);
    let question = cursor.phrases(&QUESTIONS);
    let mind = question && cursor.word("mind");
    let wish = question || cursor.phrases(&WISHES) || lets(cursor);
    openers(cursor);
    let verb = if mind { cursor.phrases(&words::GERUNDS) } else { cursor.phrases(&words::VERBS) };
    match wish && !verb {
        true => Err(cursor.not_understood()),
        false => Ok(question),
    }
}

fn openers(cursor: &mut Cursor<'_>) {
    while cursor.phrases(&OPENERS) {
        cursor.mark(',');
    }
}

fn lets(cursor: &mut Cursor<'_>) -> bool {
    cursor.word("lets") || cursor.phrase("let 's")
}
