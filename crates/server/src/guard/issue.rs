//! Issues new credentials, and lists those in a file.

use std::{num::NonZeroU32, time::Duration};

use super::{
    credential::Credential,
    credentials::Credentials,
    fault::Fault,
    principal::Role,
    token::{TokenDigest, new_token},
};
use utterd_domain::Timestamp;
use utterd_engine::{Clock, SystemClock};

/// The properties of a new credential.
#[derive(Clone, Debug)]
pub struct NewCredential {
    /// The name: one line of text, unique in the file.
    pub name: String,
    /// The namespace that it gives access to.
    pub namespace: String,
    /// What its holder may do.
    pub role: Role,
    /// How long it is valid from now; `None` never expires.
    pub lifetime: Option<Duration>,
    /// The most calls per second; `None` is the server's own limit.
    pub calls_per_second: Option<NonZeroU32>,
}

/// A new credential.
pub struct Issued {
    /// The token; it is not stored.
    pub token: String,
    /// The entry for a file of credentials.
    pub entry: String,
}

/// Why no credential was issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// A property is invalid, or conflicts with the file.
    #[error("{0}")]
    Wrong(String),
    /// The system provides no randomness.
    #[error("the system provides no randomness")]
    NoSecret,
}

/// A credential of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// The namespace that it gives access to.
    pub namespace: String,
    /// What its holder may do.
    pub role: Role,
    /// When it expires, if it does.
    pub expires: Option<String>,
    /// Whether it has expired.
    pub is_expired: bool,
}

/// Makes a credential for the file of credentials with the text `file`; its name must be new there.
pub fn issue(wanted: &NewCredential, file: &str) -> Result<Issued, IssueError> {
    let before = Credentials::parse(file).map_err(|fault| IssueError::Wrong(fault.to_string()))?;
    let token = new_token().ok_or(IssueError::NoSecret)?;
    let entry = entry(wanted, &TokenDigest::of(&token));
    let is_wrong = |fault: Fault| IssueError::Wrong(fault.text().to_owned());
    let alone = Credentials::parse(&entry).map_err(is_wrong)?;
    if alone.all().iter().any(|new| before.all().iter().any(|old| old.principal.name == new.principal.name)) {
        return Err(IssueError::Wrong("name: is used by another entry; names must be unique".into()));
    }
    Ok(Issued { token, entry })
}

/// Returns the credentials of a file, sorted by name. The error says what is wrong with the file.
pub fn list(file: &str) -> Result<Vec<Listed>, String> {
    let now = SystemClock.now();
    let credentials = Credentials::parse(file).map_err(|fault| fault.to_string())?;
    let mut all = credentials.all();
    all.sort_by(|a, b| a.principal.name.cmp(&b.principal.name));
    Ok(all.into_iter().map(|credential| listed(credential, now)).collect())
}

fn listed(credential: &Credential, now: Timestamp) -> Listed {
    let principal = &credential.principal;
    Listed {
        name: principal.name.to_string(),
        namespace: principal.namespace.to_string(),
        role: principal.role,
        expires: credential.expires.map(text),
        is_expired: credential.is_expired(now),
    }
}

fn entry(wanted: &NewCredential, digest: &TokenDigest) -> String {
    let quoted = |text: &str| toml::Value::String(text.into()).to_string();
    let expires = wanted.lifetime.map(|lifetime| text(SystemClock.now().plus(lifetime)));
    let lines = [
        Some("[[credentials]]".to_owned()),
        Some(format!("name = {}", quoted(&wanted.name))),
        Some(format!("namespace = {}", quoted(&wanted.namespace))),
        Some(format!("role = {}", quoted(wanted.role.name()))),
        Some(format!("sha256 = \"{digest}\"")),
        expires.map(|expires| format!("expires = {expires}")),
        wanted.calls_per_second.map(|calls| format!("calls_per_second = {calls}")),
    ];
    lines.into_iter().flatten().map(|line| line + "\n").collect()
}

/// Formats a moment in RFC 3339, to the second.
fn text(moment: Timestamp) -> String {
    let second = jiff::Timestamp::from_second(moment.0.div_euclid(1_000_000));
    second.unwrap_or(jiff::Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> NewCredential {
        NewCredential {
            name: "the \"first\"".into(),
            namespace: "shop".into(),
            role: Role::ReadOnly,
            lifetime: Some(Duration::from_secs(86_400)),
            calls_per_second: NonZeroU32::new(50),
        }
    }

    #[test]
    fn what_is_issued_is_accepted() {
        let Issued { token, entry } = issue(&wanted(), "").unwrap();
        let credentials = Credentials::parse(&entry).unwrap();
        let found = credentials.of_token(&token).unwrap();
        let told = (&*found.principal.name, found.principal.role, found.principal.calls_per_second);
        assert_eq!(told, ("the \"first\"", Role::ReadOnly, NonZeroU32::new(50)));
        assert!(found.expires.is_some() && !found.is_expired(SystemClock.now()));
        assert!(!entry.contains(&token));
        let listed = list(&entry).unwrap();
        assert_eq!((listed.len(), listed[0].is_expired), (1, false));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let refused = |wanted: &NewCredential, file: &str| match issue(wanted, file) {
            Ok(_) => panic!("it is issued"),
            Err(error) => error.to_string(),
        };
        let first = issue(&wanted(), "").unwrap().entry;
        assert!(refused(&wanted(), &first).starts_with("name: is used by another entry"));
        assert!(refused(&wanted(), "x = 1").starts_with("line 1: "));
        assert!(
            refused(&NewCredential { name: "".into(), ..wanted() }, "").starts_with("name: is not a name")
        );
        let namespace = NewCredential { namespace: "x".repeat(257), ..wanted() };
        assert!(refused(&namespace, "").starts_with("namespace: has 257 bytes"));
    }
}
