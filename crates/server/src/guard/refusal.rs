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
        match self {
            Self::Missing => "MISSING_CREDENTIALS",
            Self::Invalid => "INVALID_CREDENTIALS",
            Self::Expired => "EXPIRED_CREDENTIALS",
            Self::Role(_) => "ROLE_FORBIDS",
            Self::Namespace | Self::OnlyNamespace => "NAMESPACE_FORBIDDEN",
            Self::NoNamespace => "INVALID_NAMESPACE",
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Missing | Self::Invalid | Self::Expired => Code::Unauthenticated,
            Self::Role(_) | Self::Namespace | Self::OnlyNamespace => Code::PermissionDenied,
            Self::NoNamespace => Code::InvalidArgument,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Missing => {
                "the server requires credentials: send a token in the metadata `authorization: Bearer TOKEN`".into()
            }
            Self::Invalid => "the credential is not accepted".into(),
            Self::Expired => "the credential has expired".into(),
            Self::Role(role) => format!("the call needs the role {role}, which the credential does not have"),
            Self::Namespace => {
                "utterd-namespace: is not the credential's namespace; accepted: that one, or any with the role admin"
                    .into()
            }
            Self::NoNamespace => format!(
                "utterd-namespace: must be one value, 1 to {MAX_ID_BYTES} bytes of text"
            ),
            Self::OnlyNamespace => format!(
                "utterd-namespace: must be {}, since the server has no credentials", Namespace::default()
            ),
        }
    }
}

impl From<Refused> for Status {
    fn from(refused: Refused) -> Self {
        transport_error(refused.code(), refused.reason(), refused.message())
    }
}
