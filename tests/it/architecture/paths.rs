//! Finds the paths that a source names.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path from the root of this crate or of an external one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its segments: `crate`, `store`, `MemoryStore`.
    pub segments: Vec<String>,
    /// Whether it is imported, so that items below it might be meant too.
    pub imported: bool,
    /// Its local name: `b` for `a::b`, `c` for `a::b as c`, `*` for a glob import.
    pub known_as: String,
    /// Whether the import is a re-export.
    pub exported: bool,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// Every path and single word of `source`, the file of the module `module`.
///
/// `self`, `super` and the crate's own name are resolved; an external crate's path is kept as written. Panics
/// if `source` is not valid Rust.
pub fn paths(source: &str, module: &[String]) -> Vec<Named> {
    paths_in(source.parse().expect("a source is Rust"), module)
}

/// The same for tokens.
pub fn paths_in(tokens: TokenStream, module: &[String]) -> Vec<Named> {
    let mut found = Vec::new();
    walk(tokens, module, &mut found);
    found
}

fn walk(tokens: TokenStream, module: &[String], found: &mut Vec<Named>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        at += match rest {
            [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..] if word == "mod" => {
                walk(body.stream(), &[module, &[name.to_string()]].concat(), found);
                3
            }
            [TokenTree::Ident(word), TokenTree::Ident(_), end, ..]
                if word == "mod" && is_punct(Some(end), ';') =>
            {
                3
            }
            [TokenTree::Ident(word), TokenTree::Group(_), ..] if word == "pub" => 2,
            [TokenTree::Ident(word), next, ..] if word == "use" && !is_punct(Some(next), '<') => {
                let end = rest.iter().position(|token| is_punct(Some(token), ';')).unwrap_or(rest.len());
                let first = found.len();
                imports(&rest[1..end], &[], module, found);
                let exported = is_public(&tokens[..at]);
                found[first..].iter_mut().for_each(|named| named.exported = exported);
                end
            }
            [TokenTree::Ident(_), ..] => {
                let (segments, length) = path(rest);
                let dots = tokens[..at].iter().rev().take_while(|token| is_punct(Some(token), '.')).count();
                let is_field = dots == 1;
                if !is_field && !is_root_macro(&segments, &rest[length..]) {
                    found.push(named(segments, &rest[0], module));
                }
                length
            }
            [TokenTree::Group(group), ..] => {
                walk(group.stream(), module, found);
                1
            }
            _ => 1,
        };
    }
}

/// The segments at the start of `tokens`, and how many tokens they take.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let (mut segments, mut length) = (Vec::new(), 0);
    while let Some(TokenTree::Ident(segment)) = tokens.get(length) {
        segments.push(segment.to_string());
        length += 1;
        match is_separator(&tokens[length..]) && matches!(tokens.get(length + 2), Some(TokenTree::Ident(_))) {
            true => length += 2,
            false => break,
        }
    }
    (segments, length)
}

/// Reads an import after `prefix`: `a::b`, `a::*`, `a as b`, `a::{b, c::d}`.
fn imports(tokens: &[TokenTree], prefix: &[String], module: &[String], found: &mut Vec<Named>) {
    let start = if is_separator(tokens) { 2 } else { 0 };
    let (own, length) = path(&tokens[start..]);
    let rest = &tokens[start + length..];
    let behind = if is_separator(rest) { &rest[2..] } else { rest };
    let mut segments = [prefix, &own].concat();
    match behind.first() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            for one in inner.split(|token| is_punct(Some(token), ',')).filter(|one| !one.is_empty()) {
                imports(one, &segments, module, found);
            }
        }
        _ => {
            if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
                segments.pop();
            }
            let known_as = match rest {
                [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word == "as" => name.to_string(),
                _ if is_punct(behind.first(), '*') => "*".to_owned(),
                _ => segments.last().cloned().unwrap_or_default(),
            };
            if let Some(first) = tokens.first() {
                found.push(Named { imported: true, known_as, ..named(segments, first, module) });
            }
        }
    }
}

fn named(segments: Vec<String>, at: &TokenTree, module: &[String]) -> Named {
    let line = at.span().start().line;
    let segments = resolved(segments, module);
    Named { segments, imported: false, known_as: String::new(), exported: false, line }
}

/// The same from the crate's root.
fn resolved(segments: Vec<String>, module: &[String]) -> Vec<String> {
    let supers = segments.iter().take_while(|segment| *segment == "super").count();
    let from = |keep: usize, skip: usize| {
        [&["crate".to_owned()], &module[..keep.min(module.len())], &segments[skip..]].concat()
    };
    match segments.first().map(String::as_str) {
        Some("super") => from(module.len().saturating_sub(supers), supers),
        Some("self") if segments.len() > 1 => from(module.len(), 1),
        Some("utterd") if segments.len() > 1 => from(0, 1),
        _ => segments,
    }
}

/// Whether this is `crate::name!(…)`: an exported macro belongs to no part. Its body is checked where it is
/// defined.
fn is_root_macro(segments: &[String], rest: &[TokenTree]) -> bool {
    segments.len() == 2
        && segments[0] == "crate"
        && matches!(rest, [TokenTree::Punct(punct), TokenTree::Group(_), ..] if punct.as_char() == '!')
}

/// Whether the tokens before an item end with `pub`, `pub(crate)` or the like.
fn is_public(before: &[TokenTree]) -> bool {
    let is_pub = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "pub");
    match before {
        [.., word, TokenTree::Group(_)] => is_pub(word),
        [.., word] => is_pub(word),
        [] => false,
    }
}

fn is_separator(tokens: &[TokenTree]) -> bool {
    is_punct(tokens.first(), ':') && is_punct(tokens.get(1), ':')
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}
