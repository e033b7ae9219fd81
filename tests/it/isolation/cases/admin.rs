//! AdminService, whose calls affect every namespace: they are refused to callers with the rights of one
//! namespace.

use serde_json::json;
use tonic::Code;

use super::{Case, case};

pub fn cases() -> Vec<Case> {
    vec![case("Backup", Code::PermissionDenied, json!({}))]
}
