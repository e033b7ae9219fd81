//! TLS: the server's certificate, and the authorities whose clients it accepts.

use std::{sync::Arc, time::Duration};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    server::WebPkiClientVerifier,
};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::{
    Result, ServeError,
    watched::{FileError, Watched},
};
use utterd_config::Settings;
use utterd_telemetry::panics::Within;

/// The certificates, read again when their files change.
pub struct Tls {
    files: Watched<Current>,
    /// Changes when an authority is removed.
    distrust: watch::Sender<()>,
}

/// What a new connection is accepted with.
pub struct Accepting {
    /// Makes its handshake.
    pub acceptor: TlsAcceptor,
    /// Changes when an authority is removed that may have let its client in.
    pub distrust: watch::Receiver<()>,
}

struct Current {
    config: Arc<ServerConfig>,
    /// The authorities whose clients are accepted; every client is if there are none.
    authorities: Vec<CertificateDer<'static>>,
}

impl Tls {
    /// Reads the files that `settings` name; `None` if they name none.
    pub fn new(settings: &Settings) -> Result<Option<Arc<Self>>> {
        let mut files = match (&settings.tls_cert, &settings.tls_key, &settings.tls_client_ca) {
            (None, None, None) => return Ok(None),
            (Some(certificates), Some(key), _) => {
                vec![("tls_cert", certificates.clone()), ("tls_key", key.clone())]
            }
            _ => return Err(ServeError::IncompleteTls),
        };
        files.extend(settings.tls_client_ca.clone().map(|clients| ("tls_client_ca", clients)));
        let files = Watched::open(files, parse)?;
        Ok(Some(Arc::new(Self { files, distrust: watch::Sender::new(()) })))
    }

    /// Returns what a new connection is accepted with: the current certificates.
    pub fn acceptor(&self) -> Accepting {
        // before the configuration is taken, so that a client accepted with an old one is told when an authority is
        // removed from it
        let distrust = self.distrust.subscribe();
        Accepting { acceptor: self.files.content().config.clone().into(), distrust }
    }

    /// Returns what a new connection of plain HTTP is accepted with.
    pub fn http_acceptor(&self) -> Accepting {
        let accepting = self.acceptor();
        let mut config = (**accepting.acceptor.config()).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Accepting { acceptor: Arc::new(config).into(), ..accepting }
    }

    /// Checks every `interval` whether the files have changed.
    pub async fn follow(self: Arc<Self>, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            self.clone().check().await;
        }
    }

    /// Loads the files if they have changed. An error in them is reported once, and the previous certificates stay in
    /// use.
    pub async fn check(self: Arc<Self>) {
        let reload = move || self.reload().unwrap_or_else(|error| error.log());
        // a file that makes reading it panic is one that cannot be used
        let _ = tokio::task::spawn_blocking(move || Within::Background.caught(reload)).await;
    }

    /// Reads the files again. If an authority was removed, every connection ends: the client shows its certificate again,
    /// and is accepted only if another authority signed it.
    fn reload(&self) -> Result<(), FileError> {
        let Some(before) = self.files.again()? else { return Ok(()) };
        tracing::info!("TLS: loaded new certificates");
        let now = self.files.content();
        if before.authorities.iter().any(|known| !now.authorities.contains(known)) {
            tracing::info!("TLS: an authority of clients was removed: every connection ends");
            self.distrust.send_replace(());
        }
        Ok(())
    }
}

/// Describes the TLS settings for the log.
pub fn told(settings: &Settings) -> &'static str {
    match (&settings.tls_cert, &settings.tls_client_ca) {
        (None, _) => "no TLS",
        (Some(_), None) => "TLS",
        (Some(_), Some(_)) => "TLS, client certificates required",
    }
}

