//! TraceService.

use serde_json::json;
use tonic::Code;

use super::{Case, STARTS, addressed, case};
use crate::isolation::anna::Names;

pub fn cases(names: &Names) -> Vec<Case> {
    let (run, _) = names.cursor.rsplit_once('-').expect("a cursor is of a run");
    let mut cases = addressed("WatchEvents", STARTS, json!({}));
    // Anna's newest event, which is ahead of everything the caller has; and a cursor that fits both
    cases.push(case("WatchEvents", Code::OutOfRange, json!({"after_event": names.cursor})));
    cases.push(case("WatchEvents", Code::OutOfRange, json!({"after_event": format!("{run}-0")})));
    cases
}
