//! The files of the page.

use http::{
    HeaderMap, HeaderValue, Request, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    },
};
use rust_embed::Embed;
use xxhash_rust::xxh3::xxh3_64;

use crate::plain_http::{self as plain, Answer};

/// The page runs and loads nothing but its own files, calls nobody but this server, and is shown in no other page: what
/// was said in a conversation is never more than text on it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The files of the page.
#[derive(Embed)]
#[folder = "src/inspector/page"]
struct Files;

/// Answers with the file that `request` names.
pub fn answer<B>(request: &Request<B>) -> Answer {
    let asked = match request.uri().path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let Some((kind, file)) = kind(asked).and_then(|kind| Some((kind, Files::get(asked)?.data))) else {
        return plain::text(StatusCode::NOT_FOUND, plain::PLAIN, "the page is at /\n");
    };
    let tag = format!("\"{:016x}\"", xxh3_64(&file));
    let mut answer = match is_known(request.headers(), &tag) {
        true => plain::text(StatusCode::NOT_MODIFIED, kind, ""),
        false => plain::text(StatusCode::OK, kind, file.into_owned()),
    };
    let headers = answer.headers_mut();
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(ETAG, tag);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// The type of a file of the page; `None` of other files, which are for its development.
fn kind(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

/// Whether the browser already has the file with this tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_served_and_what_it_is_made_with_is_not() {
        let asked = |path: &str| answer(&Request::get(path).body(()).unwrap());
        for (path, kind) in
            [("/", "text/html"), ("/main.js", "text/javascript"), ("/styles/base.css", "text/css")]
        {
            let answer = asked(path);
            assert!(answer.headers()["content-type"].to_str().unwrap().starts_with(kind), "{path}");
        }
        for path in ["/tsconfig.json", "/none.js", "/styles", "/../page.rs"] {
            assert_eq!(asked(path).status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
