//! The files of the page.

use http::{
    HeaderMap, HeaderValue, Request, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    },
};
use xxhash_rust::xxh3::xxh3_64;

use crate::server::plain_http::{self as plain, Answer};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The page runs and loads nothing but its own files, calls nobody but this server, and is shown in no other page: what
/// was said in a conversation is never more than text on it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A file of the page.
struct File {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($path:literal $kind:ident $name:literal),* $(,)?) => {
        [$(File { path: $path, kind: $kind, text: include_str!(concat!("page/", $name)) }),*]
    };
}

const FILES: [File; 3] = files![
    "/" HTML "index.html",
    "/style.css" CSS "style.css",
    "/icon.svg" SVG "icon.svg",
];

/// Answers with the file that `request` names.
pub fn answer<B>(request: &Request<B>) -> Answer {
    let path = request.uri().path();
    let Some(file) = FILES.iter().find(|file| file.path == path) else {
        return plain::text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "the page is at /\n");
    };
    let tag = format!("\"{:016x}\"", xxh3_64(file.text.as_bytes()));
    let mut answer = match is_known(request.headers(), &tag) {
        true => plain::text(StatusCode::NOT_MODIFIED, file.kind, ""),
        false => plain::text(StatusCode::OK, file.kind, file.text),
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

/// Whether the browser already has the file with this tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag))
}
