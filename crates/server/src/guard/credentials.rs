//! The credentials of a file: who may call, in which role, for how long.

use std::{
    collections::{HashMap, HashSet},
    fmt::Display,
    num::NonZeroU32,
    sync::Arc,
};

use serde::Deserialize;
use toml::Spanned;

use super::{
    credential::Credential,
    fault::Fault,
    principal::{Principal, Role},
    token::TokenDigest,
};
use crate::transport::certificate;
use utterd_config::Part;
use utterd_domain::{Namespace, Timestamp};

/// The credentials of a file.
#[derive(Debug, Default)]
pub struct Credentials {
    tokens: HashMap<TokenDigest, Credential>,
    certificates: HashMap<String, Credential>,
}

/// A file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    credentials: Vec<Spanned<Entry>>,
}

/// An entry of a file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    namespace: Spanned<String>,
    role: Spanned<String>,
    sha256: Option<Spanned<String>>,
    certificate: Option<Spanned<String>>,
    expires: Option<Spanned<toml::Value>>,
    calls_per_second: Option<NonZeroU32>,
}

/// What a file can hold.
const ACCEPTED: &str = "entries that begin with [[credentials]], each with the texts name, namespace and role, with the \
                        text sha256 or certificate, and, if wanted, with the time expires and the number \
                        calls_per_second, from 1";

impl Credentials {
    /// Parses the text of a file.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let file: File = toml::from_str(text).map_err(|error| {
            // no other message: it could repeat a misplaced secret
            let wrong = match error.message().strip_prefix("missing field ") {
                Some(field) => format!("{}: is missing", field.trim_matches('`')),
                None => "cannot be read".to_owned(),
            };
            let at = error.span().map_or(0, |span| span.start);
            Fault::at(text, at, format!("{wrong}; accepted: {ACCEPTED}"))
        })?;
        let mut credentials = Self::default();
        let mut names = HashSet::new();
        for entry in &file.credentials {
            let credential = credential(text, entry.get_ref())?;
            if !names.insert(credential.principal.name.clone()) {
                let name = &entry.get_ref().name;
                return Err(fault(text, name, "name", "is used by another entry too; names must be unique"));
            }
            credentials.add(text, entry, credential)?;
        }
        Ok(credentials)
    }

    fn add(&mut self, file: &str, entry: &Spanned<Entry>, credential: Credential) -> Result<(), Fault> {
        let Entry { sha256, certificate, .. } = entry.get_ref();
        let (field, given, before) = match (sha256, certificate) {
            (Some(_), Some(given)) => {
                return Err(fault(file, given, "certificate", "is given with sha256; accepted: one"));
            }
            (Some(given), None) => ("sha256", given, self.tokens.insert(digest(file, given)?, credential)),
            (None, Some(given)) => {
                ("certificate", given, self.certificates.insert(name(file, given)?, credential))
            }
            (None, None) => {
                let accepted = "a digest that `utterd token new` printed, or certificate instead";
                return Err(fault(file, entry, "sha256", format_args!("is missing; accepted: {accepted}")));
            }
        };
        match before {
            None => Ok(()),
            Some(_) => {
                Err(fault(file, given, field, "is used by another entry too; accepted: one entry each"))
            }
        }
    }

    /// Returns the credential of `token`.
    ///
    /// The place of the lookup depends only on the token's digest, hashed with a secret seed, and digests are compared
    /// in constant time: the time that a lookup takes reveals nothing about the tokens that would be accepted.
    pub fn of_token(&self, token: &str) -> Option<&Credential> {
        self.tokens.get(&TokenDigest::of(token))
    }

    /// Returns the credential of a certificate with these names: that of the first name with an entry.
    pub fn of_certificate(&self, names: &[String]) -> Option<&Credential> {
        names.iter().find_map(|name| self.certificates.get(name))
    }

    /// Returns all credentials, in no particular order.
    pub fn all(&self) -> Vec<&Credential> {
        self.tokens.values().chain(self.certificates.values()).collect()
    }

    /// Returns the number of credentials.
    pub fn len(&self) -> usize {
        self.tokens.len() + self.certificates.len()
    }
}

/// Returns a fault of a field.
fn fault<T>(file: &str, given: &Spanned<T>, field: &str, text: impl Display) -> Fault {
    Fault::at(file, given.span().start, format!("{field}: {text}"))
}

fn digest(file: &str, given: &Spanned<String>) -> Result<TokenDigest, Fault> {
    let accepted = "is not a digest; accepted: the 64 hexadecimal digits that `utterd token new` printed";
    TokenDigest::read(given.get_ref()).ok_or_else(|| fault(file, given, "sha256", accepted))
}

fn name(file: &str, given: &Spanned<String>) -> Result<String, Fault> {
    let wrong = |text: &str| fault(file, given, "certificate", text);
    Part::Jwt.built().map_err(|unbuilt| wrong(&format!("cannot be used: this program is {unbuilt}")))?;
    let accepted = "is not a certificate name; accepted: \"CN=NAME\", \"DNS:HOST\" and \"URI:URI\"";
    certificate::name(given.get_ref()).ok_or_else(|| wrong(accepted))
}

