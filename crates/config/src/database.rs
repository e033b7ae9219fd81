//! The address of a database.

use std::{fmt, str::FromStr};

/// The URL of a PostgreSQL database. It is shown without its password. A text that is not such a URL is never
/// shown, because it may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

/// The parameters that are shown.
const SHOWN: [&str; 8] =
    ["user", "dbname", "host", "hostaddr", "port", "sslmode", "application_name", "target_session_attrs"];

impl DatabaseUrl {
    /// The URL with its password.
    pub fn with_password(&self) -> &str {
        &self.0
    }
}

/// The parts of a URL.
struct Parts<'a> {
    scheme: &'a str,
    /// The user, and perhaps a password.
    login: Option<&'a str>,
    hosts: &'a str,
    /// The path to the database.
    path: &'a str,
    parameters: &'a str,
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let (login, rest) = rest.split_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        Some(Self { scheme, login, hosts, path, parameters })
    }

    fn user(&self) -> Option<&'a str> {
        self.login.and_then(|login| login.split(':').next())
    }

    fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.parameters.split('&').filter_map(|parameter| parameter.split_once('='))
    }

    /// Returns what is wrong with the URL, if a password might be in another part than it should be.
    fn fault(&self) -> Option<&'static str> {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let hosts = self.hosts.split(',').map(|host| host.rsplit_once(']').map_or(host, |(_, port)| port));
        let mut ports = hosts.filter_map(|host| host.split_once(':'));
        match () {
            () if !["postgres", "postgresql"].contains(&self.scheme) => Some("it has another scheme"),
            () if self.hosts.contains('@') || self.path.contains('@') => {
                Some("an @ in a password is written %40")
            }
            () if self.user().is_some_and(|user| user.contains(['/', '?', '&', '='])) => {
                Some("an @ behind the hosts is written %40")
            }
            () if ports.any(|(_, port)| !is_port(port)) => Some("a port is not a number"),
            () if self.login.is_none() && self.parameters().all(|(name, _)| name != "user") => {
                Some("it names no user")
            }
            () => None,
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const ACCEPTED: &str = "a PostgreSQL URL, such as postgres://user@host:5432/database";
        let Some(parts) = Parts::of(text) else { return Err(ACCEPTED.to_owned()) };
        match parts.fault() {
            None => Ok(Self(text.to_owned())),
            Some(fault) => Err(format!("{ACCEPTED} ({fault})")),
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parts) = Parts::of(&self.0) else { return Ok(()) };
        write!(f, "{}://", parts.scheme)?;
        if let Some(user) = parts.user() {
            write!(f, "{user}@")?;
        }
        write!(f, "{}{}", parts.hosts, parts.path)?;
        let shown = parts.parameters().filter(|(name, _)| SHOWN.contains(name));
        for (place, (name, value)) in shown.enumerate() {
            write!(f, "{}{name}={value}", if place == 0 { "?" } else { "&" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://ann:se%40cret:x@db/talk", "postgres://ann@db/talk"),
            ("postgres://ann:se/c?ret@db/talk", "postgres://ann@db/talk"),
            (
                "postgresql://ann@db1,db2:5433/talk?sslmode=require",
                "postgresql://ann@db1,db2:5433/talk?sslmode=require",
            ),
            ("postgres://ann:secret@[::1]:5432/talk", "postgres://ann@[::1]:5432/talk"),
            ("postgres://db/talk?user=ann&password=secret", "postgres://db/talk?user=ann"),
            ("postgres://ann@db/talk?passwrd=secret&secret", "postgres://ann@db/talk"),
        ] {
            let url = url.parse::<DatabaseUrl>().unwrap();
            assert_eq!((url.to_string(), format!("{url:?}")), (shown.to_owned(), shown.to_owned()));
        }
    }

    #[test]
    fn what_is_no_url_is_not_repeated() {
        for (wrong, why) in [
            ("mysql://ann:secret@db/talk", "it has another scheme"),
            ("postgres:/ann:secret@db", "a PostgreSQL URL"),
            ("host=db password=secret", "a PostgreSQL URL"),
            ("postgres://ann:se@cret@db/talk", "written %40"),
            ("postgres://ann:secret/talk", "a port is not a number"),
            ("postgres://ann:12345/talk", "it names no user"),
            ("postgres://db/talk?user=ann&password=secret&application_name=a@b", "behind the hosts"),
        ] {
            let error = wrong.parse::<DatabaseUrl>().unwrap_err();
            assert!(error.contains(why) && error.contains("such as postgres://user@host:5432"), "{error}");
            assert!(!error.contains("cret") && !error.contains("12345"), "{error}");
        }
    }
}
