//! The files of the page.

use http::{
    HeaderMap, HeaderValue, Request, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    },
};
use xxhash_rust::xxh3::xxh3_64;

use crate::plain_http::{self as plain, Answer};

/// The page runs and loads nothing but its own files, calls nobody but this server, and is shown in no other page: what
/// was said in a conversation is never more than text on it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("page/", $name)))),*]
    };
}

/// The names and texts of the files.
const FILES: &[(&str, &str)] = files![
    "index.html",
    "icon.svg",
    "actions.js",
    "block.js",
    "calls.js",
    "compose.js",
    "conversation.js",
    "details.js",
    "dialogs.js",
    "element.js",
    "excerpt.js",
    "fields.js",
    "find.js",
    "forget.js",
    "limits.js",
    "list.js",
    "live.js",
    "main.js",
    "messages.js",
    "narrow.js",
    "prepare.js",
    "route.js",
    "state.js",
    "tabs.js",
    "utterance.js",
    "view.js",
    "window.js",
    "words.js",
    "panels/context.js",
    "panels/events.js",
    "panels/forks.js",
    "panels/recall.js",
    "panels/summary.js",
    "panels/timeline.js",
    "styles/base.css",
    "styles/conversation.css",
    "styles/dialogs.css",
    "styles/narrow.css",
    "styles/page.css",
    "styles/panels.css",
];

/// Answers with the file that `request` names.
pub fn answer<B>(request: &Request<B>) -> Answer {
    let asked = match request.uri().path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let Some((name, text)) = FILES.iter().find(|(name, _)| *name == asked) else {
        return plain::text(StatusCode::NOT_FOUND, plain::PLAIN, "the page is at /\n");
    };
    let tag = format!("\"{:016x}\"", xxh3_64(text.as_bytes()));
    let mut answer = match is_known(request.headers(), &tag) {
        true => plain::text(StatusCode::NOT_MODIFIED, kind(name), ""),
        false => plain::text(StatusCode::OK, kind(name), *text),
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

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    }
}

/// Whether the browser already has the file with this tag.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The files below `directory`, by their paths in it.
    fn files(directory: &Path, within: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in fs::read_dir(directory.join(within)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{within}{}", entry.file_name().into_string().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => found.extend(files(directory, &format!("{name}/"))),
                false => drop(found.insert(name)),
            }
        }
        found
    }

    #[test]
    fn every_file_is_served() {
        let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/inspector/page"));
        let is_served = |name: &String| !name.ends_with(".json");
        let served: BTreeSet<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(served, files(directory, "").into_iter().filter(is_served).collect());
    }
}
