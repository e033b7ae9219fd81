//! AdminService, whose calls are about every namespace: they are refused to whoever has the rights of one.

use serde_json::json;
use tonic::Code;

use super::{Case, case};

pub fn cases() -> Vec<Case> {
    vec![case("Backup", Code::PermissionDenied, json!({}))]
}
