//! The one table that maps errors to a gRPC status.
//!
//! Every error carries an `ErrorInfo` with a stable reason and the domain `utterd`; a `BadRequest` if a field
//! is wrong; a `ResourceInfo` if a resource is missing or already exists; a `QuotaFailure` or `RetryInfo` if
//! that helps (AIP-193).

use std::{collections::HashMap, time::Duration};

use http::HeaderMap;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, ErrorInfo, StatusExt};

use crate::convert::bounded;
use utterd_domain::{Reason, Refusal, Size, compaction::Unable, error::ACTIVE_CONVERSATION};
use utterd_engine::{BackupUnderWay, EngineError, StoreError};

/// The domain of every `ErrorInfo`.
pub const DOMAIN: &str = "utterd";

/// An error that a call is answered with.
pub trait IntoStatus {
    fn into_status(self) -> Status;
}

/// The result of a call, whose error is a status.
pub trait OrStatus<T> {
    fn or_status(self) -> Result<T, Status>;
}

impl<T, E: IntoStatus> OrStatus<T> for Result<T, E> {
    fn or_status(self) -> Result<T, Status> {
        self.map_err(E::into_status)
    }
}

impl IntoStatus for EngineError {
    fn into_status(self) -> Status {
        let error = self;
        match error {
            EngineError::Refused(refusal) => refusal.into_status(),
            EngineError::Store(error) => store(&error),
            EngineError::Contended => {
                let details = info("CONTENDED").with_retry(Duration::from_millis(100));
                status(Code::Aborted, error.to_string(), details)
            }
            EngineError::QueueFull => {
                let mut details = info("QUEUE_FULL").with_retry(Duration::from_millis(100));
                details.add_quota_failure_violation("conversation", error.to_string());
                status(Code::ResourceExhausted, error.to_string(), details)
            }
            EngineError::Interrupted => status(Code::Internal, error.to_string(), info("INTERRUPTED")),
            EngineError::Panicked => panicked(),
            EngineError::NoSecret => status(Code::Internal, error.to_string(), info("NO_SECRET")),
            EngineError::Cursor(problem) => {
                let mut details = info("EVENTS_NOT_KEPT");
                details.add_bad_request_violation("after_event", problem);
                status(Code::OutOfRange, error.to_string(), details)
            }
        }
    }
}

