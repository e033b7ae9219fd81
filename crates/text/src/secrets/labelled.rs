//! Credentials that are known by their label.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::look::{Form, Kind, is_secret};

/// How the label of a password ends, in lower case.
const PASSWORDS: [&str; 23] = [
    "password",
    "passwd",
    "passcode",
    "passphrase",
    "pass phrase",
    "pwd",
    "pass",
    "passwort",
    "kennwort",
    "contraseña",
    "clave de acceso",
    "mot de passe",
    "senha",
    "parola d'ordine",
    "wachtwoord",
    "пароль",
    "пароля",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "hasło",
    "비밀번호",
];
/// How the label of another credential ends.
const KEYS: [&str; 31] = [
    "secret",
    "token",
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "access key",
    "access_key",
    "access-key",
    "accesskey",
    "private key",
    "private_key",
    "private-key",
    "privatekey",
    "secret key",
    "secret_key",
    "secret-key",
    "secretkey",
    "secret_key_base",
    "signing key",
    "signing_key",
    "encryption_key",
    "account_key",
    "accountkey",
    "sharedaccesskey",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "bearer",
    "密钥",
];
/// How the names of cookies that log someone in end.
const SESSIONS: [&str; 6] = ["session", "sessionid", "session_id", "sessid", "sid", "cookie"];
/// A longer value is judged by its beginning, so that many labels on a long line take no long time.
const VALUE_BYTES: usize = 256;
/// Punctuation behind a value is shorter.
const LEAST_BYTES: usize = 8;
/// No name of an option is longer.
const OPTION_BYTES: usize = 32;
/// Before `token`: what says where a list goes on, which opens nothing.
const PLACES: [&str; 7] = ["page", "next", "continuation", "sync", "cancellation", "resume", "cursor"];
/// Between a label and its value.
const VERBS: [&str; 14] = [
    " is ", " was ", " are ", " to ", " it's ", " ist ", " lautet ", " es ", " est ", " é ", " è ", " is: ",
    "是", "は",
];
/// The schemes of the header `Authorization`.
const SCHEMES: [&str; 6] = ["bearer ", "basic ", "token ", "apikey ", "digest ", "negotiate "];

static LABELS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let labels = PASSWORDS.iter().chain(&KEYS).chain(&SESSIONS);
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(labels)
        .ok()
});

/// Adds the places of values whose labels say that they are credentials.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(labels) = &*LABELS else { return };
    let mut end = 0;
    for label in labels.find_iter(text).filter(|label| ends_label(text, &label.range())) {
        let which = label.pattern().as_usize();
        let kind = if which < PASSWORDS.len() { Kind::Password } else { Kind::Key };
        let is_session = which >= PASSWORDS.len() + KEYS.len();
        if label.start() < end || is_place(text, &label.range()) {
            continue;
        }
        let Some(value) = value(text, &label.range()) else { continue };
        if value.holds(kind) && (!is_session || is_cookie(value.text)) {
            let start = text.len() - value.behind.len();
            end = start + value.length();
            found.push(start..end);
        }
    }
}

/// Whether a label ends here and nothing else: not `token_count`, `secretary` or `tokens`.
fn ends_label(text: &str, label: &Range<usize>) -> bool {
    let next = text[label.end..].chars().next();
    let is_wide = !text[label.clone()].is_ascii();
    let joins = |c: char| (c.is_alphanumeric() && !is_wide) || matches!(c, '_' | '-');
    !next.is_some_and(joins) && starts_label(text, label)
}

/// Whether it is a word of its own, or the end of a name: `DB_PASSWORD`, `clientSecret`, `dbpassword`. Short ones are not
/// the end of another word (`inside`, `north`).
fn starts_label(text: &str, label: &Range<usize>) -> bool {
    let before = text[..label.start].chars().next_back();
    let name = &text[label.clone()];
    if name.eq_ignore_ascii_case("pass") {
        return matches!(before, Some('_' | '-')); // alone, it is a verb
    }
    let is_short = name.len() < 6 && name.is_ascii();
    let is_hump =
        name.starts_with(|c: char| c.is_ascii_uppercase()) && before.is_some_and(char::is_lowercase);
    !(is_short && before.is_some_and(char::is_alphanumeric)) || is_hump
}

fn is_place(text: &str, label: &Range<usize>) -> bool {
    let start = text.floor_char_boundary(label.start.saturating_sub(16));
    let before = text[start..label.start].trim_end_matches(['_', '-', ' ', '.']).to_ascii_lowercase();
    PLACES.iter().any(|place| before.ends_with(place))
}

/// What stands beside a label.
struct Value<'a> {
    /// The value, or the beginning of a long one.
    text: &'a str,
    /// The rest of the text from the value on.
    behind: &'a str,
    ends: End,
    form: Form,
    /// Behind a scheme of `Authorization`, which leaves no doubt.
    is_sent: bool,
    /// It can consist of words.
    is_phrase: bool,
}

/// What a value ends at.
#[derive(Clone, Copy)]
enum End {
    /// Its quotation mark.
    At(char),
    /// A blank, or a mark that no value has.
    Blank,
}

