//! A client's TLS: the servers that it trusts, and the certificate that it presents.

use std::path::{Path, PathBuf};

use clap::Args;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use super::{
    errors::{CliError, root_cause},
    help::CONNECTION,
    terminal::read,
};

/// The servers that a client trusts, and the certificate that it presents. This applies to https:// addresses.
#[derive(Clone, Debug, Default, Args)]
pub struct Trust {
    /// The certificate authorities to trust with https://, in PEM [default: those of the system]
    #[arg(long, value_name = "FILE", env = "UTTERD_TLS_CA", hide_env_values = true, hide_short_help = true, help_heading = CONNECTION)]
    tls_ca: Option<PathBuf>,
    /// The certificate to present to a server that asks for one, in PEM
    #[arg(
        long,
        value_name = "FILE",
        env = "UTTERD_CLIENT_CERT",
        hide_env_values = true,
        hide_short_help = true, help_heading = CONNECTION,
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(
        long,
        value_name = "FILE",
        env = "UTTERD_CLIENT_KEY",
        hide_env_values = true,
        hide_short_help = true, help_heading = CONNECTION,
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
}

impl Trust {
    /// Whether the client presents a certificate.
    #[cfg(feature = "mcp")]
    pub fn shows_a_certificate(&self) -> bool {
        self.tls_cert.is_some()
    }

    /// Adds TLS to `endpoint` if its address asks for it.
    pub fn apply(&self, endpoint: Endpoint) -> Result<Endpoint, CliError> {
        if endpoint.uri().scheme_str() != Some("https") {
            return Ok(endpoint);
        }
        let mut config = match &self.tls_ca {
            Some(file) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem("ca", file)?)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) {
            config = config.identity(Identity::from_pem(pem("cert", certificate)?, pem("key", key)?));
        }
        endpoint.tls_config(config).map_err(|error| {
            CliError::Usage(format!("--tls-ca, --tls-cert or --tls-key: {}", root_cause(&error)))
        })
    }
}

fn pem(flag: &str, file: &Path) -> Result<String, CliError> {
    read::trusted(file).map_err(|error| CliError::Usage(format!("--tls-{flag} {error}")))
}
