//! Which host a request is for, and whether it is fit to be answered.

use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode, Version,
    header::HOST,
    uri::{Authority, Scheme},
};

use super::{Answer, PLAIN, nearby::foreign, text};

/// Returns the answer to a request that names no host, or several (RFC 9112, 3.2); if the listener `is_private`, also
/// to one that a web page of another site sent. In any other request, `Host` becomes the host that it is for.
pub fn unfit<B>(request: &mut Request<B>, is_private: bool) -> Option<Answer> {
    let refused = match name_host(request) {
        Err(told) => (StatusCode::BAD_REQUEST, told.to_owned()),
        Ok(()) if is_private => (StatusCode::FORBIDDEN, foreign(request)?),
        Ok(()) => return None,
    };
    Some(text(refused.0, PLAIN, refused.1 + "\n"))
}

/// Makes `Host` the host that a request is for: that of its target, if the target names one.
fn name_host<B>(request: &mut Request<B>) -> Result<(), &'static str> {
    if request.method() == Method::CONNECT {
        return Err("CONNECT is for proxies, and this is none");
    }
    check_given(request.headers(), request.version())?;
    let target = request.uri();
    let Some(authority) = target.authority() else { return Ok(()) };
    if !target.scheme().is_some_and(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme)) {
        return Err("the target is no URL of HTTP");
    }
    check(authority.as_str())?;
    let host = HeaderValue::try_from(authority.as_str()).map_err(|_| "the target's host is no host")?;
    request.headers_mut().insert(HOST, host);
    Ok(())
}

/// HTTP/1.0 knows no `Host`; later versions require one.
fn check_given(headers: &HeaderMap, version: Version) -> Result<(), &'static str> {
    let mut given = headers.get_all(HOST).iter();
    match (given.next(), given.next()) {
        (None, _) if version <= Version::HTTP_10 => Ok(()),
        (None, _) => Err("the request has no Host; accepted: one"),
        (Some(_), Some(_)) => Err("the request has more than one Host; accepted: one"),
        (Some(host), None) => host.to_str().map_err(|_| "Host: is no host").and_then(check),
    }
}

fn check(host: &str) -> Result<(), &'static str> {
    let is_host = |host: &str| !host.contains('@') && host.parse::<Authority>().is_ok();
    if host.is_empty() || is_host(host) { Ok(()) } else { Err("Host: is no host") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(method: &str, target: &str, version: Version, hosts: &[&str]) -> Result<String, u16> {
        let mut builder = Request::builder().method(method).uri(target).version(version);
        for host in hosts {
            builder = builder.header(HOST, *host);
        }
        let mut request = builder.body(()).unwrap();
        match unfit(&mut request, true) {
            Some(answer) => Err(answer.status().as_u16()),
            None => Ok(request.headers().get(HOST).map_or("", |host| host.to_str().unwrap()).to_owned()),
        }
    }

    #[test]
    fn a_request_is_for_one_host() {
        let (new, old) = (Version::HTTP_11, Version::HTTP_10);
        for (target, version, hosts, expected) in [
            ("/", new, &["localhost:1"][..], Ok("localhost:1")),
            ("/", old, &[], Ok("")),
            ("/", new, &[], Err(400)),
            ("/", new, &["localhost", "localhost"], Err(400)),
            ("/", old, &["localhost", "evil.example"], Err(400)),
            ("/", new, &["a b"], Err(400)),
            ("/", new, &["user@localhost"], Err(400)),
            ("/", new, &["evil.example"], Err(403)),
            ("/", new, &[""], Err(403)),
            ("http://127.0.0.1:7/", new, &["localhost"], Ok("127.0.0.1:7")),
            ("http://127.0.0.1:7/", new, &["evil.example"], Ok("127.0.0.1:7")),
            ("http://evil.example/", new, &["localhost"], Err(403)),
            ("http://evil.example/", old, &[], Err(403)),
            ("http://evil@localhost/", new, &["localhost"], Err(400)),
            ("http://localhost/", new, &[], Err(400)),
            ("ftp://localhost/", new, &["localhost"], Err(400)),
        ] {
            let answered = answered("GET", target, version, hosts);
            assert_eq!(answered, expected.map(str::to_owned), "{target} {hosts:?}");
        }
        assert_eq!(answered("CONNECT", "localhost:80", new, &["localhost:80"]), Err(400));
    }
}
