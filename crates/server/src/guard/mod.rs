//! Who may call: credentials, roles and namespaces.
//!
//! A caller shows a token from the file of credentials, a JWT of an issuer whose keys are known, or the certificate of
//! its connection. The files are read again when they change, and long-lived calls end with their credential. If
//! neither credentials nor keys are set, everybody may do everything in the namespace `default`.

pub(super) mod access;
mod credential;
mod credentials;
mod fault;
mod issue;
#[cfg(feature = "jwt")]
mod jwk;
#[cfg_attr(not(feature = "jwt"), path = "no_jwt.rs")]
mod jwt;
mod layer;
pub(super) mod methods;
mod principal;
mod refusal;
mod running;
mod shown;
#[cfg(feature = "jwt")]
mod signatures;
mod token;

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use http::{HeaderMap, Request};
use parking_lot::Mutex;
use tokio::sync::watch;
use tonic::Status;

use crate::{
    transport::connection::Peer,
    watched::{FileError, Watched},
};
use credential::Credential;
use credentials::Credentials;
use jwt::{Keys, Rules};
use refusal::Refused;
use shown::{Proof, Shown};
use utterd_config::Settings;
use utterd_domain::{
    Namespace, Timestamp,
    limits::{ATTEMPT_LOG_INTERVAL, CREDENTIALS_RELOAD},
};
use utterd_engine::Clock;
use utterd_telemetry::{panics::Within, terminal::counted};

pub use issue::{Issued, NewCredential, issue};
pub use layer::let_in;
pub use principal::{Principal, Role};

/// The metadata in which a call names its namespace.
const NAMESPACE: &str = "utterd-namespace";

/// Decides who may call.
pub struct Guard {
    credentials: Option<Watched<Credentials>>,
    keys: Option<Watched<Keys>>,
    /// Changes with the files.
    changes: watch::Sender<()>,
    /// When a failed attempt to call was last logged.
    attempt_logged: Mutex<Option<Timestamp>>,
    clock: Arc<dyn Clock>,
}

impl Guard {
    /// Sets up the guard of the settings; `None` if they name neither credentials nor keys. As long as the guard
    /// exists, its files are checked from time to time.
    pub fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Option<Arc<Self>>, FileError> {
        if !settings.asks_for_credentials() {
            return Ok(None);
        }
        let credentials = settings.credentials.clone();
        let credentials = credentials.map(|file| Watched::one("credentials", file, Credentials::parse));
        let rules = Rules { issuer: settings.jwt_issuer.clone(), audience: settings.jwt_audience.clone() };
        let parse = move |text: &str| Keys::parse(text, &rules);
        let keys = settings.jwt_keys.clone().map(|file| Watched::one("jwt_keys", file, parse));
        let guard = Arc::new(Self {
            credentials: credentials.transpose()?,
            keys: keys.transpose()?,
            changes: watch::Sender::new(()),
            attempt_logged: Mutex::default(),
            clock,
        });
        tokio::spawn(follow(Arc::downgrade(&guard)));
        Ok(Some(guard))
    }

    /// Describes the guard, such as `3 credentials, 1 key of JWTs`.
    pub fn told(&self) -> String {
        let credentials = self.credentials.as_ref().map(|it| counted(it.content().len(), "credential"));
        let keys = self.keys.as_ref().map(|it| counted(it.content().len(), "key") + " of JWTs");
        credentials.into_iter().chain(keys).collect::<Vec<_>>().join(", ")
    }

    /// Reads the files that have changed. If a file cannot be used, its previous content stays in force.
    pub fn reload(&self) {
        let credentials = self.credentials.as_ref().is_some_and(Watched::has_changed);
        if self.keys.as_ref().is_some_and(Watched::has_changed) || credentials {
            self.changes.send_replace(());
            tracing::info!("guarded by {}", self.told());
        }
    }

    /// Returns a receiver that is notified when the content of the files changes.
    fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Returns the time until `moment`.
    fn until(&self, moment: Timestamp) -> Duration {
        Duration::from_micros(u64::try_from(moment.0.saturating_sub(self.clock.now().0)).unwrap_or(0))
    }