impl End {
    fn is(self, c: char) -> bool {
        match self {
            Self::At(quote) => c == quote || c == '\n',
            Self::Blank => {
                c.is_whitespace()
                    || matches!(c, ';' | '"' | '\'' | '`' | '<' | '&' | '\\' | '，' | '。' | '；')
            }
        }
    }
}

impl Value<'_> {
    fn holds(&self, kind: Kind) -> bool {
        match self.text.contains(' ') {
            true => self.is_phrase && self.form == Form::Quoted && self.text.split(' ').count() >= 4,
            false if self.is_sent => is_secret(self.text, Kind::Password, Form::Quoted),
            false => is_secret(self.text, kind, self.form),
        }
    }

    fn length(&self) -> usize {
        if self.text.len() + LEAST_BYTES < VALUE_BYTES {
            return self.text.len();
        }
        self.behind.find(|c| self.ends.is(c)).unwrap_or(self.behind.len())
    }
}

/// An id of a session that only names it stays: a UUID, a number.
fn is_cookie(value: &str) -> bool {
    let is_uuid = value.len() == 36 && value.bytes().filter(|byte| *byte == b'-').count() == 4;
    value.len() >= 16 && !is_uuid
}

/// The value behind a label.
fn value<'a>(text: &'a str, label: &Range<usize>) -> Option<Value<'a>> {
    let rest = &text[label.end..];
    let (behind, form) = separated(rest).or_else(|| behind_option(text, label)).or_else(|| in_tag(rest))?;
    let sent = SCHEMES.iter().find_map(|scheme| {
        let head = behind.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| behind[scheme.len()..].trim_start())
    });
    let behind = sent.unwrap_or(behind);
    let opened = behind.trim_start_matches('\\');
    let quote = opened.chars().next().filter(|c| matches!(c, '"' | '\'' | '`' | '“' | '«' | '「'));
    let (behind, ends, form) = match quote {
        Some(quote) => (&opened[quote.len_utf8()..], End::At(closing(quote)), Form::Quoted),
        None => (behind, End::Blank, form),
    };
    let near = &behind[..behind.floor_char_boundary(VALUE_BYTES)];
    let said = near.split(|c| ends.is(c)).next().unwrap_or_default();
    let said = if quote.is_some() { said.trim_end_matches('\\') } else { without_ends(said) };
    let is_phrase = text[label.clone()].to_ascii_lowercase().ends_with("phrase");
    Some(Value { text: said, behind, ends, form, is_sent: sent.is_some(), is_phrase })
}

/// A value without the punctuation of the sentence around it.
fn without_ends(value: &str) -> &str {
    let is_open = value.contains(['(', '[', '{']);
    value.trim_end_matches(|c: char| {
        matches!(c, '.' | ',' | ':' | '?') || matches!(c, ')' | ']' | '}') && !is_open
    })
}

fn closing(quote: char) -> char {
    match quote {
        '“' => '”',
        '«' => '»',
        '「' => '」',
        same => same,
    }
}

/// What stands behind the separator that follows a label, and how.
fn separated(rest: &str) -> Option<(&str, Form)> {
    let closed = rest.trim_start_matches(['"', '\'', '`', '*', ']', '\\']);
    let is_closed = closed.len() < rest.len();
    if let Some(verb) = VERBS.iter().find(|verb| closed.starts_with(**verb)) {
        return Some((closed[verb.len()..].trim_start_matches([' ', ':']), Form::Bare));
    }
    let spaced = closed.trim_start_matches([' ', '\t', '（', '(']);
    let behind = ["=>", ":=", "=", "：", ":", "|"].iter().find_map(|mark| spaced.strip_prefix(*mark))?;
    let is_env = spaced.starts_with('=') && spaced.len() == rest.len() && !is_closed;
    let form = if is_env && !behind.starts_with([' ', '=', '>']) { Form::Assigned } else { Form::Bare };
    (!behind.starts_with('=')).then(|| (behind.trim_start_matches([' ', '\t', '*']), form))
}

/// The value of an option: `--password X`, and of the words `Bearer X`.
fn behind_option<'a>(text: &'a str, label: &Range<usize>) -> Option<(&'a str, Form)> {
    let head = &text[text.floor_char_boundary(label.start.saturating_sub(OPTION_BYTES))..label.start];
    let is_option = head.rsplit(char::is_whitespace).next().is_some_and(|name| name.starts_with("--"));
    let is_bearer = text[label.clone()].eq_ignore_ascii_case("bearer");
    let value = text[label.end..].strip_prefix([' ', '\t']).filter(|_| is_option || is_bearer)?;
    Some((value.trim_start_matches([' ', '\t']), if is_option { Form::Assigned } else { Form::Bare }))
}

/// The value of `<password>value</password>`.
fn in_tag(rest: &str) -> Option<(&str, Form)> {
    let value = rest.strip_prefix('>')?;
    let near = &value[..value.floor_char_boundary(VALUE_BYTES)];
    near.find('<').filter(|end| value[*end..].starts_with("</")).map(|_| (value, Form::Quoted))
}