fn credential(file: &str, entry: &Entry) -> Result<Credential, Fault> {
    let name = entry.name.get_ref();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(fault(file, &entry.name, "name", "is not a name; accepted: one line of text"));
    }
    let namespace = Namespace::new(entry.namespace.get_ref())
        .map_err(|error| fault(file, &entry.namespace, "namespace", error))?;
    let accepted = "is not a role; accepted: read-only, read-write and admin";
    let role = Role::named(entry.role.get_ref()).ok_or_else(|| fault(file, &entry.role, "role", accepted))?;
    let name = name.as_str().into();
    let principal = Principal { name, namespace, role, calls_per_second: entry.calls_per_second };
    let expires = entry.expires.as_ref().map(|given| expiry(file, given)).transpose()?;
    Ok(Credential { principal: Arc::new(principal), expires })
}

fn expiry(file: &str, given: &Spanned<toml::Value>) -> Result<Timestamp, Fault> {
    let text = match given.get_ref() {
        toml::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let accepted = "is not a time; accepted: one with a zone, such as \"2027-01-01T00:00:00Z\"";
    let time: Result<jiff::Timestamp, _> = text.parse();
    time.map(|time| Timestamp(time.as_microsecond())).map_err(|_| fault(file, given, "expires", accepted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn entry(fields: &str) -> String {
        format!("# who may call\n\n[[credentials]]\n{fields}")
    }

    fn whole(more: &str) -> String {
        entry(&format!(
            "name = \"a\"\nnamespace = \"shop\"\nrole = \"read-write\"\nsha256 = \"{DIGEST}\"\n{more}"
        ))
    }

    #[track_caller]
    fn fault(text: &str) -> String {
        Credentials::parse(text).expect_err("it is refused").to_string()
    }

    #[test]
    fn an_entry_says_who_calls() {
        let text = whole("expires = 2027-01-01T00:00:00Z\ncalls_per_second = 50\n");
        for text in [text.replace("2027-01-01T00:00:00Z", "\"2027-01-01T01:00:00+01:00\""), text] {
            let credentials = Credentials::parse(&text).unwrap();
            let found = credentials.of_token("abc").unwrap();
            let Principal { name, namespace, role, calls_per_second } = &*found.principal;
            let told = (&**name, namespace.as_str(), *role, calls_per_second.map(NonZeroU32::get));
            assert_eq!(told, ("a", "shop", Role::ReadWrite, Some(50)));
            assert_eq!(found.expires, Some(Timestamp(1_798_761_600_000_000)));
            assert_eq!((credentials.of_token("abd"), credentials.len()), (None, 1));
        }
        let without = Credentials::parse(&whole("")).unwrap();
        let found = without.of_token("abc").unwrap();
        assert_eq!((found.expires, found.principal.calls_per_second), (None, None));
        assert_eq!(Credentials::parse("").unwrap().len(), 0);
    }

    #[test]
    fn a_fault_names_its_line_and_field() {
        let cases = [
            (whole("x = 1\n"), "line 8: cannot be read; accepted: entries"),
            (entry("namespace = \"b\"\n"), "line 3: name: is missing; accepted: entries"),
            (whole("").replace("namespace = \"shop\"", "namespace = \"\""), "line 5: namespace: is empty"),
            (whole("").replace("read-write", "root"), "line 6: role: is not a role; accepted: read-only"),
            (whole("").replace(DIGEST, "12"), "line 7: sha256: is not a digest"),
            (whole("").replace("\"a\"", "\"\""), "line 4: name: is not a name"),
            (whole("").replace("\"a\"", "7"), "line 4: cannot be read"),
            (whole("expires = 2027-01-01T00:00:00\n"), "line 8: expires: is not a time"),
            (whole("expires = true\n"), "line 8: expires: is not a time"),
            (whole("calls_per_second = 0\n"), "line 8: cannot be read"),
            (whole("calls_per_second = \"9\"\n"), "line 8: cannot be read"),
            (whole("certificate = \"CN=a\"\n"), "line 8: certificate: is given with sha256"),
            (whole("").replace("sha256", "certificate"), "line 7: certificate: is not a certificate name"),
            (whole(&whole("")), "line 11: name: is used by another entry too"),
            (whole(&whole("").replace("\"a\"", "\"b\"")), "line 14: sha256: is used by another entry too"),
            ("tokens = 1\n".into(), "line 1: cannot be read"),
            ("\ncredentials = \"x\"\n".into(), "line 2: cannot be read"),
            ("credentials = [1]\n".into(), "line 1: cannot be read"),
            ("\n\n= 1".into(), "line 3: cannot be read"),
        ];
        for (text, told) in cases {
            let fault = fault(&text);
            assert!(fault.starts_with(told), "{fault:?} does not begin with {told:?}:\n{text}");
        }
    }

    /// The author of the file could put the token in the wrong place.
    #[test]
    fn a_fault_repeats_nothing_of_the_file() {
        let token = "utterd_token_planted";
        let wrong = [
            format!("{token}\n"),
            format!("{token} = 1\n"),
            format!("credentials = \"{token}\"\n"),
            format!("\"{token}\n"),
            format!("[[credentials]]\n{token}\n"),
            format!("[[credentials]]\n{token} = 1\n"),
            format!("[{token}]\n[{token}]\n"),
            whole("").replace(DIGEST, token),
            whole("").replace("read-write", token),
            whole(&format!("expires = \"{token}\"\n")),
            whole(&format!("calls_per_second = \"{token}\"\n")),
            whole(&format!("expires = {token}\n")),
        ];
        for text in wrong {
            let fault = fault(&text);
            assert!(!fault.contains("planted"), "{fault}");
        }
    }
}
