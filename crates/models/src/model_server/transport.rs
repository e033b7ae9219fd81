//! One HTTP request and its answer, bounded in bytes.

use std::{error::Error, time::Duration};

use http_body_util::{BodyExt, LengthLimitError, Limited};
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use reqwest::{
    RequestBuilder, Response, StatusCode,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
};
use serde_json::{Value, value::RawValue};
use tower::BoxError;

use utterd_engine::models::llm::LlmError;

/// The maximum bytes to read of an error response.
const MAX_REASON_BYTES: usize = 64 << 10;
/// The maximum characters to keep of a server's error message.
const MAX_REASON_CHARS: usize = 300;
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Sends a request, once. The answer is complete JSON of at most `most` bytes; anything else is an [`LlmError`].
pub(super) async fn send(request: RequestBuilder, most: usize) -> Result<Box<RawValue>, LlmError> {
    complete(begin(request).await?, most).await
}

/// Sends a request, once. The answer has begun, and is a success.
pub(super) async fn begin(request: RequestBuilder) -> Result<Response, LlmError> {
    let response = request.send().await.map_err(|error| unreachable(error.without_url()))?;
    if response.status().is_success() { Ok(response) } else { Err(failure(response).await) }
}

fn unreachable(error: impl Error) -> LlmError {
    LlmError::Unavailable { message: causes(&error), retry_after: None }
}

/// The messages of `error` and of each of its causes.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Reads the body of the answer, which must be JSON.
async fn complete(response: Response, most: usize) -> Result<Box<RawValue>, LlmError> {
    let body = http::Response::from(response).into_body();
    let body = match Limited::new(body, most).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return Err(LlmError::Unusable(format!("it has more than {most} bytes")));
        }
        Err(error) => return Err(unreachable(Broken(error))),
    };
    serde_json::from_slice(&body).map_err(|error| LlmError::Unusable(format!("it is not JSON: {error}")))
}

/// An answer that broke off.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
struct Broken(#[source] BoxError);

/// Reads the error that an unsuccessful response describes.
async fn failure(response: Response) -> LlmError {
    let (parts, body) = http::Response::from(response).into_parts();
    let body = Limited::new(body, MAX_REASON_BYTES).collect().await;
    let reason = body.map_or_else(|_| String::new(), |body| reason(&body.to_bytes()));
    let message = format!("{}: {reason}", parts.status);
    if parts.status.is_server_error() || is_temporary(parts.status) {
        LlmError::Unavailable { message, retry_after: retry_after(&parts.headers) }
    } else {
        LlmError::Refused(message)
    }
}

fn is_temporary(status: StatusCode) -> bool {
    let temporary = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
    temporary.contains(&status)
}

/// Returns the message of an error in either protocol, or else the beginning of the body, on one line.
fn reason(body: &[u8]) -> String {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let told = json["error"]["message"].as_str().or(json["error"].as_str()).map(str::to_owned);
    let text = told.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    text.chars().take(MAX_REASON_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns how long the server asks to wait: in milliseconds, in seconds, or until a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let number = |name| text(name)?.parse().ok();
    let milliseconds = number(RETRY_AFTER_MS).map(Duration::from_millis);
    let seconds = || number(RETRY_AFTER).map(Duration::from_secs);
    let date = || {
        // relative to the server's own clock
        let [now, then] = [text(DATE)?, text(RETRY_AFTER)?].map(date);
        Duration::try_from(then?.duration_since(now?)).ok()
    };
    milliseconds.or_else(seconds).or_else(date)
}

fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(text).ok()
}
