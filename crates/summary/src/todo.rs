//! What a list of tasks says is left to do.

use serde_json::{Map, Value};

/// How the status of a task begins that is over, and of one that is not.
const OVER: [&str; 5] = ["complete", "done", "finish", "cancel", "closed"];
const BEFORE: [&str; 6] = ["pending", "in_progress", "in progress", "todo", "to do", "blocked"];

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
    let is_over = is_any(status(task)?, &OVER);
    let texts = task.iter().filter(|(key, _)| !is_status(key) && !matches!(key.as_str(), "id" | "priority"));
    let text = texts.filter_map(|(_, value)| value.as_str()).max_by_key(|text| text.len())?;
    Some((text, is_over))
}

/// Whether arguments only set the status of a task that they name by its number in a list: without the list, that tells
/// nothing.
pub fn sets_only_status(arguments: &Value) -> bool {
    let Some(members) = arguments.as_object() else { return false };
    let is_place = |value: &Value| match value {
        Value::String(text) => text.parse::<u16>().is_ok(),
        other => other.is_u64(),
    };
    let mut others = members.iter().filter(|(key, _)| !is_status(key)).peekable();
    let is_task = status(members).is_some_and(|status| is_any(status, &OVER) || is_any(status, &BEFORE));
    is_task && others.peek().is_some() && others.all(|(_, value)| is_place(value))
}

fn status(task: &Map<String, Value>) -> Option<&str> {
    task.iter().filter(|(key, _)| is_status(key)).find_map(|(_, value)| value.as_str())
}

fn is_status(key: &str) -> bool {
    matches!(key, "status" | "state")
}

fn is_any(status: &str, words: &[&str]) -> bool {
    let status = status.to_ascii_lowercase();
    words.iter().any(|word| status.starts_with(word))
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

    #[test]
    fn the_status_of_a_task_without_its_text_tells_nothing() {
        for (arguments, expected) in [
            (r#"{"taskId":"7","status":"completed"}"#, true),
            (r#"{"list":2,"task":7,"state":"in_progress"}"#, true),
            (r#"{"taskId":"7","status":"completed","note":"It was a race."}"#, false),
            (r#"{"issue":"UT-71","state":"Done"}"#, false),
            (r#"{"lamp":3,"state":"on"}"#, false),
            (r#"{"status":"done"}"#, false),
        ] {
            let arguments = serde_json::from_str(arguments).unwrap_or_default();
            assert_eq!(sets_only_status(&arguments), expected, "{arguments}");
        }
    }
}
