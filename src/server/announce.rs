//! The announcement that a server serves.

use std::{
    fmt,
    io::{self, Write},
    process,
};

use clap::ValueEnum;
use serde::Serialize;

use crate::config::{Listen, Settings};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How a server announces on stdout that it serves, and where.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Announce {
    /// For a person, with a first call to try.
    #[default]
    Text,
    /// For a program: one line of JSON and nothing else.
    Json,
    /// For a person, followed by the function's text for the address.
    #[value(skip)]
    Tour(fn(&Listen) -> String),
}

/// The announcement for a program.
#[derive(Serialize)]
struct Announcement {
    /// The address for clients on this machine.
    address: String,
    pid: u32,
    version: &'static str,
}

impl Announce {
    /// Announces on stdout that `address` is served. A closed stdout does not stop the server.
    pub fn write(self, address: &Listen, settings: &Settings) {
        let text = match self {
            Self::Text => text(address, settings),
            Self::Json => json(address),
            Self::Tour(tour) => format!("utterd {VERSION} listening on {address}\n{}", tour(address)),
        };
        let mut stdout = io::stdout().lock();
        if let Err(error) = writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            tracing::warn!(%error, "could not announce on stdout that {address} is served");
        }
    }
}

fn json(address: &Listen) -> String {
    let announcement =
        Announcement { address: address.reached().to_string(), pid: process::id(), version: VERSION };
    serde_json::json!(announcement).to_string()
}

fn text(address: &Listen, settings: &Settings) -> String {
    let (how, target): (_, &dyn fmt::Display) = match address {
        Listen::Unix(path) => ("-plaintext -unix", &path.display()),
        Listen::Tcp(address) if settings.tls_cert.is_none() => ("-plaintext", address),
        Listen::Tcp(address) if settings.tls_client_ca.is_none() => ("-insecure", address),
        Listen::Tcp(address) => ("-insecure -cert CERT -key KEY", address),
    };
    format!(
        "utterd {VERSION} listening on {address}\ntry it: utterd --help, or\n  grpcurl {how} -d '{{\"utterances\":[{{\"role\":\"ROLE_USER\",\"content\":\"hi\"}}]}}' {target} utterd.v1.MemoryService/Memorize"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_where_it_can_connect() {
        let told = json(&Listen::parse("0.0.0.0:7").unwrap());
        let pid = process::id();
        assert_eq!(told, format!(r#"{{"address":"127.0.0.1:7","pid":{pid},"version":"{VERSION}"}}"#));
        assert!(json(&Listen::parse("unix:/a \"b\"").unwrap()).contains(r#""unix:/a \"b\"""#));
    }
}
