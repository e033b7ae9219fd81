//! The names in a client's certificate.

#[cfg(feature = "jwt")]
use x509_parser::{certificate::X509Certificate, extensions::GeneralName, prelude::FromDer};

/// Returns the names of the holder of the certificate `der`, as a credentials file writes them, in lookup order:
/// `URI:…` and `DNS:…` from the subject's alternative names, then the subject's `CN=…`.
#[cfg(feature = "jwt")]
pub fn names(der: &[u8]) -> Vec<String> {
    let Ok((_, certificate)) = X509Certificate::from_der(der) else { return Vec::new() };
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let alternative = alternative.map_or(&[][..], |extension| &extension.value.general_names);
    let uris = alternative.iter().filter_map(|name| match name {
        GeneralName::URI(uri) => Some(format!("URI:{uri}")),
        _ => None,
    });
    let hosts = alternative.iter().filter_map(|name| match name {
        GeneralName::DNSName(host) => Some(format!("DNS:{}", host.to_ascii_lowercase())),
        _ => None,
    });
    let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    let common = common.map(|name| format!("CN={name}"));
    uris.chain(hosts).chain(common).collect()
}

/// Returns no name: this build cannot read them, and its file of credentials has none.
#[cfg(not(feature = "jwt"))]
pub fn names(_der: &[u8]) -> Vec<String> {
    Vec::new()
}

/// Returns the name that the `text` of an entry stands for; `None` if it is not a name.
pub fn name(text: &str) -> Option<String> {
    let is_name = |rest: &str| !rest.is_empty() && !rest.contains(char::is_control);
    match text.split_at_checked(4) {
        Some(("DNS:", host)) if is_name(host) => Some(format!("DNS:{}", host.to_ascii_lowercase())),
        Some(("URI:", uri)) if is_name(uri) => Some(text.into()),
        _ => text.strip_prefix("CN=").filter(|rest| is_name(rest)).map(|_| text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_three_kinds() {
        for (text, meant) in [
            ("CN=Ops", "CN=Ops"),
            ("CN=x", "CN=x"),
            ("DNS:Orchestrator.internal", "DNS:orchestrator.internal"),
            ("URI:spiffe://Shop/a", "URI:spiffe://Shop/a"),
        ] {
            assert_eq!(name(text).as_deref(), Some(meant));
        }
        for wrong in ["", "CN=", "DNS:", "URI:", "O=x", "cn=x", "x", "CN=a\nb", "é", "IP:127.0.0.1"] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_name() {
        assert_eq!(names(b""), [""; 0]);
        assert_eq!(names(&[0x30; 100]), [""; 0]);
    }
}
