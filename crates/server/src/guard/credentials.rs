//! The credentials of a file: who may call, in which role, for how long.

use std::{
    collections::{HashMap, HashSet},
    num::NonZeroU32,
    sync::Arc,
};

use super::{
    credential::Credential,
    entry::{Entry, entries},
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

impl Credentials {
    /// Parses the text of a file.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut credentials = Self::default();
        let mut names = HashSet::new();
        for entry in entries(text)? {
            let credential = credential(&entry)?;
            if !names.insert(credential.principal.name.clone()) {
                return Err(entry.fault("name", "is used by another entry too; names must be unique"));
            }
            credentials.add(&entry, credential)?;
        }
        Ok(credentials)
    }

    fn add(&mut self, entry: &Entry<'_>, credential: Credential) -> Result<(), Fault> {
        let accepted = "a digest that `utterd token new` printed, or certificate instead";
        let (field, before) = match (entry.text("sha256")?, entry.text("certificate")?) {
            (Some(_), Some(_)) => {
                return Err(entry.fault("certificate", "is given with sha256; accepted: one"));
            }
            (Some(text), None) => ("sha256", self.tokens.insert(digest(entry, text)?, credential)),
            (None, Some(text)) => ("certificate", self.certificates.insert(name(entry, text)?, credential)),
            (None, None) => return Err(entry.missing("sha256", accepted)),
        };
        match before {
            None => Ok(()),
            Some(_) => Err(entry.fault(field, "is used by another entry too; accepted: one entry each")),
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

fn digest(entry: &Entry<'_>, text: &str) -> Result<TokenDigest, Fault> {
    let accepted = "is not a digest; accepted: the 64 hexadecimal digits that `utterd token new` printed";
    TokenDigest::read(text).ok_or_else(|| entry.fault("sha256", accepted))
}

fn name(entry: &Entry<'_>, text: &str) -> Result<String, Fault> {
    let unread = |unbuilt| entry.fault("certificate", &format!("cannot be used: this program is {unbuilt}"));
    Part::Jwt.built().map_err(unread)?;
    let accepted = "is not a certificate name; accepted: \"CN=NAME\", \"DNS:HOST\" and \"URI:URI\"";
    certificate::name(text).ok_or_else(|| entry.fault("certificate", accepted))
}

fn credential(entry: &Entry<'_>) -> Result<Credential, Fault> {
    let name = entry.required("name", "the credential's name in logs")?;
    if name.is_empty() || name.contains(char::is_control) {
        return Err(entry.fault("name", "is not a name; accepted: one line of text"));
    }
    let namespace =
        entry.required("namespace", "the namespace that it gives access to, such as \"default\"")?;
    let namespace =
        Namespace::new(namespace).map_err(|error| entry.fault("namespace", &error.to_string()))?;
    let accepted = "is not a role; accepted: read-only, read-write and admin";
    let role = entry.required("role", "read-only, read-write or admin")?;
    let role = Role::named(role).ok_or_else(|| entry.fault("role", accepted))?;
    let calls_per_second = calls(entry)?;
    let principal = Principal { name: name.into(), namespace, role, calls_per_second };
    Ok(Credential { principal: Arc::new(principal), expires: expiry(entry)? })
}

fn calls(entry: &Entry<'_>) -> Result<Option<NonZeroU32>, Fault> {
    let Some(number) = entry.number("calls_per_second")? else { return Ok(None) };
    let accepted = "is not a rate; accepted: a number from 1; leave it out for the server's limit";
    match u32::try_from(number).ok().and_then(NonZeroU32::new) {
        Some(number) => Ok(Some(number)),
        None => Err(entry.fault("calls_per_second", accepted)),
    }
}

fn expiry(entry: &Entry<'_>) -> Result<Option<Timestamp>, Fault> {
    let Some(text) = entry.time("expires")? else { return Ok(None) };
    let accepted = "is not a time; accepted: one with a zone, such as \"2027-01-01T00:00:00Z\"";
    match text.parse::<jiff::Timestamp>() {
        Ok(time) => Ok(Some(Timestamp(time.as_microsecond()))),
        Err(_) => Err(entry.fault("expires", accepted)),
    }
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
            (whole("x = 1\n"), "line 8: there is no such field"),
            (entry("namespace = \"b\"\n"), "line 3: name: is missing"),
            (whole("").replace("namespace = \"shop\"", "namespace = \"\""), "line 5: namespace: is empty"),
            (whole("").replace("read-write", "root"), "line 6: role: is not a role; accepted: read-only"),
            (whole("").replace(DIGEST, "12"), "line 7: sha256: is not a digest"),
            (whole("").replace("\"a\"", "\"\""), "line 4: name: is not a name"),
            (whole("").replace("\"a\"", "7"), "line 4: name: must be text"),
            (whole("expires = 2027-01-01T00:00:00\n"), "line 8: expires: is not a time"),
            (whole("expires = true\n"), "line 8: expires: must be a time"),
            (whole("calls_per_second = 0\n"), "line 8: calls_per_second: is not a rate"),
            (whole("calls_per_second = \"9\"\n"), "line 8: calls_per_second: must be a number"),
            (whole("certificate = \"CN=a\"\n"), "line 8: certificate: is given with sha256"),
            (whole("").replace("sha256", "certificate"), "line 7: certificate: is not a certificate name"),
            (whole(&whole("")), "line 11: name: is used by another entry too"),
            (whole(&whole("").replace("\"a\"", "\"b\"")), "line 14: sha256: is used by another entry too"),
            ("tokens = 1\n".into(), "line 1: there is no such key"),
            ("\ncredentials = \"x\"\n".into(), "line 2: credentials: is not a list"),
            ("credentials = [1]\n".into(), "line 1: credentials: is not a list"),
            ("\n\n= 1".into(), "line 3: is not TOML"),
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
