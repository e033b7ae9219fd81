//! Which host a request is for, and whether it is fit to be answered.
//!
//! A browser on this machine can reach a listener that asks for no credential, whatever page it shows. So a request must
//! name this machine, which excludes a page whose own name was made to resolve to it (DNS rebinding). If a page sent the
//! request, the page must be from this machine, where any program could send it anyway. Browsers do not send the page's
//! origin with every GET, but `Sec-Fetch-Site` says that it is another site's. A link on such a page is allowed, because
//! only the user sees the answer.

use std::net::IpAddr;

use http::{
    HeaderName, Request, StatusCode, Version,
    header::{HOST, ORIGIN},
    uri::Authority,
};

use super::{Answer, PLAIN, text};

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Returns the answer to a request that names no host, or several (RFC 9112, 3.2); if the listener `is_private`, also
/// to one that a web page of another site sent.
pub fn unfit<B>(request: &Request<B>, is_private: bool) -> Option<Answer> {
    let (code, told) = match host(request) {
        Err(told) => (StatusCode::BAD_REQUEST, told.to_owned()),
        Ok(host) if is_private => (StatusCode::FORBIDDEN, foreign(request, host)?),
        Ok(_) => return None,
    };
    Some(text(code, PLAIN, told + "\n"))
}

/// The host that a request is for: that of its target, or else the one in `Host`, which HTTP/1.0 does not know.
fn host<B>(request: &Request<B>) -> Result<Option<&str>, &'static str> {
    let mut given = request.headers().get_all(HOST).iter();
    let named = match (given.next(), given.next()) {
        (None, _) if request.version() <= Version::HTTP_10 => None,
        (None, _) => return Err("the request has no Host; accepted: one"),
        (Some(_), Some(_)) => return Err("the request has more than one Host; accepted: one"),
        (Some(host), None) => Some(host.to_str().map_err(|_| "Host: is no host")?),
    };
    let is_host = |host: &str| !host.contains('@') && host.parse::<Authority>().is_ok();
    match request.uri().authority().map(Authority::as_str).or(named) {
        Some(host) if !host.is_empty() && !is_host(host) => Err("Host: is no host"),
        host => Ok(host),
    }
}

/// Says what is wrong with a request for `host`; `None` if nothing is.
fn foreign<B>(request: &Request<B>, host: Option<&str>) -> Option<String> {
    if let Some(host) = host.filter(|host| !is_here(host)) {
        return Some(format!(
            "the request is for {host}, and there are no credentials; accepted: localhost or an address of this machine"
        ));
    }
    let headers = request.headers();
    let named = |name: HeaderName| headers.get(&name).map(|value| String::from_utf8_lossy(value.as_bytes()));
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

    fn answered(target: &str, version: Version, hosts: &[&str]) -> Option<u16> {
        let mut builder = Request::get(target).version(version);
        for host in hosts {
            builder = builder.header(HOST, *host);
        }
        unfit(&builder.body(()).unwrap(), true).map(|answer| answer.status().as_u16())
    }

    #[test]
    fn a_request_is_for_one_host() {
        let (new, old) = (Version::HTTP_11, Version::HTTP_10);
        for (target, version, hosts, expected) in [
            ("/", new, &["localhost:1"][..], None),
            ("/", old, &[], None),
            ("/", old, &["localhost"], None),
            ("/", new, &[], Some(400)),
            ("/", new, &["localhost", "localhost"], Some(400)),
            ("/", old, &["localhost", "evil.example"], Some(400)),
            ("/", new, &["a b"], Some(400)),
            ("/", new, &["user@localhost"], Some(400)),
            ("/", new, &["evil.example"], Some(403)),
            ("/", new, &[""], Some(403)),
            ("http://127.0.0.1:7/", new, &["localhost"], None),
            ("http://127.0.0.1:7/", new, &["evil.example"], None),
            ("http://evil.example/", new, &["localhost"], Some(403)),
            ("http://evil.example/", old, &[], Some(403)),
            ("http://evil@localhost/", new, &["localhost"], Some(400)),
            ("http://localhost/", new, &[], Some(400)),
        ] {
            assert_eq!(answered(target, version, hosts), expected, "{target} {hosts:?}");
        }
    }

    fn told(host: &str, origin: Option<&str>) -> bool {
        let request = Request::get("/").header(HOST, host);
        let request = match origin {
            Some(origin) => request.header(ORIGIN, origin),
            None => request,
        };
        unfit(&request.body(()).unwrap(), true).is_some()
    }

    /// A script, an image or a frame of another page, none of which has to send its origin.
    #[test]
    fn what_a_browser_says_of_the_site_counts() {
        let is_refused = |method: &str, site: &str, mode: &str, destination: &str| {
            let request = Request::builder().method(method).uri("/").header(HOST, "localhost:80");
            let request = request.header(SITE, site).header(MODE, mode).header(DESTINATION, destination);
            unfit(&request.body(()).unwrap(), true).is_some()
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
            assert!(!told(host, None), "{host}");
            assert!(!told("localhost", Some(&format!("http://{host}"))), "{host}");
        }
        for host in ["evil.example:50080", "localhost.evil.example", "10.0.0.1", "", "[::2]:1", "null"] {
            assert!(told(host, None), "{host}");
            assert!(told("localhost", Some(&format!("https://{host}"))), "{host}");
        }
        assert!(told("localhost", Some("null")));
    }
}
