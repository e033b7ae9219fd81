//! How to reach the database.

use std::{fmt, path::PathBuf, str::FromStr};

use tokio_postgres::{
    Config,
    config::{Host, TargetSessionAttrs},
};

use utterd_domain::limits::{DATABASE_CONNECT_TIMEOUT, DEFAULT_DATABASE_CONNECTIONS};

/// The database, and how to use it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address of the database.
    pub url: DatabaseUrl,
    /// The schema that holds the tables. Each schema is a separate store.
    pub schema: String,
    /// The maximum number of connections for statements. The process opens one more to listen.
    pub connections: usize,
    /// A PEM file of the authorities that sign the server's certificate; by default, the system's authorities.
    pub authorities: Option<PathBuf>,
    /// Whether the events of commits are stored.
    pub events: bool,
}

impl Options {
    /// Returns the default options for a database.
    pub fn new(url: DatabaseUrl) -> Self {
        let schema = "utterd".to_owned();
        Self { url, schema, connections: DEFAULT_DATABASE_CONNECTIONS, authorities: None, events: true }
    }
}

/// The address of a database: `postgres://user@host/database`. Shown without its password.
///
/// - Several hosts can be given; the one that accepts writes is used.
/// - A server's certificate is always checked, so `sslmode=verify-full` means the same as `require`.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Config);

impl DatabaseUrl {
    pub(in crate::postgres) fn config(&self) -> &Config {
        &self.0
    }

    /// The hosts with their ports, for messages.
    pub(in crate::postgres) fn hosts(&self) -> String {
        let named = self.0.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        });
        let mut hosts: Vec<String> = named.collect();
        if hosts.is_empty() {
            hosts = self.0.get_hostaddrs().iter().map(ToString::to_string).collect();
        }
        let ports = self.0.get_ports();
        for (place, host) in hosts.iter_mut().enumerate() {
            let port = ports.get(place).or(ports.first()).copied().unwrap_or(5432);
            *host = format!("{host}:{port}");
        }
        hosts.join(",")
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
        // the parser's errors never repeat the password
        let mut config: Config = checked.parse().map_err(|error| format!("{ACCEPTED}: {error}"))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(format!("{ACCEPTED}: it names no host"));
        }
        // a host with an @ begins with part of a password, and hosts are shown
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(format!("{ACCEPTED}: an @ in a password is written %40"));
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
        let user = self.0.get_user().unwrap_or_default();
        let database = self.0.get_dbname().unwrap_or(user);
        write!(f, "postgres://{user}@{}/{database}", self.hosts())
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
        let url = "postgres://ann:secret@db1,db2:5433/talk?sslmode=verify-full".parse::<DatabaseUrl>();
        let url = url.unwrap();
        assert_eq!(url.to_string(), "postgres://ann@db1:5432,db2:5433/talk");
        assert!(!format!("{url:?}").contains("secret"));
        assert_eq!(url.hosts().to_string(), "db1:5432,db2:5433");
        let by_address = "postgres://ann@/talk?hostaddr=10.0.0.7".parse::<DatabaseUrl>().unwrap();
        assert_eq!(by_address.hosts().to_string(), "10.0.0.7:5432");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for wrong in [
            "",
            "db",
            "mysql://ann:secret@db/talk",
            "postgres://",
            "postgres://db/talk?sslmode=maybe",
            "postgres://ann:s@ecret@db/talk",
            "postgres://ann:secret/talk",
            "postgres://ann@db/talk?pasword=secret",
        ] {
            let error = wrong.parse::<DatabaseUrl>().unwrap_err();
            assert!(!error.contains("ecret"), "{error}");
            assert!(error.contains("such as postgres://user@host:5432/database"), "{wrong}: {error}");
        }
    }
}
