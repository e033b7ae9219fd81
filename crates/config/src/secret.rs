//! Hides texts that may hold a secret: an address that may hold a password is never shown, however it is
//! misspelled.

use std::borrow::Cow;

/// The replacement for a text that is not shown.
pub const HIDDEN: &str = "[not shown: it may hold a secret]";

/// Words that suggest a secret.
const WORDS: [&str; 9] =
    ["password", "passwd", "passfile", "pass=", "pwd=", "pw=", "secret", "token=", "key="];
/// How the addresses of databases begin.
const DATABASES: [&str; 2] = ["postgres", "postgresql"];

/// Returns `text`, or [`HIDDEN`] if it may hold a secret.
pub fn shown(text: &str) -> Cow<'_, str> {
    if may_hold_secret(text) { HIDDEN.into() } else { text.into() }
}

fn may_hold_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let names_user = text.contains('@') && text.contains([':', '/']);
    names_user || WORDS.iter().any(|word| text.contains(word)) || is_database(&text) || has_secret_part(&text)
}

/// Whether the text begins like the address of a database, and goes on.
fn is_database(text: &str) -> bool {
    let mut rests = DATABASES.iter().filter_map(|name| text.trim_start().strip_prefix(name));
    rests.any(|rest| rest.starts_with([':', '/']))
}

/// Whether a URL has a query, or something other than a port behind a colon.
fn has_secret_part(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // an IPv6 address is in brackets
    let ports = authority.rsplit(']').next().unwrap_or_default().split(',');
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let mut behind = ports.filter_map(|host| host.split_once(':'));
    rest.contains('?') || behind.any(|(_, port)| !is_port(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_hold_a_secret_is_not_shown() {
        for text in [
            "postgres:/u:PW@h",
            "postgres//u:PW@h",
            "postgres:u:PW",
            "postgres/u/PW",
            "Postgres://u:PW@h/db",
            "PW@h:5432",
            "mysql://u:PW@h/db",
            "mysql://u:PW/db",
            "host=h user=u password=PW",
            "http://u:PW@h/v1",
            "http://PW@h",
            "https://h/v1?x=PW",
            "https://h:443,u:PW/v1",
        ] {
            assert_eq!(shown(text), HIDDEN, "{text}");
        }
        for text in [
            "",
            "rocks",
            "postgres",
            "fjall:/var/lib/utterd",
            "0.0.0.0:1",
            "[::1]:50051",
            "http://[::1]:4318/v1",
            "http://127.0.0.1:11434/v1",
            "ftp://example.org/",
            "info,utterd::calls=debug",
            "ann@example.org",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
