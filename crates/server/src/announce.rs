//! The announcement that a server serves.

use std::{fmt, io::Write, process};

use clap::ValueEnum;
use serde_json::json;

use utterd_config::{Listen, Settings};
use utterd_telemetry::terminal;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How a server announces on stdout that it serves, and where.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Announce {
    /// for people, with a first call to try
    #[default]
    Text,
    /// for programs, on one line
    Json,
    /// For a person, followed by the function's text for the address.
    #[value(skip)]
    Tour(fn(&Listen) -> String),
}

impl Announce {
    /// Announces on stdout that `address` is served, and the inspector on its own address if it is. A closed stdout
    /// does not stop the server.
    pub fn write(self, address: &Listen, inspector: Option<&Listen>, settings: &Settings) {
        let inspector = inspector.map(|listen| page(listen, settings));
        let also = inspector.as_ref().map_or_else(String::new, |page| format!("\ninspector: {page}"));
        let text = match self {
            Self::Text => {
                format!("utterd {VERSION} listening on {address}{also}\n{}", text(address, settings))
            }
            Self::Json => json(address, inspector),
            Self::Tour(tour) => format!("utterd {VERSION} listening on {address}{also}\n{}", tour(address)),
        };
        let mut stdout = terminal::stdout();
        if let Err(error) = writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            tracing::warn!(%error, "could not announce on stdout that {address} is served");
        }
    }
}

/// What a person opens in a browser on this machine.
fn page(listen: &Listen, settings: &Settings) -> String {
    match listen {
        Listen::Unix(_) => listen.to_string(),
        Listen::Tcp(_) if settings.tls_cert.is_some() => format!("https://{}/", listen.reached()),
        Listen::Tcp(_) => format!("http://{}/", listen.reached()),
    }
}

/// The announcement for a program, with the addresses for clients and browsers on this machine.
fn json(address: &Listen, inspector: Option<String>) -> String {
    let address = address.reached().to_string();
    let mut announcement = json!({ "address": address, "pid": process::id(), "version": VERSION });
    if let Some(inspector) = inspector {
        announcement["inspector"] = inspector.into();
    }
    announcement.to_string()
}

fn text(address: &Listen, settings: &Settings) -> String {
    let (how, target): (_, &dyn fmt::Display) = match address {
        Listen::Unix(path) => ("-plaintext -unix", &path.display()),
        Listen::Tcp(address) if settings.tls_cert.is_none() => ("-plaintext", address),
        Listen::Tcp(address) if settings.tls_client_ca.is_none() => ("-insecure", address),
        Listen::Tcp(address) => ("-insecure -cert CERT -key KEY", address),
    };
    format!(
        "try it: utterd --help, or\n  grpcurl {how} -d '{{\"utterances\":[{{\"role\":\"ROLE_USER\",\"content\":\"hi\"}}]}}' {target} utterd.v1.MemoryService/Memorize"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_where_it_can_connect() {
        let told = json(&Listen::parse("0.0.0.0:7").unwrap(), None);
        let pid = process::id();
        assert_eq!(told, format!(r#"{{"address":"127.0.0.1:7","pid":{pid},"version":"{VERSION}"}}"#));
        assert!(json(&Listen::parse("unix:/a \"b\"").unwrap(), None).contains(r#""unix:/a \"b\"""#));
    }
}