impl IntoStatus for Refusal {
    fn into_status(self) -> Status {
        let refusal = self;
        let mut details = info(refusal.reason().as_str());
        match &refusal {
            Refusal::Field(_, violation) => {
                if let Some(size) = violation.size {
                    details.set_error_info(refusal.reason().as_str(), DOMAIN, size_of(size));
                }
                details.add_bad_request_violation(&violation.field, &violation.description);
            }
            Refusal::NotFound { kind, name, .. } | Refusal::Exists { kind, name } => {
                let resource = if *kind == ACTIVE_CONVERSATION { "recipient" } else { kind };
                details.set_resource_info(format!("utterd.v1/{resource}"), name, "", refusal.to_string());
            }
            Refusal::StaleRevision { expected, actual, .. } => {
                let metadata = [("expected", expected.to_string()), ("actual", actual.to_string())];
                details.set_error_info(refusal.reason().as_str(), DOMAIN, owned(metadata));
                details.add_bad_request_violation("expected_revision", refusal.to_string());
            }
            Refusal::StaleState { within, names } => {
                for name in names {
                    let text =
                        format!("is at version {}, not at the expected {}", name.actual, name.expected);
                    let field = format!("{within}expected_versions[{:?}]", name.name);
                    details.add_bad_request_violation(field, text);
                }
            }
            Refusal::CutsExchange { first, last, .. } => {
                let before = (first.get() > 1).then(|| ("before", (first.get() - 1).to_string()));
                let metadata = before.into_iter().chain([("behind", last.to_string())]);
                let metadata: HashMap<_, _> = metadata.map(|(key, value)| (key.to_owned(), value)).collect();
                details.set_error_info(refusal.reason().as_str(), DOMAIN, metadata);
                let text = refusal.to_string();
                let text = text.strip_prefix("at_sequence: ").unwrap_or(&text);
                details.add_bad_request_violation("at_sequence", text);
            }
            Refusal::TooBroad(excess) => {
                let metadata = [
                    ("selected", excess.selected.to_string()),
                    ("window", excess.window.to_string()),
                    ("instructions", excess.instruction.clone()),
                ];
                details.set_error_info(refusal.reason().as_str(), DOMAIN, owned(metadata));
                details.add_bad_request_violation("instructions", excess.to_string());
            }
            Refusal::Closed(name) => {
                details.set_resource_info("utterd.v1/conversation", name, "", refusal.to_string());
            }
            Refusal::RequestIdReused(_) => {
                details.add_bad_request_violation("request_id", refusal.to_string());
            }
            Refusal::TooManyShares(_) => {
                details.add_quota_failure_violation("shares", refusal.to_string());
            }
            Refusal::Compaction(Unable::Irreducible { largest, sequence, .. }) => {
                let metadata =
                    [("largest_token_count", largest.to_string()), ("sequence", sequence.to_string())];
                details.set_error_info(refusal.reason().as_str(), DOMAIN, owned(metadata));
            }
            Refusal::NoShare | Refusal::Compaction(_) => {}
        }
        status(code(&refusal), refusal.to_string(), details)
    }
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::Field(Reason::UtteranceExists, _) | Refusal::Exists { .. } => Code::AlreadyExists,
        Refusal::Field(
            Reason::NoOpenCall | Reason::TurnGoesBack | Reason::Oversize | Reason::RecipientMismatch,
            _,
        ) => Code::FailedPrecondition,
        Refusal::Field(..) => Code::InvalidArgument,
        Refusal::NotFound { .. } => Code::NotFound,
        Refusal::StaleRevision { .. } | Refusal::StaleState { .. } => Code::Aborted,
        Refusal::TooManyShares(_) => Code::ResourceExhausted,
        Refusal::NoShare => Code::PermissionDenied,
        Refusal::Closed(_)
        | Refusal::RequestIdReused(_)
        | Refusal::CutsExchange { .. }
        | Refusal::TooBroad(_)
        | Refusal::Compaction(_) => Code::FailedPrecondition,
    }
}

impl IntoStatus for BackupUnderWay {
    fn into_status(self) -> Status {
        let refused = self;
        let mut details = info("BACKUP_UNDER_WAY").with_retry(Duration::from_secs(10));
        details.add_quota_failure_violation("backups", refused.to_string());
        status(Code::ResourceExhausted, refused.to_string(), details)
    }
}

fn store(error: &StoreError) -> Status {
    match error {
        StoreError::Full { .. } => {
            let mut details = info("MEMORY_LIMIT");
            details.add_quota_failure_violation("memory_limit", error.to_string());
            status(Code::ResourceExhausted, error.to_string(), details)
        }
        StoreError::OverQuota(over) => {
            let mut details = info("NAMESPACE_QUOTA");
            let metadata = [
                ("namespace", over.namespace.to_string()),
                ("quota", over.quota.setting().to_owned()),
                ("limit", over.limit.to_string()),
                ("used", over.used.to_string()),
                ("added", over.added.to_string()),
            ];
            details.set_error_info("NAMESPACE_QUOTA", DOMAIN, owned(metadata));
            details.add_quota_failure_violation(over.quota.setting(), error.to_string());
            status(Code::ResourceExhausted, error.to_string(), details)
        }
        StoreError::DiskFull { .. } => {
            let mut details = info("DISK_FULL").with_retry(Duration::from_secs(5));
            details.add_quota_failure_violation("disk_reserve", error.to_string());
            status(Code::ResourceExhausted, error.to_string(), details)
        }
        StoreError::Busy { .. } => {
            let details = info("DISK_BUSY").with_retry(Duration::from_secs(1));
            status(Code::ResourceExhausted, error.to_string(), details)
        }
        StoreError::Panicked => panicked(),
        StoreError::Unavailable(_) => {
            let details = info("STORE_UNAVAILABLE").with_retry(Duration::from_secs(1));
            status(Code::Unavailable, error.to_string(), details)
        }
    }
}

