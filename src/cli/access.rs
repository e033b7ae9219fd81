//! What a client shows the server of who it is.

use std::{env, fs, net::IpAddr, path::PathBuf};

use clap::Args;
use http::Uri;
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::Interceptor,
    transport::Endpoint,
};

use super::{errors::CliError, trust::Trust};

/// Holds the token itself.
const TOKEN: &str = "UTTERD_TOKEN";
/// Names the file that holds it.
const TOKEN_FILE: &str = "UTTERD_TOKEN_FILE";

/// What a client shows the server of who it is.
#[derive(Clone, Debug, Default, Args)]
pub struct Access {
    /// The file that holds the token for a server that asks who calls [env: UTTERD_TOKEN_FILE, or the token itself in
    /// UTTERD_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The namespace to work in, which only an admin's token chooses
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Send the token also where others can read it: to another machine without TLS
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    trust: Trust,
}

/// Adds to each call who makes it.
#[derive(Clone, Default)]
pub struct Identity {
    authorization: Option<MetadataValue<Ascii>>,
    namespace: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Identity {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        if let Some(authorization) = &self.authorization {
            metadata.insert("authorization", authorization.clone());
        }
        if let Some(namespace) = &self.namespace {
            metadata.insert("utterd-namespace", namespace.clone());
        }
        Ok(request)
    }
}

impl Access {
    /// `endpoint` with TLS, where its address asks for it.
    pub fn secured(&self, endpoint: Endpoint) -> Result<Endpoint, CliError> {
        self.trust.apply(endpoint)
    }

    /// What is shown to `server`, which `is_near` when it listens on a Unix socket. A token is not sent to another
    /// machine in the clear, unless that is asked for.
    pub fn to(&self, server: &Uri, is_near: bool) -> Result<Identity, CliError> {
        let token = self.token()?;
        if token.is_some() && !self.insecure && !is_near && is_in_the_clear(server) {
            let text = format!(
                "a token sent to {server} can be read on the way: name the server with https://, or say --insecure"
            );
            return Err(CliError::Usage(text));
        }
        Ok(Identity {
            authorization: token.as_deref().map(authorization).transpose()?,
            namespace: self.namespace.as_deref().map(namespace).transpose()?,
        })
    }

    /// The token: of the file that is named, else of the environment.
    fn token(&self) -> Result<Option<String>, CliError> {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        if self.token_file.is_none()
            && let Some(token) = variable(TOKEN)
        {
            return Ok(Some(token.trim().to_owned()));
        }
        let file = self.token_file.clone().or_else(|| variable(TOKEN_FILE).map(PathBuf::from));
        let Some(file) = file else { return Ok(None) };
        let text = fs::read_to_string(&file)
            .map_err(|error| CliError::Usage(format!("--token-file {}: {error}", file.display())))?;
        Ok(Some(text.trim().to_owned()))
    }
}

fn authorization(token: &str) -> Result<MetadataValue<Ascii>, CliError> {
    let value: Option<MetadataValue<Ascii>> = format!("Bearer {token}").parse().ok();
    let is_one = !token.is_empty() && !token.contains(char::is_whitespace);
    let mut value = value.filter(|_| is_one).ok_or_else(|| {
        CliError::Usage("the token is none; accepted is what `utterd token new` printed, or a JWT".into())
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn namespace(name: &str) -> Result<MetadataValue<Ascii>, CliError> {
    let wrong = || CliError::Usage("--namespace: accepted is a name in ASCII".into());
    name.parse().map_err(|_| wrong())
}

/// Whether others may read what goes to the server: it is another machine, and there is no TLS.
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
