//! The required contents of a refusal.

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// A status for tests to examine.
#[derive(Debug)]
pub struct Refused {
    status: Status,
    details: ErrorDetails,
}

impl Refused {
    /// Checks that the error has an ErrorInfo of the domain `utterd`, and a message.
    #[track_caller]
    pub fn new(status: Status) -> Self {
        let details = status.get_error_details();
        let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
        assert_eq!(info.domain, "utterd");
        assert!(!status.message().is_empty());
        Self { status, details }
    }

    /// Checks its code and reason.
    #[track_caller]
    pub fn is(self, code: Code, reason: &str) -> Self {
        let actual = self.details.error_info().map(|info| info.reason.as_str());
        assert_eq!((self.status.code(), actual), (code, Some(reason)), "{}", self.status.message());
        self
    }

    /// Checks that it blames only this field.
    #[track_caller]
    pub fn blames(self, field: &str) -> Self {
        let violations = self.details.bad_request().map_or(&[][..], |bad| &bad.field_violations);
        let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(fields, [field], "{}", self.status.message());
        self
    }

    /// Checks that it gives the limit that a size is beyond, as a number.
    #[track_caller]
    pub fn limits_to(self, bytes: usize) -> Self {
        let limit = self.details.error_info().and_then(|info| info.metadata.get("limit_bytes"));
        assert_eq!(limit, Some(&bytes.to_string()), "{}", self.status.message());
        self
    }

    /// Checks that its message contains this.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.status.message().contains(text), "{:?} does not say {text:?}", self.status.message());
        self
    }

    /// Checks that it names this resource.
    #[track_caller]
    pub fn names(self, kind: &str, name: &str) -> Self {
        let resource = self.details.resource_info().expect("a ResourceInfo");
        assert_eq!((resource.resource_type.as_str(), resource.resource_name.as_str()), (kind, name));
        self
    }

    /// Checks that it names the limit that was reached, and when to retry.
    #[track_caller]
    pub fn names_its_limit(self) -> Self {
        assert!(self.details.quota_failure().is_some_and(|failure| !failure.violations.is_empty()));
        assert!(self.details.retry_info().is_some_and(|retry| retry.retry_delay.is_some()));
        self
    }

    pub fn code(&self) -> Code {
        self.status.code()
    }

    pub fn message(&self) -> &str {
        self.status.message()
    }

    pub fn details(&self) -> &ErrorDetails {
        &self.details
    }
}
