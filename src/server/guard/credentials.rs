//! The credentials of a file: who may call, as what, for how long.

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
use crate::{
    domain::{Namespace, Timestamp},
    server::certificate,
};

/// The credentials of a file.
#[derive(Debug, Default)]
pub struct Credentials {
    tokens: HashMap<TokenDigest, Credential>,
    certificates: HashMap<String, Credential>,
}

impl Credentials {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut credentials = Self::default();
        let mut names = HashSet::new();
        for entry in entries(text)? {
            let credential = credential(&entry)?;
            if !names.insert(credential.principal.name.clone()) {
                return Err(entry.fault("name", "is another entry's too; each has a name of its own"));
            }
            credentials.add(&entry, credential)?;
        }
        Ok(credentials)
    }

    fn add(&mut self, entry: &Entry<'_>, credential: Credential) -> Result<(), Fault> {
        let accepted = "a digest that `utterd token new` printed, or certificate instead";
        let (field, before) = match (entry.text("sha256")?, entry.text("certificate")?) {
            (Some(_), Some(_)) => return Err(entry.fault("certificate", "is beside sha256; accepted is one")),
            (Some(text), None) => ("sha256", self.tokens.insert(digest(entry, text)?, credential)),
            (None, Some(text)) => ("certificate", self.certificates.insert(name(entry, text)?, credential)),
            (None, None) => return Err(entry.missing("sha256", accepted)),
        };
        match before {
            None => Ok(()),
            Some(_) => Err(entry.fault(field, "is another entry's too; accepted is one entry for each")),
        }
    }

    /// The credential that `token` is.
    ///
    /// Where it is looked for depends on its digest alone, mixed with a number that nobody outside knows, and two digests
    /// are compared without an early end: the time that this takes tells nothing of the tokens that would be accepted.
    pub fn of_token(&self, token: &str) -> Option<&Credential> {
        self.tokens.get(&TokenDigest::of(token))
    }

    /// The credential that a certificate with these names is: that of its first name which has an entry.
    pub fn of_certificate(&self, names: &[String]) -> Option<&Credential> {
        names.iter().find_map(|name| self.certificates.get(name))
    }

    /// Every credential, in no order.
    pub fn all(&self) -> Vec<&Credential> {
        self.tokens.values().chain(self.certificates.values()).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens.len() + self.certificates.len()
    }
}

fn digest(entry: &Entry<'_>, text: &str) -> Result<TokenDigest, Fault> {
    let accepted = "is no digest; accepted are the 64 hexadecimal digits that `utterd token new` printed";
    TokenDigest::read(text).ok_or_else(|| entry.fault("sha256", accepted))
}

fn name(entry: &Entry<'_>, text: &str) -> Result<String, Fault> {
    let accepted = "is no name of a certificate; accepted are \"CN=NAME\", \"DNS:HOST\" and \"URI:URI\"";
    certificate::name(text).ok_or_else(|| entry.fault("certificate", accepted))
}

fn credential(entry: &Entry<'_>) -> Result<Credential, Fault> {
    let name = entry.required("name", "what to call the credential in logs")?;
    if name.is_empty() || name.contains(char::is_control) {
        return Err(entry.fault("name", "is no name; accepted is one line of text"));
    }
    let namespace = entry.required("namespace", "whose conversations it opens, such as \"default\"")?;
    let namespace =
        Namespace::new(namespace).map_err(|error| entry.fault("namespace", &error.to_string()))?;
    let accepted = "is none; accepted are read-only, read-write and admin";
    let role = entry.required("role", "read-only, read-write or admin")?;
    let role = Role::named(role).ok_or_else(|| entry.fault("role", accepted))?;
    let calls_per_second = calls(entry)?;
    let principal = Principal { name: name.into(), namespace, role, calls_per_second };
    Ok(Credential { principal: Arc::new(principal), expires: expiry(entry)? })
}

fn calls(entry: &Entry<'_>) -> Result<Option<NonZeroU32>, Fault> {
    let Some(number) = entry.number("calls_per_second")? else { return Ok(None) };
    let accepted = "is no rate; accepted is a number from 1, or none for the server's own limit";
    match u32::try_from(number).ok().and_then(NonZeroU32::new) {
        Some(number) => Ok(Some(number)),
        None => Err(entry.fault("calls_per_second", accepted)),
    }
}

fn expiry(entry: &Entry<'_>) -> Result<Option<Timestamp>, Fault> {
    let Some(text) = entry.time("expires")? else { return Ok(None) };
    let accepted = "is no time; accepted is one with a zone, such as \"2027-01-01T00:00:00Z\"";
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
            (whole("").replace("read-write", "root"), "line 6: role: is none; accepted are read-only"),
            (whole("").replace(DIGEST, "12"), "line 7: sha256: is no digest"),
            (whole("").replace("\"a\"", "\"\""), "line 4: name: is no name"),
            (whole("").replace("\"a\"", "7"), "line 4: name: accepted is text"),
            (whole("expires = 2027-01-01T00:00:00\n"), "line 8: expires: is no time"),
            (whole("expires = true\n"), "line 8: expires: accepted is a time"),
            (whole("calls_per_second = 0\n"), "line 8: calls_per_second: is no rate"),
            (whole("calls_per_second = \"9\"\n"), "line 8: calls_per_second: accepted is a number"),
            (whole("certificate = \"CN=a\"\n"), "line 8: certificate: is beside sha256"),
            (whole("").replace("sha256", "certificate"), "line 7: certificate: is no name of a certificate"),
            (whole(&whole("")), "line 11: name: is another entry's too"),
            (whole(&whole("").replace("\"a\"", "\"b\"")), "line 14: sha256: is another entry's too"),
            ("tokens = 1\n".into(), "line 1: there is no such key"),
            ("\ncredentials = \"x\"\n".into(), "line 2: credentials: is no list"),
            ("credentials = [1]\n".into(), "line 1: credentials: is no list"),
            ("\n\n= 1".into(), "line 3: is no TOML"),
        ];
        for (text, told) in cases {
            let fault = fault(&text);
            assert!(fault.starts_with(told), "{fault:?} does not begin with {told:?}:\n{text}");
        }
    }

    /// Whoever writes the file may put the token where it does not belong.
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
