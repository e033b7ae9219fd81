//! Keeping web pages of others away from a listener of this machine that asks for no credential.
//!
//! A browser on this machine can reach such a listener, whatever page it shows. So a request must name this machine,
//! which keeps out a page whose own name was made to resolve to it (DNS rebinding); and a page that sends it must be
//! from this machine, where any program could send it anyway.

use std::net::IpAddr;

use http::{
    HeaderMap, HeaderName,
    header::{HOST, ORIGIN},
};

/// Says what is wrong with the `headers` of a request; `None` if nothing is.
pub fn foreign(headers: &HeaderMap) -> Option<String> {
    let named = |name: HeaderName| headers.get(&name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if let Some(host) = named(HOST).filter(|host| !is_here(host)) {
        return Some(format!(
            "the request is for {host}, and there are no credentials; accepted: localhost or an address of this machine"
        ));
    }
    let origin = named(ORIGIN)?;
    let host = origin.split_once("://").map_or(&*origin, |(_, host)| host);
    (!is_here(host)).then(|| format!("a page of {origin} sent the request, and there are no credentials"))
}

/// Whether `HOST:PORT` is this machine.
fn is_here(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(host: &str, origin: Option<&str>) -> Option<String> {
        let mut headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
        headers.extend(origin.map(|origin| (ORIGIN, origin.parse().unwrap())));
        foreign(&headers)
    }

    #[test]
    fn only_pages_of_this_machine_get_through() {
        for host in ["localhost:50080", "LOCALHOST", "127.0.0.1:1", "127.1.2.3", "[::1]:50080", "[::1]"] {
            assert_eq!(told(host, None), None, "{host}");
            assert_eq!(told("localhost", Some(&format!("http://{host}"))), None, "{host}");
        }
        for host in ["evil.example:50080", "localhost.evil.example", "10.0.0.1", "", "[::2]:1", "null"] {
            assert!(told(host, None).is_some(), "{host}");
            assert!(told("localhost", Some(&format!("https://{host}"))).is_some(), "{host}");
        }
        assert!(told("localhost", Some("null")).is_some());
    }
}
