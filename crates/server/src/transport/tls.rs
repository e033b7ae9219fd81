//! TLS: the server's certificate, and the authorities whose clients it accepts.

use std::{
    fmt::Display,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    server::WebPkiClientVerifier,
};
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use utterd_config::{Settings, read_trusted};
use utterd_domain::limits::MAX_SETTINGS_BYTES;
use utterd_telemetry::panics::{Panicked, Within};

/// Why connections cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A setting is missing.
    #[error("TLS: set tls_cert and tls_key together, and tls_client_ca only with them")]
    Incomplete,
    /// A file cannot be read.
    #[error("TLS: {}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file does not hold what it must, or does not match the others.
    #[error("TLS: {}: {error}", file.display())]
    Unfit {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        error: String,
    },
}

impl TlsError {
    fn unfit(file: &Path, error: impl Display) -> Self {
        Self::Unfit { file: file.to_owned(), error: error.to_string() }
    }

    fn no_pem(file: &Path, error: &pem::Error) -> Self {
        Self::unfit(file, format_args!("{error}; accepted: PEM"))
    }
}

/// The certificates, read again when their files change.
pub struct Tls {
    files: Files,
    current: Mutex<Current>,
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

struct Files {
    certificates: PathBuf,
    key: PathBuf,
    /// The authorities whose clients are accepted; `None` accepts every client.
    clients: Option<PathBuf>,
}

struct Current {
    config: Arc<ServerConfig>,
    /// The authorities whose clients are accepted.
    authorities: Vec<CertificateDer<'static>>,
    /// A digest of the files when they were last read, or why they could not be read.
    seen: Result<[u8; 32], io::ErrorKind>,
}

impl Tls {
    /// Reads the files that `settings` name; `None` if they name none.
    pub fn new(settings: &Settings) -> Result<Option<Arc<Self>>, TlsError> {
        let files = match (&settings.tls_cert, &settings.tls_key, &settings.tls_client_ca) {
            (None, None, None) => return Ok(None),
            (Some(certificates), Some(key), clients) => {
                Files { certificates: certificates.clone(), key: key.clone(), clients: clients.clone() }
            }
            _ => return Err(TlsError::Incomplete),
        };
        let current = files.parse(&files.read()?)?;
        Ok(Some(Arc::new(Self { files, current: Mutex::new(current), distrust: watch::Sender::new(()) })))
    }

    /// Returns what a new connection is accepted with: the current certificates.
    pub fn acceptor(&self) -> Accepting {
        // under one lock, so that a client accepted with an old configuration is told when an authority is removed
        // from it
        let current = self.current.lock();
        Accepting { acceptor: current.config.clone().into(), distrust: self.distrust.subscribe() }
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
        let reloaded = move || Within::Background.caught(|| self.reload());
        match tokio::task::spawn_blocking(reloaded).await {
            Ok(Ok(Ok(false)) | Err(Panicked)) | Err(_) => {}
            Ok(Ok(Ok(true))) => tracing::info!("TLS: loaded new certificates"),
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the previous certificates stay in use"),
        }
    }

    /// Reads the files again; returns whether the certificates changed. If an authority was removed, every connection
    /// ends: the client shows its certificate again, and is accepted only if another authority signed it.
    fn reload(&self) -> Result<bool, TlsError> {
        let read = self.files.read();
        let now = match &read {
            Ok(contents) => Ok(contents.digest()),
            Err(TlsError::Unreadable { error, .. }) => Err(error.kind()),
            Err(_) => Err(io::ErrorKind::Other),
        };
        if std::mem::replace(&mut self.current.lock().seen, now) == now {
            return Ok(false);
        }
        let next = self.files.parse(&read?)?;
        let (authorities, mut current) = (next.authorities.clone(), self.current.lock());
        let before = std::mem::replace(&mut *current, next);
        drop(current);
        if before.authorities.iter().any(|known| !authorities.contains(known)) {
            tracing::info!("TLS: an authority of clients was removed: every connection ends");
            self.distrust.send_replace(());
        }
        Ok(true)
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

struct Contents {
    certificates: Vec<u8>,
    key: Vec<u8>,
    clients: Option<Vec<u8>>,
}

impl Contents {
    /// Identifies the contents without keeping the key.
    fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for part in [Some(&self.certificates), Some(&self.key), self.clients.as_ref()].into_iter().flatten() {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }
}

impl Files {
    fn read(&self) -> Result<Contents, TlsError> {
        let read = |file: &PathBuf| {
            read_trusted(file, MAX_SETTINGS_BYTES)
                .map_err(|error| TlsError::Unreadable { file: file.clone(), error })
        };
        Ok(Contents {
            certificates: read(&self.certificates)?,
            key: read(&self.key)?,
            clients: self.clients.as_ref().map(read).transpose()?,
        })
    }

    fn parse(&self, contents: &Contents) -> Result<Current, TlsError> {
        let unfit = |error| TlsError::unfit(&self.certificates, error);
        let own = certificates(&self.certificates, &contents.certificates)?;
        let key = PrivateKeyDer::from_pem_slice(&contents.key)
            .map_err(|error| TlsError::no_pem(&self.key, &error))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(unfit)?;
        let mut authorities = Vec::new();
        let builder = match self.clients.as_ref().zip(contents.clients.as_ref()) {
            None => builder.with_no_client_auth(),
            Some((file, pem)) => {
                authorities = certificates(file, pem)?;
                let mut roots = RootCertStore::empty();
                for authority in &authorities {
                    roots.add(authority.clone()).map_err(|error| TlsError::unfit(file, error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| TlsError::unfit(file, error))?)
            }
        };
        let mut config = builder.with_single_cert(own, key).map_err(unfit)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Current { config: config.into(), authorities, seen: Ok(contents.digest()) })
    }
}

fn certificates(file: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(none) if none.is_empty() => Err(TlsError::no_pem(file, &pem::Error::NoItemsFound)),
        read => read.map_err(|error| TlsError::no_pem(file, &error)),
    }
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
        assert!(!tls.reload().unwrap());
        let first = tls.acceptor();
        fs::write(wanted.tls_cert.as_ref().unwrap(), "no certificate").unwrap();
        assert!(matches!(tls.reload(), Err(TlsError::Unfit { .. })));
        assert!(!tls.reload().unwrap(), "it is told once");
        fs::remove_file(wanted.tls_key.as_ref().unwrap()).unwrap();
        assert!(matches!(tls.reload(), Err(TlsError::Unreadable { .. })));
        assert!(!tls.reload().unwrap(), "it is told once");
        assert!(Arc::ptr_eq(first.acceptor.config(), tls.acceptor().acceptor.config()));
        settings(&directory);
        assert!(tls.reload().unwrap());
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
            assert!(tls.reload().unwrap());
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
            assert!(matches!(Tls::new(&part), Err(TlsError::Incomplete)));
        }
        assert!(Tls::new(&Settings::default()).unwrap().is_none());
    }

    #[test]
    fn another_certificates_key_is_refused() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mixed = Settings { tls_key: settings(&other).tls_key, ..settings(&one) };
        assert!(matches!(Tls::new(&mixed), Err(TlsError::Unfit { .. })));
    }
}