/// Returns the status of an error found by the transport, not by the engine, also with an `ErrorInfo`.
pub fn transport_error(code: Code, reason: &str, message: impl Into<String>) -> Status {
    status(code, message.into(), info(reason))
}

/// Returns the status of a call that is refused before any work, with the delay before a retry, and the limit
/// that was reached, if any.
pub fn turned_away(reason: &str, message: &str, retry: Duration, quota: Option<(&str, &str)>) -> Status {
    let mut details = info(reason).with_retry(retry);
    if let Some((limit, description)) = quota {
        details.add_quota_failure_violation(limit, description);
    }
    status(Code::ResourceExhausted, message.to_owned(), details)
}

/// Returns the status for a message larger than `most` bytes.
pub fn message_too_large(most: usize) -> Status {
    too_large(most, format!("the message is larger than max_message_bytes, {most}: send less at a time"))
}

/// Returns the status for a message that is too large, in other words; `most` is what is accepted.
pub fn too_large(most: usize, text: String) -> Status {
    let limit = owned([("limit_bytes", most.to_string())]);
    let details = ErrorDetails::with_error_info("MESSAGE_TOO_LARGE", DOMAIN, limit);
    status(Code::ResourceExhausted, text, details)
}

/// Adds the id of a call to the details of its status in `headers`; returns the reason. `None` if the status has no
/// `ErrorInfo`.
pub fn name_request(headers: &mut HeaderMap, id: &str) -> Option<String> {
    let status = Status::from_header_map(headers)?;
    let mut details = status.get_error_details();
    let ErrorInfo { reason, domain, mut metadata } = details.error_info().cloned()?;
    metadata.insert("request_id".to_owned(), id.to_owned());
    details.set_error_info(reason.clone(), domain, metadata);
    // both fit in headers, as they came from headers
    let _ = Status::with_error_details(status.code(), status.message(), details).add_header(headers);
    Some(reason)
}

/// The status of a call that panicked.
pub fn panicked() -> Status {
    status(Code::Internal, EngineError::Panicked.to_string(), info("PANICKED"))
}

/// How the transport reports a message that it cannot unpack.
const UNPACKING: &str = "Error decompressing";

/// Returns a clearer status in place of one that the transport returns for an unreadable message. `most` is the
/// maximum bytes of a message.
pub fn clearer_status(status: &Status, most: usize) -> Option<Status> {
    let message = status.message();
    if status.code() == Code::OutOfRange && message.contains("message length too large") {
        return Some(message_too_large(most));
    }
    if message.contains("size limit") && message.starts_with(UNPACKING) {
        return Some(message_too_large(most));
    }
    let is_unreadable = ["failed to decode Protobuf message", "Unexpected EOF decoding stream", UNPACKING]
        .iter()
        .any(|cause| message.contains(cause));
    let unreadable = || transport_error(Code::InvalidArgument, "INVALID_MESSAGE", message.to_owned());
    (status.code() == Code::Internal && is_unreadable).then(unreadable)
}

fn status(code: Code, message: String, details: ErrorDetails) -> Status {
    Status::with_error_details(code, bounded::message(message), bounded::details(details))
}

fn info(reason: &str) -> ErrorDetails {
    ErrorDetails::with_error_info(reason, DOMAIN, HashMap::new())
}

fn size_of(Size { bytes, limit }: Size) -> HashMap<String, String> {
    owned([("bytes", bytes.to_string()), ("limit_bytes", limit.to_string())])
}

fn owned<const N: usize>(metadata: [(&str, String); N]) -> HashMap<String, String> {
    metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

trait WithRetry {
    fn with_retry(self, delay: Duration) -> Self;
}

impl WithRetry for ErrorDetails {
    fn with_retry(mut self, delay: Duration) -> Self {
        self.set_retry_info(Some(delay));
        self
    }
}
