//! Opening connections.

use std::{
    fs,
    path::Path,
    sync::{Arc, LazyLock},
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::fault::unreachable;
use crate::postgres::Options;
use crate::{Result, StoreError};
use utterd_domain::limits::{DATABASE_IDLE_TIMEOUT, DATABASE_STATEMENT_TIMEOUT};
use utterd_telemetry::panics::Within;

/// The statements that configure a new connection.
///
/// - No statement may run for longer than a caller would wait.
/// - Every statement finds its rows by an index. The planner must not choose to scan a whole table because the
///   table was small at first.
pub fn greeting(schema: &str) -> String {
    let (statement, idle) = (DATABASE_STATEMENT_TIMEOUT.as_millis(), DATABASE_IDLE_TIMEOUT.as_millis());
    format!(
        "SET search_path = {}; SET statement_timeout = {statement};
        SET idle_in_transaction_session_timeout = {idle};
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
        SET plan_cache_mode = force_generic_plan; SET default_transaction_isolation = 'read committed'",
        quoted(schema)
    )
}

/// Quotes an SQL identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Opens a connection outside the pool, which ends when the client is dropped.
pub async fn connected(options: &Options) -> Result<Client> {
    let connected = options.url.config().connect(tls(options)?).await;
    let (client, connection) = connected.map_err(|error| unreachable(&options.url, &error))?;
    tokio::spawn(async move {
        if let Ok(Err(error)) = Within::Store.catching(connection).await {
            tracing::debug!(%error, "a connection ended");
        }
    });
    Ok(client)
}

/// The authorities that the system trusts. Reading them takes longer than connecting.
static SYSTEM: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(roots)
});

/// Returns TLS settings that check the server's certificate.
pub fn tls(options: &Options) -> Result<MakeRustlsConnect> {
    let roots = match &options.authorities {
        None => SYSTEM.clone(),
        Some(file) => Arc::new(authorities(file)?),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(StoreError::unavailable)?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// Reads authorities from a PEM file.
fn authorities(file: &Path) -> Result<RootCertStore> {
    let wrong = |error: &dyn std::fmt::Display| {
        let file = file.display();
        StoreError::Unavailable(format!("the certificate authorities in {file}: {error}"))
    };
    let mut roots = RootCertStore::empty();
    let pem = fs::read(file).map_err(|error| wrong(&error))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    Ok(roots)
}
