//! What a token is by its characters.

use super::{
    kind::Kind,
    numbers,
    part::{Part, Role},
    tokens::Token,
};

/// Longer tokens are data.
const TOKEN_BYTES: usize = 256;

/// The part that a token is, if it is not just a word.
pub(super) fn part_of(text: &str, token: &Token<'_>) -> Option<Part> {
    let (start, said) = (token.start, token.text);
    if said.len() > TOKEN_BYTES {
        return None;
    }
    if said.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        // a name of a program has a capital inside, and everything else a mark or a digit
        let role = numbers::word(said).or_else(|| has_hump(said).then_some(Role::Whole(Kind::Identifier)))?;
        return Some(Part { role, start, end: start + said.len() });
    }
    if let Some((role, length)) = numbers::read(&text[start..], said) {
        return Some(Part { role, start, end: start + length });
    }
    // a closing tag, the method of a string
    let is_tag = token.before.ends_with('<') && said.starts_with('/');
    let is_method = said.starts_with('.') && text[start + said.len()..].starts_with('(');
    let (kind, length) = kind_of(said).filter(|_| !is_tag && !is_method)?;
    // `console.log(`
    let is_called = kind == Kind::File && is_member(said) && text[start + length..].starts_with('(');
    let kind = if is_called { Kind::Identifier } else { kind };
    Some(Part { role: Role::Whole(kind), start, end: start + length })
}

/// The kind of a token, and how much of it belongs to the entity.
fn kind_of(said: &str) -> Option<(Kind, usize)> {
    let line = without_line(said);
    match () {
        () if is_url(said) => Some((Kind::Url, said.len())),
        () if is_email(said) => Some((Kind::Email, said.len())),
        () if is_path(line) => Some((Kind::Path, line.len())),
        () if is_file(line) => Some((Kind::File, line.len())),
        () if is_identifier(said) => Some((Kind::Identifier, said.len())),
        () => numbers::is_code(said).then_some((Kind::Code, said.len())),
    }
}

fn is_url(said: &str) -> bool {
    let scheme = said.split_once("://").map(|(scheme, rest)| (scheme, rest.len()));
    let is_scheme = |scheme: &str| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    };
    scheme.is_some_and(|(scheme, rest)| is_scheme(scheme) && rest > 0)
        || said.starts_with("www.")
        || is_host(said)
}

/// `example.org`, `example.org/a`: a name with a domain that no file and no member of a program has.
fn is_host(said: &str) -> bool {
    const DOMAINS: &str = " com org net edu gov io dev app info de uk fr nl eu ch ru jp cn br ";
    let host = said.split(['/', ':']).next().unwrap_or(said);
    let Some((name, domain)) = host.rsplit_once('.') else { return false };
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    is_name && name.len() > 1 && is_listed(DOMAINS, domain)
}

fn is_email(said: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "._+-%".contains(c));
    let mut parts = said.split('@');
    let (Some(user), Some(host), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    is_part(user) && is_part(host) && host.contains('.')
}

/// A file's name without the line that is told behind it: `a.rs:42`, `a.rs:42:7`.
fn without_line(said: &str) -> &str {
    let mut name = said;
    while let Some((rest, line)) = name.rsplit_once(':')
        && !line.is_empty()
        && line.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = rest;
    }
    name
}

/// From the root or the home, or with directories before a file or in three steps: not `and/or`, `km/h`, `1/2`.
fn is_path(said: &str) -> bool {
    let is_drive = said.as_bytes().get(1..3) == Some(b":\\") || said.starts_with("\\\\");
    let said = if is_drive { &said[2..] } else { said };
    let inner = said.trim_start_matches(['~', '.', '@']);
    let is_char = |c: char| c.is_alphanumeric() || "/._-@+~\\$%*".contains(c);
    if !said.contains(['/', '\\']) || !said.contains(char::is_alphabetic) || !said.chars().all(is_char) {
        return false;
    }
    let starts = inner.starts_with('/') && !inner.starts_with("//") && inner.len() > 2;
    let steps = said.split('/').filter(|step| !step.is_empty()).count();
    let is_deep = steps > 2 && said.split('/').all(|step| step.len() > 1);
    is_drive || starts || is_deep || said.rsplit('/').next().is_some_and(is_file)
}

/// A name with the extension of a file, or a hidden one.
fn is_file(said: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "._-@+*".contains(c));
    let Some((stem, extension)) = said.rsplit_once('.') else { return false };
    match stem.is_empty() {
        true => extension.len() > 2 && extension.bytes().all(|byte| byte.is_ascii_lowercase()),
        false => is_name(stem) && is_listed(EXTENSIONS, &extension.to_ascii_lowercase()),
    }
}

const EXTENSIONS: &str = " avi bak bash bat bin bmp bz2 c cc cfg conf cpp cs css csv cxx dart db diff doc docx ejs env eps erb ex \
    exe exs f90 flac gif go gz h hpp hs htm html ico ini ipynb jar java jpeg jpg js json jsonl jsx key kt kts less lock log \
    lua m4a md mdx mjs ml mov mp3 mp4 odt ogg parquet patch pdf pem php pl png po pony ppt pptx proto ps1 py pyi r rar rb \
    rs rst rtf sass scala scss sh sql sqlite svelte svg swift tar tex tf tgz tif tiff toml ts tsv tsx ttf txt vue wav webm \
    webp whl xls xlsx xml yaml yml zig zip zsh ";

fn is_listed(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|listed| listed == word)
}

/// A name of a program: of several words without blanks, called, qualified, or an option.
fn is_identifier(said: &str) -> bool {
    let called = said.strip_suffix("()");
    let name = called.unwrap_or(said);
    let option = name.strip_prefix("--");
    let name = option.unwrap_or(name).trim_start_matches(['$', '@', '&']);
    let is_char = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '$' | '\'');
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') || !name.chars().all(is_char) {
        return false;
    }
    let is_joined = name.trim_matches('_').contains('_') && name.contains(char::is_alphabetic);
    let is_mixed =
        || name.contains(|c: char| c.is_ascii_digit()) && name.contains(|c: char| c.is_ascii_lowercase());
    (called.is_some() || option.is_some()) && name.len() > 1
        || is_joined
        || has_hump(name) && !name.contains('\'')
        || name.split("::").filter(|part| !part.is_empty()).count() > 1
        || is_member(name)
        || is_mixed() && name.len() > 3 && !numbers::is_code(name)
}

/// A capital behind a small letter: `camelCase`.
fn has_hump(name: &str) -> bool {
    let mut before = ' ';
    name.chars().any(|c| std::mem::replace(&mut before, c).is_lowercase() && c.is_uppercase())
}

/// `os.path`: not `e.g`, `p.m`, nor two sentences without a blank between.
fn is_member(name: &str) -> bool {
    let is_part =
        |part: &str| part.len() > 1 && part.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    name.contains('.') && !name.contains('-') && name.split('.').all(is_part)
}
