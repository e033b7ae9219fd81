//! Who may call: credentials, roles and namespaces.
//!
//! Where no credentials are set, everybody may do everything in the namespace `default`.

mod credentials;
mod entry;
mod layer;
mod principal;
mod refusal;
mod token;

use std::{fs, io, path::PathBuf, sync::Arc};

use http::{HeaderMap, Request, header::AUTHORIZATION};

use crate::{config::Settings, domain::Namespace, engine::Clock, server::methods::Access};
use credentials::{Credential, Credentials};
use refusal::Refused;

pub use layer::GuardLayer;
pub use principal::{Principal, Role};

/// An admin's call names its namespace in this metadata.
const NAMESPACE: &str = "utterd-namespace";

/// Why there is no guard.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// A file cannot be read.
    #[error("credentials: {}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file is wrong.
    #[error("credentials: {}: {fault}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        fault: entry::Fault,
    },
}

/// Knows who may call.
pub struct Guard {
    credentials: Credentials,
    clock: Arc<dyn Clock>,
}

impl Guard {
    /// The guard that settings ask for; `None` when they name no credentials.
    pub fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Option<Arc<Self>>, GuardError> {
        let Some(file) = settings.credentials.clone() else { return Ok(None) };
        let text = fs::read_to_string(&file)
            .map_err(|error| GuardError::Unreadable { file: file.clone(), error })?;
        let credentials = Credentials::parse(&text).map_err(|fault| GuardError::Wrong { file, fault })?;
        tracing::info!(credentials = credentials.len(), "who calls is asked");
        Ok(Some(Arc::new(Self { credentials, clock })))
    }

    /// Who makes the call `request`, which asks for `access`.
    fn admit<B>(&self, request: &Request<B>, access: Access) -> Result<Principal, Refused> {
        let headers = request.headers();
        let credential = self.credential(headers)?;
        if credential.expires.is_some_and(|expires| expires <= self.clock.now()) {
            return Err(Refused::Expired);
        }
        let principal = &*credential.principal;
        if principal.role < Role::needed(access) {
            return Err(Refused::Role(Role::needed(access)));
        }
        let namespace = namespace(headers, principal)?;
        Ok(Principal { namespace, ..principal.clone() })
    }

    fn credential(&self, headers: &HeaderMap) -> Result<&Credential, Refused> {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let Some(first) = given.next() else { return Err(Refused::Missing) };
        let token = first.to_str().ok().filter(|_| given.next().is_none()).and_then(bearer);
        self.credentials.of_token(token.ok_or(Refused::Invalid)?).ok_or(Refused::Invalid)
    }
}

/// The token of `Bearer TOKEN`.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The namespace that a call is in.
fn namespace(headers: &HeaderMap, principal: &Principal) -> Result<Namespace, Refused> {
    let own = &principal.namespace;
    match named_namespace(headers)? {
        Some(named) if principal.role == Role::Admin || named == *own => Ok(named),
        Some(_) => Err(Refused::Namespace),
        None => Ok(own.clone()),
    }
}

/// The namespace that the metadata names, if any.
fn named_namespace(headers: &HeaderMap) -> Result<Option<Namespace>, Refused> {
    let mut given = headers.get_all(NAMESPACE).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let text = first.to_str().ok().filter(|_| given.next().is_none()).ok_or(Refused::NoNamespace)?;
    Namespace::new(text).map(Some).map_err(|_| Refused::NoNamespace)
}

/// Refuses a call in another namespace than `default`: there is no other where nobody is asked who they are.
fn only_namespace(headers: &HeaderMap) -> Result<(), Refused> {
    match named_namespace(headers)? {
        Some(named) if named != Namespace::default() => Err(Refused::OnlyNamespace),
        _ => Ok(()),
    }
}
