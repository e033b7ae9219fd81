//! What a list of tasks says is left to do.

use serde_json::Value;

/// The tasks that are not over, of arguments that hold a list of tasks: objects with a text and a status. Empty if all are
/// over; `None` if there is no such list.
pub fn left_to_do(arguments: &Value) -> Option<String> {
    let lists = arguments.as_object()?.values().filter_map(Value::as_array);
    let tasks = lists.map(|list| list.iter().map(task).collect::<Option<Vec<_>>>());
    let tasks = tasks.flatten().find(|tasks| !tasks.is_empty())?;
    let left: Vec<&str> = tasks.iter().filter(|(_, is_over)| !is_over).map(|(text, _)| *text).collect();
    Some(left.join("; "))
}

/// The text of a task, and whether it is over.
fn task(value: &Value) -> Option<(&str, bool)> {
    let task = value.as_object()?;
    let (_, status) =
        task.iter().find(|(key, value)| matches!(key.as_str(), "status" | "state") && value.is_string())?;
    let is_over = ["complete", "done", "finish", "cancel", "closed"];
    let status = status.as_str()?.to_ascii_lowercase();
    let is_over = is_over.iter().any(|word| status.starts_with(word));
    let texts =
        task.iter().filter(|(key, _)| !matches!(key.as_str(), "status" | "state" | "id" | "priority"));
    let text = texts.filter_map(|(_, value)| value.as_str()).max_by_key(|text| text.len())?;
    Some((text, is_over))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_are_not_over_are_left() {
        let plan = r#"{"plan":[{"step":"Read it","status":"completed"},{"step":"Fix the queue","status":"in_progress"},{"step":"Test","status":"pending"}]}"#;
        let left_to_do = |arguments| left_to_do(&serde_json::from_str(arguments).unwrap_or_default());
        assert_eq!(left_to_do(plan).as_deref(), Some("Fix the queue; Test"));
        let over = r#"{"todos":[{"content":"Read it","status":"completed","id":"1"}]}"#;
        assert_eq!(left_to_do(over).as_deref(), Some(""));
        for none in [r#"{"status":"done"}"#, r#"{"rows":[{"status":"open"}]}"#, "stat", r#"{"a":["status"]}"#]
        {
            assert_eq!(left_to_do(none), None, "{none}");
        }
    }
}
