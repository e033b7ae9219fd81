//! Numbers that are written in groups.

use std::ops::Range;

use super::{
    identifiers::MAX_TERM_BYTES,
    term::{Term, TermKind},
    words::{Word, WordKind},
};

/// The fewest digits in a phone number; this many of its last digits identify it.
const PHONE_DIGITS: usize = 7;
const MAX_PHONE_DIGITS: usize = 15;

/// Groups of digits, or of digits and capitals (`GB82 WEST 1234`), with only the punctuation of numbers between them.
#[derive(Default)]
pub(super) struct Groups {
    written: String,
    count: usize,
    range: Range<usize>,
}

impl Groups {
    #[inline]
    pub(super) fn see(&mut self, text: &str, word: Word, found: &mut impl FnMut(Term<'_>)) {
        let first = text.as_bytes()[word.start];
        let begins =
            first.is_ascii_digit() || first.is_ascii_uppercase() && word.kind == WordKind::Identifier;
        if (begins || self.count > 0) && word.kind != WordKind::Joined {
            self.read(text, word, begins, found);
        }
    }

    fn read(&mut self, text: &str, word: Word, begins: bool, found: &mut impl FnMut(Term<'_>)) {
        let written = &text.as_bytes()[word.start..word.end];
        let begins = begins && begins_number(written);
        let between = text.as_bytes().get(self.range.end..word.start).unwrap_or_default();
        let is_near = between.len() <= 3 && between.iter().all(|byte| b" ()/+".contains(byte));
        let goes_on = is_near && self.count > 0 && (begins || self.goes_on(written));
        if !goes_on {
            self.end(found);
        }
        if goes_on || begins {
            let start = if goes_on { self.range.start } else { word.start };
            self.range = start..word.end;
            self.count += 1;
            let digits = written.iter().filter(|byte| byte.is_ascii_alphanumeric());
            self.written.extend(digits.map(|byte| char::from(byte.to_ascii_lowercase())));
        }
    }

    /// Whether a group of an account's number goes on: one that begins with letters has further ones.
    fn goes_on(&self, written: &[u8]) -> bool {
        let is_account = self.written.starts_with(|c: char| c.is_ascii_alphabetic());
        is_account
            && written.len() <= 4
            && written.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    }

    pub(super) fn end(&mut self, found: &mut impl FnMut(Term<'_>)) {
        let text = &self.written;
        let is_long = (PHONE_DIGITS..=MAX_TERM_BYTES).contains(&text.len());
        if self.count > 1 && is_long {
            found(Term { text, range: self.range.clone(), kind: TermKind::Joined, number: None });
        }
        let is_phone = text.len() <= MAX_PHONE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_long && is_phone {
            let text = &text[text.len() - PHONE_DIGITS..];
            found(Term { text, range: self.range.clone(), kind: TermKind::Phone, number: None });
        }
        self.written.clear();
        self.count = 0;
    }
}

/// Whether a word is a number, with or without marks, or begins that of an account (`GB82`).
fn begins_number(written: &[u8]) -> bool {
    match written {
        [b'0'..=b'9', ..] => written.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')),
        [one, other, rest @ ..] => {
            let is_code = one.is_ascii_uppercase() && other.is_ascii_uppercase();
            is_code && rest.len() == 2 && rest.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}
