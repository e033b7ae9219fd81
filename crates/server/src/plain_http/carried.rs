//! The parts of a request that are passed on to the calls that it stands for.

use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Request, Response};
use tonic::metadata::MetadataMap;
use ulid::Ulid;

use crate::calls;

/// The headers that are passed on as they are.
const PASSED: [HeaderName; 4] = [
    http::header::AUTHORIZATION,
    HeaderName::from_static("utterd-namespace"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
];

/// The caller's credential and trace, the connection and the client at its other end, and an id for the log.
#[derive(Clone)]
pub struct Carried {
    metadata: MetadataMap,
    extensions: Extensions,
    id: HeaderValue,
}

impl Carried {
    /// The parts of `request` that are passed on to its calls.
    pub fn of<B>(request: &Request<B>) -> Self {
        let headers = request.headers();
        let id = id_of(headers);
        let mut passed = HeaderMap::new();
        for name in PASSED {
            for value in headers.get_all(&name) {
                passed.append(&name, value.clone());
            }
        }
        passed.insert(calls::REQUEST_ID, id.clone());
        Self { metadata: MetadataMap::from_headers(passed), extensions: request.extensions().clone(), id }
    }

    /// A call with `message`.
    pub fn call<T>(&self, message: T) -> tonic::Request<T> {
        let mut call = tonic::Request::new(message);
        *call.metadata_mut() = self.metadata.clone();
        *call.extensions_mut() = self.extensions.clone();
        call
    }

    /// Adds the id of the calls to an answer.
    pub fn mark<B>(&self, answer: &mut Response<B>) {
        answer.headers_mut().insert(calls::REQUEST_ID, self.id.clone());
    }
}

/// The id of a request, or one for a caller that gives none.
pub fn id_of(headers: &HeaderMap) -> HeaderValue {
    let made = || HeaderValue::try_from(Ulid::new().to_string());
    // only digits and letters, so this does not fail
    calls::given(headers).or_else(|| made().ok()).unwrap_or(HeaderValue::from_static("unknown"))
}
