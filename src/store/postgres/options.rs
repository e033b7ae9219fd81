//! How to reach the database.

use std::{fmt, path::PathBuf, str::FromStr};

use tokio_postgres::{Config, config::TargetSessionAttrs};

use crate::domain::limits::{DATABASE_CONNECT_TIMEOUT, DEFAULT_DATABASE_CONNECTIONS};

/// The database, and how to use it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its address.
    pub url: DatabaseUrl,
    /// The schema that holds the tables; another one is another store.
    pub schema: String,
    /// The most connections that this process opens for statements; it opens one more to listen.
    pub connections: usize,
    /// The authorities that sign the server's certificate, in PEM; those of the system by default.
    pub authorities: Option<PathBuf>,
    /// Whether the events of commits are stored.
    pub events: bool,
}

impl Options {
    /// The options with their defaults.
    pub fn new(url: DatabaseUrl) -> Self {
        let schema = "utterd".to_owned();
        Self { url, schema, connections: DEFAULT_DATABASE_CONNECTIONS, authorities: None, events: true }
    }
}

/// The address of a database: `postgres://user@host/database`. Shown without its password.
///
/// - Several hosts can be given; the one that accepts writes is used.
/// - A server's certificate is always checked, so `sslmode=verify-full` means the same as `require`.
#[derive(Clone)]
pub struct DatabaseUrl(Config);

impl DatabaseUrl {
    pub(super) fn config(&self) -> &Config {
        &self.0
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const ACCEPTED: &str = "must be a PostgreSQL URL, such as postgres://user@host:5432/database";
        if !(text.starts_with("postgres://") || text.starts_with("postgresql://")) {
            return Err(ACCEPTED.to_owned());
        }
        let checked = text.replace("sslmode=verify-full", "sslmode=require");
        let checked = checked.replace("sslmode=verify-ca", "sslmode=require");
        // its errors never repeat the password
        let mut config: Config = checked.parse().map_err(|error| format!("{ACCEPTED}: {error}"))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(format!("{ACCEPTED}: it names no host"));
        }
        if config.get_user().is_none() {
            return Err(format!("{ACCEPTED}: it names no user"));
        }
        if config.get_application_name().is_none() {
            config.application_name("utterd");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(DATABASE_CONNECT_TIMEOUT);
        }
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self(config))
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use tokio_postgres::config::Host;
        write!(f, "postgres://{}@", self.0.get_user().unwrap_or_default())?;
        for (place, host) in self.0.get_hosts().iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            let port = self.0.get_ports().get(place).or(self.0.get_ports().first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}:{port}")?,
                Host::Unix(path) => write!(f, "{comma}{}:{port}", path.display())?,
            }
        }
        write!(f, "/{}", self.0.get_dbname().or(self.0.get_user()).unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for DatabaseUrl {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for DatabaseUrl {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        let url = "postgres://ann:secret@db1,db2:5433/talk?sslmode=verify-full".parse::<DatabaseUrl>();
        let url = url.unwrap();
        assert_eq!(url.to_string(), "postgres://ann@db1:5432,db2:5433/talk");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for wrong in ["", "db", "mysql://ann@db/talk", "postgres://", "postgres://db/talk?sslmode=maybe"] {
            let error = wrong.parse::<DatabaseUrl>().unwrap_err();
            assert!(error.contains("such as postgres://user@host:5432/database"), "{wrong}: {error}");
        }
    }
}
