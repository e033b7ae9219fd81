//! The address of a database.

use std::{fmt, str::FromStr};

/// The URL of a PostgreSQL database. It is shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The URL with its password.
    pub fn with_password(&self) -> &str {
        &self.0
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.starts_with("postgres://") || text.starts_with("postgresql://") {
            true => Ok(Self(text.to_owned())),
            false => Err("a PostgreSQL URL, such as postgres://user@host:5432/database".to_owned()),
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // a password can contain any character that ends no part, so the last `@` ends it
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("postgres", &self.0));
        let (user, rest) = rest.rsplit_once('@').map_or(("", rest), |(user, rest)| (user, rest));
        let user = user.split(':').next().unwrap_or_default();
        let at = if user.is_empty() { "" } else { "@" };
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let shown = parameters.split('&').filter(|it| !it.is_empty() && !it.starts_with("password="));
        let shown: Vec<_> = shown.collect();
        let mark = if shown.is_empty() { "" } else { "?" };
        write!(f, "{scheme}://{user}{at}{place}{mark}{}", shown.join("&"))
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
            ("postgres://ann:se@cret:x@db/talk", "postgres://ann@db/talk"),
            (
                "postgresql://ann@db1,db2:5433/talk?sslmode=require",
                "postgresql://ann@db1,db2:5433/talk?sslmode=require",
            ),
            ("postgres://db/talk?user=ann&password=secret", "postgres://db/talk?user=ann"),
            ("postgres:///talk?password=secret", "postgres:///talk"),
        ] {
            assert_eq!(url.parse::<DatabaseUrl>().unwrap().to_string(), shown);
        }
        assert!("mysql://db/talk".parse::<DatabaseUrl>().unwrap_err().contains("a PostgreSQL URL"));
    }
}