    /// Returns the credential that `shown` proves.
    fn identify(&self, shown: &Shown) -> Result<Credential, Refused> {
        let now = self.clock.now();
        let known = self.credentials.as_ref().map(Watched::content);
        let credential = match shown.proof() {
            Proof::None => return Err(Refused::Missing),
            Proof::Nonsense => None,
            Proof::Certificate(names) => known.and_then(|known| known.of_certificate(names).cloned()),
            // a JWT has two dots; a token from the file has none
            Proof::Token(token) if token.contains('.') => {
                let keys = self.keys.as_ref().map(Watched::content);
                keys.map(|keys| keys.credential(token, now)).transpose()?
            }
            Proof::Token(token) => known.and_then(|known| known.of_token(token).cloned()),
        };
        let credential = credential.ok_or(Refused::Invalid)?;
        if credential.is_expired(now) { Err(Refused::Expired) } else { Ok(credential) }
    }

    /// Returns the caller of a request that stands for a call that needs a role, before the call is made.
    pub fn caller<B>(&self, request: &Request<B>, needed: Role) -> Result<Principal, Status> {
        Ok(self.admit(request, &Shown::with(request), needed)?.0)
    }

    /// Logs that a call from `peer` was refused, at most once in an [`ATTEMPT_LOG_INTERVAL`].
    fn log_attempt(&self, peer: Option<&Peer>, refused: &Refused) {
        let (now, mut logged) = (self.clock.now(), self.attempt_logged.lock());
        let is_soon = |logged: Timestamp| logged <= now && now < logged.plus(ATTEMPT_LOG_INTERVAL);
        if !logged.is_some_and(is_soon) {
            *logged = Some(now);
            let from = peer.and_then(|peer| peer.address).map(|address| address.to_string());
            tracing::warn!(from, reason = refused.reason(), "refused an unknown caller");
        }
    }

    /// Admits the call `request`, which needs a role; returns its caller in the namespace of the call, and the
    /// credential that let it in.
    fn admit<B>(
        &self,
        request: &Request<B>,
        shown: &Shown,
        needed: Role,
    ) -> Result<(Principal, Credential), Refused> {
        let log = |refused: &Refused| self.log_attempt(request.extensions().get(), refused);
        let credential = self.identify(shown).inspect_err(log)?;
        let principal = &*credential.principal;
        if principal.role < needed {
            return Err(Refused::Role(needed));
        }
        let namespace = namespace(request.headers(), principal)?;
        Ok((Principal { namespace, ..principal.clone() }, credential))
    }
}

/// Checks the files of a guard from time to time, as long as it exists.
async fn follow(guard: Weak<Guard>) {
    loop {
        tokio::time::sleep(CREDENTIALS_RELOAD).await;
        match guard.upgrade() {
            // a file that makes reading it panic is one that cannot be used
            Some(guard) => drop(Within::Background.caught(|| guard.reload())),
            None => return,
        }
    }
}

/// Returns the namespace of a call.
fn namespace(headers: &HeaderMap, principal: &Principal) -> Result<Namespace, Refused> {
    let own = &principal.namespace;
    match named_namespace(headers)? {
        Some(named) if principal.role == Role::Admin || named == *own => Ok(named),
        Some(_) => Err(Refused::Namespace),
        None => Ok(own.clone()),
    }
}

/// Returns the namespace that the metadata names, if any.
fn named_namespace(headers: &HeaderMap) -> Result<Option<Namespace>, Refused> {
    let mut given = headers.get_all(NAMESPACE).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let text = first.to_str().ok().filter(|_| given.next().is_none()).ok_or(Refused::NoNamespace)?;
    Namespace::new(text).map(Some).map_err(|_| Refused::NoNamespace)
}

/// Refuses a call in a namespace other than `default`: without credentials there is no other.
fn only_namespace(headers: &HeaderMap) -> Result<(), Refused> {
    match named_namespace(headers)? {
        Some(named) if named != Namespace::default() => Err(Refused::OnlyNamespace),
        _ => Ok(()),
    }
}
