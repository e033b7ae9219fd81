//! Issues new credentials.

use std::{num::NonZeroU32, time::Duration};

use super::{
    credentials::Credentials,
    principal::Role,
    token::{TokenDigest, new_token},
};
use utterd_domain::Timestamp;
use utterd_engine::{Clock, SystemClock};

/// What a new token stands for.
#[derive(Clone, Debug, clap::Args)]
pub struct NewCredential {
    /// The name of the token in logs, unique in the file
    #[arg(long)]
    pub name: String,
    /// The namespace that the token opens
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// What the holder of the token may do
    #[arg(long)]
    pub role: Role,
    /// Let the token expire after this time, such as 90d [default: never]
    #[arg(long = "expires", value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub lifetime: Option<Duration>,
    /// The most calls per second with this token [default: the server's limit]
    #[arg(long, value_name = "N")]
    pub calls_per_second: Option<NonZeroU32>,
}

/// A new credential.
pub struct Issued {
    /// The token; it is not stored.
    pub token: String,
    /// The entry for a file of credentials.
    pub entry: String,
}

/// Makes a credential for the file of credentials with the text `file`; its name must be new there.
pub fn issue(wanted: &NewCredential, file: &str) -> Result<Issued, String> {
    let before = Credentials::parse(file).map_err(|fault| fault.to_string())?;
    let token = new_token().ok_or("the system provides no randomness")?;
    let entry = entry(wanted, &TokenDigest::of(&token));
    let alone = Credentials::parse(&entry).map_err(|fault| fault.text().to_owned())?;
    if alone.all().iter().any(|new| before.all().iter().any(|old| old.principal.name == new.principal.name)) {
        return Err("name: is used by another entry; names must be unique".into());
    }
    Ok(Issued { token, entry })
}

fn entry(wanted: &NewCredential, digest: &TokenDigest) -> String {
    let quoted = |text: &str| toml::Value::String(text.into()).to_string();
    let expires = wanted.lifetime.map(|lifetime| text(SystemClock.now().plus(lifetime)));
    let lines = [
        Some("[[credentials]]".to_owned()),
        Some(format!("name = {}", quoted(&wanted.name))),
        Some(format!("namespace = {}", quoted(&wanted.namespace))),
        Some(format!("role = {}", quoted(&wanted.role.to_string()))),
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
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let refused = |wanted: &NewCredential, file: &str| match issue(wanted, file) {
            Ok(_) => panic!("it is issued"),
            Err(error) => error,
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
