//! TLS and mutual TLS, with certificates made for the test.

use std::{fs, path::PathBuf};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use tempfile::TempDir;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};
use utterd::proto::{WatchEventsRequest, trace_service_client::TraceServiceClient};

use crate::support::binary::{Outcome, Server, assert_holds};

/// A certificate authority, and the directory for what it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    directory: TempDir,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let directory = tempfile::tempdir().expect("a directory");
        let certificate = params.self_signed(&key).expect("it is signed");
        fs::write(directory.path().join("ca.pem"), certificate.pem()).expect("it is written");
        Self { issuer: Issuer::new(params, key), directory }
    }

    fn file(&self, name: &str) -> String {
        let file: PathBuf = self.directory.path().join(name);
        file.display().to_string()
    }

    /// Writes a certificate for 127.0.0.1 and its key; an expired one is from the last century.
    fn sign(&self, cert: &str, key: &str, is_expired: bool) {
        let pair = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("parameters");
        if is_expired {
            (params.not_before, params.not_after) = (date_time_ymd(1998, 1, 1), date_time_ymd(1999, 1, 1));
        }
        let certificate = params.signed_by(&pair, &self.issuer).expect("it is signed");
        fs::write(cert, certificate.pem()).expect("it is written");
        fs::write(key, pair.serialize_pem()).expect("it is written");
    }

    /// Signs a separate certificate; returns its files.
    fn signed(&self, name: &str, is_expired: bool) -> [String; 2] {
        let files = [self.file(&format!("{name}.pem")), self.file(&format!("{name}.key"))];
        self.sign(&files[0], &files[1], is_expired);
        files
    }
}

fn start([cert, key]: &[String; 2], flags: &[&str]) -> Server {
    Server::start(&[&["--tls-cert", cert, "--tls-key", key], flags].concat())
}

/// A TLS call by a client that trusts `authority`.
fn call(server: &Server, authority: &Authority, flags: &[&str]) -> Outcome {
    let address = format!("https://{}", server.address);
    let ca = authority.file("ca.pem");
    let trusting = ["memorize", "hello", "--server", &address, "--tls-ca", &ca];
    server.run(&[&trusting, flags].concat())
}

#[test]
fn a_client_that_trusts_the_authority_is_served_and_no_other() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = start(&authority.signed("server", false), &[]);
    call(&server, &authority, &[]).worked();
    let untrusted = call(&server, &other, &[]).failed(4);
    assert_holds(&untrusted, &["TLS with https://", "--tls-ca"]);
    let clear = server.run(&["memorize", "in the clear"]).failed(4);
    assert_holds(&clear, &["https://"]);
    let expired = start(&authority.signed("expired", true), &[]);
    assert_ne!(call(&expired, &authority, &[]).code, Some(0));
}

#[test]
fn mutual_tls_lets_in_who_shows_a_certificate_of_the_authority() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let server = start(&authority.signed("server", false), &["--tls-client-ca", &clients.file("ca.pem")]);
    let shows =
        |[cert, key]: [String; 2]| call(&server, &authority, &["--tls-cert", &cert, "--tls-key", &key]);
    shows(clients.signed("client", false)).worked();
    let shows_none = call(&server, &authority, &[]);
    let (old, foreign) = (shows(clients.signed("old", true)), shows(authority.signed("foreign", false)));
    for refused in [shows_none, old, foreign] {
        assert_holds(&refused.failed(4), &["requires a client certificate", "--tls-cert and --tls-key"]);
    }
}

/// A client that is connected shows its certificate again when an authority is removed.
#[tokio::test]
async fn a_removed_authority_ends_connections() {
    let (authority, clients, next) = (Authority::new(), Authority::new(), Authority::new());
    let trusted = clients.file("trusted.pem");
    let pem = |authority: &Authority| fs::read_to_string(authority.file("ca.pem")).expect("it is there");
    fs::write(&trusted, pem(&clients) + &pem(&next)).expect("it is written");
    let server = start(&authority.signed("server", false), &["--tls-client-ca", &trusted]);
    let watch = async |[cert, key]: [String; 2]| {
        let read = |file: String| fs::read(file).expect("it is there");
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(pem(&authority)))
            .identity(Identity::from_pem(read(cert), read(key)));
        let endpoint = Endpoint::from_shared(format!("https://{}", server.address)).expect("an address");
        let channel = endpoint.tls_config(tls).expect("TLS").connect().await?;
        let events = TraceServiceClient::new(channel).watch_events(WatchEventsRequest::default()).await;
        Ok::<_, tonic::transport::Error>(events.expect("it is watched").into_inner())
    };
    let mut watching = watch(clients.signed("client", false)).await.expect("it is let in");
    fs::write(&trusted, pem(&next)).expect("it is written");
    server.reload();
    while let Ok(event) = watching.message().await {
        assert!(event.is_some(), "it ends as if all were said");
    }
    watch(next.signed("client", false)).await.expect("the other authority is still trusted");
}

#[test]
fn new_certificates_hold_while_the_server_runs() {
    let (authority, next) = (Authority::new(), Authority::new());
    let files = authority.signed("server", false);
    let server = start(&files, &[]);
    call(&server, &authority, &[]).worked();
    next.sign(&files[0], &files[1], false);
    while call(&server, &next, &[]).code != Some(0) {}
    assert_ne!(call(&server, &authority, &[]).code, Some(0));
}