/// Parses the certificates, the key, and the authorities whose clients are accepted. The error says which text is wrong.
fn parse(texts: &[String]) -> Result<Current, (usize, String)> {
    let [own, key, clients @ ..] = texts else { return Err((0, "is missing".to_owned())) };
    let unfit = |error: rustls::Error| (0, error.to_string());
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| no_pem(1, &error))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().map_err(unfit)?;
    let authorities = clients.first().map_or(Ok(Vec::new()), |pem| certificates(2, pem))?;
    let builder = if authorities.is_empty() {
        builder.with_no_client_auth()
    } else {
        let mut roots = RootCertStore::empty();
        for authority in &authorities {
            roots.add(authority.clone()).map_err(|error| (2, error.to_string()))?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
        builder.with_client_cert_verifier(verifier.map_err(|error| (2, error.to_string()))?)
    };
    let mut config = builder.with_single_cert(certificates(0, own)?, key).map_err(unfit)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Current { config: config.into(), authorities })
}

/// The certificates in a text, of which there is one at least.
fn certificates(at: usize, pem: &str) -> Result<Vec<CertificateDer<'static>>, (usize, String)> {
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(none) if none.is_empty() => Err(no_pem(at, &pem::Error::NoItemsFound)),
        read => read.map_err(|error| no_pem(at, &error)),
    }
}

fn no_pem(at: usize, error: &pem::Error) -> (usize, String) {
    (at, format!("{error}; accepted: PEM"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use tempfile::TempDir;

    use super::*;

    /// Writes a new certificate and its key to `directory`, and returns settings that name them.
    fn settings(directory: &TempDir) -> Settings {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".into()]).unwrap();
        let [tls_cert, tls_key] = ["cert.pem", "key.pem"].map(|name| directory.path().join(name));
        fs::write(&tls_cert, cert.pem()).unwrap();
        fs::write(&tls_key, signing_key.serialize_pem()).unwrap();
        Settings { tls_cert: Some(tls_cert), tls_key: Some(tls_key), ..Settings::default() }
    }

    #[test]
    fn what_changes_holds_and_what_is_wrong_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let wanted = settings(&directory);
        let tls = Tls::new(&wanted).unwrap().unwrap();
        let fault = || tls.reload().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(fault(), "");
        let first = tls.acceptor();
        fs::write(wanted.tls_cert.as_ref().unwrap(), "no certificate").unwrap();
        assert!(fault().starts_with("tls_cert: ") && fault().is_empty(), "it is told once");
        fs::remove_file(wanted.tls_key.as_ref().unwrap()).unwrap();
        assert!(fault().starts_with("tls_key: ") && fault().is_empty(), "it is told once");
        assert!(Arc::ptr_eq(first.acceptor.config(), tls.acceptor().acceptor.config()));
        settings(&directory);
        assert_eq!(fault(), "");
        assert!(!Arc::ptr_eq(first.acceptor.config(), tls.acceptor().acceptor.config()));
    }

    #[test]
    fn a_removed_authority_is_told_to_connections() {
        let (directory, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let clients = directory.path().join("clients.pem");
        let authority = |settings: Settings| fs::read_to_string(settings.tls_cert.unwrap()).unwrap();
        let (first, second) = (authority(settings(&directory)), authority(settings(&other)));
        let wanted = Settings { tls_client_ca: Some(clients.clone()), ..settings(&directory) };
        fs::write(&clients, &first).unwrap();
        let tls = Tls::new(&wanted).unwrap().unwrap();
        let before = tls.acceptor();
        let told_after = |authorities: String| {
            fs::write(&clients, authorities).unwrap();
            tls.reload().unwrap();
            before.distrust.has_changed().unwrap()
        };
        assert!(!told_after(format!("{first}{second}")), "one more");
        assert!(told_after(second));
        assert!(!tls.acceptor().distrust.has_changed().unwrap(), "it is accepted with what is left");
    }

    #[test]
    fn a_part_alone_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let whole = settings(&directory);
        for part in [
            Settings { tls_key: None, ..whole.clone() },
            Settings { tls_cert: None, ..whole.clone() },
            Settings { tls_client_ca: whole.tls_cert.clone(), ..Settings::default() },
        ] {
            assert!(matches!(Tls::new(&part), Err(ServeError::IncompleteTls)));
        }
        assert!(Tls::new(&Settings::default()).unwrap().is_none());
    }

    #[test]
    fn another_certificates_key_is_refused() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mixed = Settings { tls_key: settings(&other).tls_key, ..settings(&one) };
        assert!(matches!(Tls::new(&mixed), Err(ServeError::File(_))));
    }
}
