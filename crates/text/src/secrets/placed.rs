//! Credentials that are known by what surrounds them.

use std::ops::Range;

use memchr::memmem;

use super::look::{Form, Kind, is_secret, stands_for_one};

/// Adds the places of private keys, passwords in addresses and commands, and the tokens of bots.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    private_keys(text, found);
    if memchr::memchr(b':', text.as_bytes()).is_some() {
        addresses(text, found);
        for option in ["-u ", "--user ", "--user=", "--proxy-user "] {
            user_options(text, option, found);
        }
        bots(text, found);
    }
    dotted(text, found);
}

/// A block of PEM with a private key, whole or cut off.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(start) = memmem::find(&text.as_bytes()[at..], b"-----BEGIN ").map(|place| at + place) {
        let head = text[start..text.floor_char_boundary(start + 80)].lines().next().unwrap_or_default();
        at = start + "-----BEGIN ".len();
        if !head.contains("PRIVATE KEY") {
            continue;
        }
        let end = memmem::find(&text.as_bytes()[at..], b"-----END ").map(|place| at + place);
        let close = end.and_then(|end| text[end + 9..].find("-----").map(|place| end + 9 + place + 5));
        at = close.unwrap_or(text.len());
        found.push(start..at);
    }
}

/// The password of `scheme://user:password@host`.
fn addresses(text: &str, found: &mut Vec<Range<usize>>) {
    for place in memmem::find_iter(text.as_bytes(), b"://") {
        let start = place + 3;
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>' | '`' | '?' | '#');
        let length = text[start..].find(ends).unwrap_or(text.len() - start);
        let Some((login, _)) = text[start..start + length].rsplit_once('@') else { continue };
        let Some((user, password)) = login.split_once(':') else { continue };
        if !password.is_empty() && !stands_for_one(password) {
            let from = start + user.len() + 1;
            found.push(from..from + password.len());
        }
    }
}

/// The password of `-u user:password`; not the ids of `-u 1000:1000` or the names of `-u web:web`.
fn user_options(text: &str, option: &str, found: &mut Vec<Range<usize>>) {
    for place in memmem::find_iter(text.as_bytes(), option.as_bytes()) {
        let start = place + option.len();
        let is_option = text[..place].chars().next_back().is_none_or(char::is_whitespace);
        let value = text[start..].split(|c: char| c.is_whitespace() || c == '`').next().unwrap_or_default();
        let bare = value.trim_start_matches(['"', '\'']);
        let Some((user, password)) = bare.trim_end_matches(['"', '\'', ',', '.']).split_once(':') else {
            continue;
        };
        let is_number = password.bytes().all(|byte| byte.is_ascii_digit());
        if is_option && !is_number && !user.contains('/') && is_secret(password, Kind::Password, Form::Bare) {
            let from = start + (value.len() - bare.len()) + user.len() + 1;
            found.push(from..from + password.len());
        }
    }
}

/// The token of a Telegram bot: its number, a colon, and 35 characters.
fn bots(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for colon in memchr::memchr_iter(b':', bytes) {
        let digits = bytes[..colon].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
        let rest = bytes[colon + 1..].iter().take(40).take_while(|byte| is_word(**byte)).count();
        let token = &text[colon + 1..colon + 1 + rest];
        if (8..=10).contains(&digits) && rest == 35 && token.contains(|c: char| c.is_ascii_uppercase()) {
            found.push(colon - digits..colon + 1 + rest);
        }
    }
}

/// The token of a Discord bot: three words of known lengths, the first of which encodes a number.
fn dotted(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| is_word(*byte) || *byte == b'.';
    for point in memchr::memchr_iter(b'.', bytes) {
        let first = bytes[..point].iter().rev().take_while(|byte| is_word(**byte)).count();
        let start = point - first;
        if !(23..=28).contains(&first) || !b"MNO".contains(&bytes[start]) || bytes[..start].ends_with(b".") {
            continue;
        }
        let run = &bytes[start..][..bytes[start..].iter().take_while(|byte| is_part(byte)).count()];
        let run = &text[start..start + run.len()].trim_end_matches('.');
        let lengths: Vec<usize> = run.split('.').map(str::len).collect();
        if matches!(lengths[..], [_, 6..=7, 27..=40]) {
            found.push(start..start + run.len());
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
