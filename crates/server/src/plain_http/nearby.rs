//! Protects a listener on this machine that asks for no credential from other sites' web pages.
//!
//! A browser on this machine can reach such a listener, whatever page it shows. So a request must name this machine,
//! which excludes a page whose own name was made to resolve to it (DNS rebinding). If a page sent the request, the
//! page must be from this machine, where any program could send it anyway. Browsers do not send the page's origin with
//! every GET, but `Sec-Fetch-Site` says that it is another site's. A link on such a page is allowed, because only the
//! user sees the answer.

use std::net::IpAddr;

use http::{
    HeaderName, Request,
    header::{HOST, ORIGIN},
};

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Says what is wrong with a request; `None` if nothing is.
pub fn foreign<B>(request: &Request<B>) -> Option<String> {
    let headers = request.headers();
    let named = |name: HeaderName| headers.get(&name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if let Some(host) = named(HOST).filter(|host| !is_here(host)) {
        return Some(format!(
            "the request is for {host}, and there are no credentials; accepted: localhost or an address of this machine"
        ));
    }
    let Some(origin) = named(ORIGIN) else {
        let says = |name, expected: &str| named(name).as_deref() == Some(expected);
        let is_link = request.method().is_safe() && says(MODE, "navigate") && says(DESTINATION, "document");
        let is_foreign = says(SITE, "cross-site") && !is_link;
        return is_foreign
            .then(|| "a page of another site sent the request, and there are no credentials".to_owned());
    };
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
        let request = Request::get("/").header(HOST, host);
        let request = match origin {
            Some(origin) => request.header(ORIGIN, origin),
            None => request,
        };
        foreign(&request.body(()).unwrap())
    }

    /// A script, an image or a frame of another page, none of which has to send its origin.
    #[test]
    fn what_a_browser_says_of_the_site_counts() {
        let is_refused = |method: &str, site: &str, mode: &str, destination: &str| {
            let request = Request::builder().method(method).uri("/").header(HOST, "localhost:80");
            let request = request.header(SITE, site).header(MODE, mode).header(DESTINATION, destination);
            foreign(&request.body(()).unwrap()).is_some()
        };
        for (mode, destination) in [("no-cors", "script"), ("no-cors", "image"), ("navigate", "iframe")] {
            assert!(is_refused("GET", "cross-site", mode, destination), "{mode} {destination}");
            for site in ["same-origin", "same-site", "none"] {
                assert!(!is_refused("GET", site, mode, destination), "{site}");
            }
        }
        assert!(!is_refused("GET", "cross-site", "navigate", "document"));
        assert!(is_refused("POST", "cross-site", "navigate", "document"), "a form");
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
