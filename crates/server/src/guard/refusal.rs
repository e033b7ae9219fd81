//! Why a caller is not let in.

use tonic::{Code, Status};

use super::principal::Role;
use utterd_domain::{Namespace, limits::MAX_ID_BYTES};
use utterd_rpc::transport_error;

/// Why a caller is not let in. It does not say which part of a credential is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The caller shows no credential.
    Missing,
    /// The credential is not accepted.
    Invalid,
    /// The credential has expired.
    Expired,
    /// The call needs this role.
    Role(Role),
    /// The call is in another namespace.
    Namespace,
    /// The metadata does not hold a valid namespace.
    NoNamespace,
    /// The server has no credentials, and so only the default namespace.
    OnlyNamespace,
}

impl Refused {
    /// Returns the reason for the ErrorInfo.
    pub fn reason(&self) -> &'static str {
        self.described().1
    }

    /// Returns the code, the reason and the message of the status.
    fn described(&self) -> (Code, &'static str, String) {
        use Code::{InvalidArgument, PermissionDenied, Unauthenticated};
        match self {
            Self::Missing => (
                Unauthenticated,
                "MISSING_CREDENTIALS",
                "the server requires credentials: send a token in the metadata `authorization: Bearer TOKEN`".into(),
            ),
            Self::Invalid => (Unauthenticated, "INVALID_CREDENTIALS", "the credential is not accepted".into()),
            Self::Expired => (Unauthenticated, "EXPIRED_CREDENTIALS", "the credential has expired".into()),
            Self::Role(role) => (
                PermissionDenied,
                "ROLE_FORBIDS",
                format!("the call needs the role {role}, which the credential does not have"),
            ),
            Self::Namespace => (
                PermissionDenied,
                "NAMESPACE_FORBIDDEN",
                "utterd-namespace: is not the credential's namespace; accepted: that one, or any with the role admin".into(),
            ),
            Self::NoNamespace => (
                InvalidArgument,
                "INVALID_NAMESPACE",
                format!("utterd-namespace: must be one value, 1 to {MAX_ID_BYTES} bytes of text"),
            ),
            Self::OnlyNamespace => (
                PermissionDenied,
                "NAMESPACE_FORBIDDEN",
                format!("utterd-namespace: must be {}, since the server has no credentials", Namespace::default()),
            ),
        }
    }
}

impl From<Refused> for Status {
    fn from(refused: Refused) -> Self {
        let (code, reason, message) = refused.described();
        transport_error(code, reason, message)
    }
}
