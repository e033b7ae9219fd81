//! The credentials that a client sends to the server.

use std::{env, net::IpAddr, path::PathBuf};

use clap::Args;
use http::Uri;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::Interceptor,
    transport::Endpoint,
};

use super::{errors::CliError, help::CONNECTION, terminal::read, trust::Trust};

/// The metadata that holds a token, as `Bearer TOKEN`.
const AUTHORIZATION: &str = "authorization";
/// The metadata that names the namespace.
const NAMESPACE: &str = "utterd-namespace";
/// The variable that holds the token.
const TOKEN: &str = "UTTERD_TOKEN";
/// The variable that names a file with the token.
const TOKEN_FILE: &str = "UTTERD_TOKEN_FILE";

/// The credentials that a client sends to the server, and the servers that it trusts.
#[derive(Clone, Debug, Default, Args)]
pub struct Access {
    /// The file with the token, for a server that requires credentials [env: UTTERD_TOKEN_FILE, or the token itself in
    /// UTTERD_TOKEN]
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = CONNECTION)]
    token_file: Option<PathBuf>,
    /// The namespace to work in; only an admin's token can choose one
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = CONNECTION)]
    namespace: Option<String>,
    /// Send the token to another machine even without TLS, where others can read it
    #[arg(long, hide_short_help = true, help_heading = CONNECTION)]
    insecure: bool,
    #[command(flatten)]
    trust: Trust,
}

/// Adds the caller's credentials to each call.
#[derive(Clone, Default)]
pub struct Identity {
    authorization: Option<MetadataValue<Ascii>>,
    namespace: Option<MetadataValue<Ascii>>,
}

#[cfg(feature = "mcp")]
impl Identity {
    /// The identity in the headers of an HTTP request, which are the same as in a gRPC call. `None` if one of them is
    /// not text, or occurs twice.
    pub fn shown_in(headers: &http::HeaderMap) -> Option<Self> {
        let one = |name: &str| {
            let mut given = headers.get_all(name).iter();
            match (given.next(), given.next()) {
                (None, _) => Some(None),
                (Some(value), None) => MetadataValue::try_from(value.as_bytes()).ok().map(Some),
                _ => None,
            }
        };
        let mut authorization = one(AUTHORIZATION)?;
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        Some(Self { authorization, namespace: one(NAMESPACE)? })
    }
}

impl Interceptor for Identity {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        if let Some(authorization) = &self.authorization {
            metadata.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(namespace) = &self.namespace {
            metadata.insert(NAMESPACE, namespace.clone());
        }
        Ok(request)
    }
}

impl Access {
    /// The flag or variable that gives this process an identity of its own; `None` if there is none.
    #[cfg(feature = "mcp")]
    pub fn own(&self) -> Option<&'static str> {
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        match () {
            () if self.token_file.is_some() => Some("--token-file"),
            () if is_set(TOKEN) => Some(TOKEN),
            () if is_set(TOKEN_FILE) => Some(TOKEN_FILE),
            () if self.trust.shows_a_certificate() => Some("--tls-cert"),
            () if self.namespace.is_some() => Some("--namespace"),
            () => None,
        }
    }

    /// Adds TLS to `endpoint` if its address asks for it.
    pub fn secured(&self, endpoint: Endpoint) -> Result<Endpoint, CliError> {
        self.trust.apply(endpoint)
    }

    /// The identity to send to `server`; `is_near` if it is reached through a Unix socket or within this process.
    /// Refuses to send a token to another machine in the clear, unless `--insecure` allows it.
    pub fn to(&self, server: &Uri, is_near: bool) -> Result<Identity, CliError> {
        let token = self.token()?;
        if token.is_some() && !self.insecure && !is_near && is_in_the_clear(server) {
            let text = format!(
                "a token sent to {server} can be read on the way: use an https:// address, or give --insecure"
            );
            return Err(CliError::Usage(text));
        }
        Ok(Identity {
            authorization: token.as_deref().map(authorization).transpose()?,
            namespace: self.namespace.as_deref().map(namespace).transpose()?,
        })
    }

    /// The token: from `--token-file`, else from the environment.
    fn token(&self) -> Result<Option<String>, CliError> {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        if self.token_file.is_none()
            && let Some(token) = variable(TOKEN)
        {
            return Ok(Some(token.trim().to_owned()));
        }
        let file = self.token_file.clone().or_else(|| variable(TOKEN_FILE).map(PathBuf::from));
        let Some(file) = file else { return Ok(None) };
        let text = read::trusted(&file);
        let text = text.map_err(|error| CliError::Usage(format!("--token-file {error}")))?;
        Ok(Some(text.trim().to_owned()))
    }
}

fn authorization(token: &str) -> Result<MetadataValue<Ascii>, CliError> {
    let value: Option<MetadataValue<Ascii>> = format!("Bearer {token}").parse().ok();
    let is_one = !token.is_empty() && !token.contains(char::is_whitespace);
    let mut value = value.filter(|_| is_one).ok_or_else(|| {
        CliError::Usage(
            "the token is not valid; accepted: the output of `utterd token new`, and a JWT".into(),
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn namespace(name: &str) -> Result<MetadataValue<Ascii>, CliError> {
    let wrong = || CliError::Usage("--namespace: must be a name in ASCII".into());
    name.parse().map_err(|_| wrong())
}

/// Whether others could read what is sent to the server: it is on another machine, and there is no TLS.
fn is_in_the_clear(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_near = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    server.scheme_str() == Some("http") && !is_near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_the_machine_without_tls_is_in_the_clear() {
        for near in ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost", "http://127.9.9.9:1"] {
            assert!(!is_in_the_clear(&near.parse().unwrap()), "{near}");
        }
        for safe in ["https://example.org:1", "unix:/run/utterd"] {
            assert!(!safe.parse().is_ok_and(|server: Uri| is_in_the_clear(&server)), "{safe}");
        }
        for clear in
            ["http://example.org", "http://10.0.0.1:1", "http://localhost.example.org", "http://0.0.0.0:1"]
        {
            assert!(is_in_the_clear(&clear.parse().unwrap()), "{clear}");
        }
    }

    #[test]
    fn a_token_is_one_word() {
        for wrong in ["", "a b", "a\nb"] {
            assert!(authorization(wrong).is_err(), "{wrong:?}");
        }
        let value = authorization("secret").unwrap();
        assert_eq!(value.to_str().unwrap(), "Bearer secret");
        assert!(!format!("{value:?}").contains("secret"));
    }
}
