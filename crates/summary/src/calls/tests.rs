//! What calls do, judged by their names, arguments and results.

mod commands;
mod names;
mod outcomes;
mod tables;

use proptest::prelude::*;

use super::*;
use crate::message::Answer;

fn call<'a>(tool: &'a str, arguments: &'a str, result: Option<&'a str>) -> Call<'a> {
    let answer = |text| Answer { sequence: 2, text };
    Call { tool, arguments, result: result.map(answer) }
}

fn deeds_of(call: &Call<'_>) -> Vec<Deed> {
    deeds(call, &Json::of(call))
}

/// The deeds of a call that worked.
fn done(tool: &str, arguments: &str) -> Vec<Deed> {
    deeds_of(&call(tool, arguments, Some("")))
}

/// The deeds of a script that worked.
fn ran(script: &str) -> Vec<Deed> {
    done("bash", &serde_json::json!({ "command": script }).to_string())
}

/// The rows of a table: what something does, and what it is.
fn table(rows: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    rows.lines().filter_map(|row| row.split_once('\t'))
}

fn objects(deed: &Deed) -> Vec<&str> {
    deed.objects.iter().map(|object| &**object).collect()
}

proptest! {
    #[test]
    fn any_text_is_handled(
        tool in "\\PC{0,40}",
        arguments in "\\PC{0,200}",
        script in "[a-z \"'$()<>|&;\\\\\\n`EOF{}#é—：sy/.=-]{0,200}",
        result in "[a-zA-Z0-9 :\\[\\]{}\",\\n\u{1b}<>/=*é：—×✗‘’]{0,300}",
    ) {
        let _ = deeds_of(&call(&tool, &arguments, Some(&result)));
        let arguments = serde_json::json!({ "command": script }).to_string();
        let _ = deeds_of(&call("bash", &arguments, Some(&result)));
        let _ = deeds_of(&call("run", &script, None));
    }
}

#[test]
fn a_long_result_and_a_long_script_take_linear_time() {
    let result = "error: x\n".repeat(200_000);
    let script = "cat <<EOF > a\n".repeat(20_000);
    let deeds = deeds_of(&call("bash", &script, Some(&result)));
    assert!(matches!(deeds[0].outcome, Outcome::Failed(_)));
    for part in ["\"$(<<a ", "./python3 ", "sudo ", "a;", "<<a", "a && ", "> a ", "-e "] {
        assert!(ran(&part.repeat(20_000)).len() < 50, "{part}");
    }
}
