//! The names of gRPC's status codes.

use tonic::Code;

/// The names of a status code.
pub struct CodeNames {
    /// In gRPC's specification, and in OpenTelemetry's conventions.
    pub grpc: &'static str,
    /// In Go, which is what dashboards expect.
    pub go: &'static str,
    /// In the Connect protocol.
    #[cfg_attr(not(feature = "inspector"), allow(dead_code))] // only the inspector answers by it
    pub connect: &'static str,
}

/// The names of all status codes, by their numbers.
const NAMES: [CodeNames; 17] = [
    CodeNames { grpc: "OK", go: "OK", connect: "ok" },
    CodeNames { grpc: "CANCELLED", go: "Canceled", connect: "canceled" },
    CodeNames { grpc: "UNKNOWN", go: "Unknown", connect: "unknown" },
    CodeNames { grpc: "INVALID_ARGUMENT", go: "InvalidArgument", connect: "invalid_argument" },
    CodeNames { grpc: "DEADLINE_EXCEEDED", go: "DeadlineExceeded", connect: "deadline_exceeded" },
    CodeNames { grpc: "NOT_FOUND", go: "NotFound", connect: "not_found" },
    CodeNames { grpc: "ALREADY_EXISTS", go: "AlreadyExists", connect: "already_exists" },
    CodeNames { grpc: "PERMISSION_DENIED", go: "PermissionDenied", connect: "permission_denied" },
    CodeNames { grpc: "RESOURCE_EXHAUSTED", go: "ResourceExhausted", connect: "resource_exhausted" },
    CodeNames { grpc: "FAILED_PRECONDITION", go: "FailedPrecondition", connect: "failed_precondition" },
    CodeNames { grpc: "ABORTED", go: "Aborted", connect: "aborted" },
    CodeNames { grpc: "OUT_OF_RANGE", go: "OutOfRange", connect: "out_of_range" },
    CodeNames { grpc: "UNIMPLEMENTED", go: "Unimplemented", connect: "unimplemented" },
    CodeNames { grpc: "INTERNAL", go: "Internal", connect: "internal" },
    CodeNames { grpc: "UNAVAILABLE", go: "Unavailable", connect: "unavailable" },
    CodeNames { grpc: "DATA_LOSS", go: "DataLoss", connect: "data_loss" },
    CodeNames { grpc: "UNAUTHENTICATED", go: "Unauthenticated", connect: "unauthenticated" },
];

/// The names of a status code.
pub fn names(code: Code) -> &'static CodeNames {
    &NAMES[code as usize % NAMES.len()]
}
