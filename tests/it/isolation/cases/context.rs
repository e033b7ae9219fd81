//! ContextService.

use serde_json::json;
use tonic::Code;

use super::{BLANK, Case, addressed, case};

pub fn cases() -> Vec<Case> {
    let recall = json!({"recall": {"prompt": "zebra", "scope": "REMEMBER_SCOPE_RECIPIENT"}});
    let history = json!({"messages_json": r#"[{"role": "user", "content": "The zebra?"}]"#});
    let mut cases = addressed("BuildContext", BLANK, json!({}));
    cases.extend(addressed("BuildContext", BLANK, recall));
    cases.push(case("CountTokens", Code::Ok, json!({"texts": ["The zebra?"]})));
    cases.push(case("PrepareHistory", Code::Ok, history));
    cases
}
