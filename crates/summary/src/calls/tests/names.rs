//! Tools that run no commands.

use super::*;

#[test]
fn a_verb_says_what_a_tool_does() {
    for (does, tool) in table(include_str!("names.tsv")) {
        assert_eq!(done(tool, "{}")[0].changed(), does == "changes", "{tool}");
    }
}

#[test]
fn an_argument_says_what_a_tool_of_many_actions_does() {
    for (tool, arguments, changed) in [
        ("str_replace_editor", r#"{"command":"view","path":"a.rs"}"#, false),
        ("str_replace_editor", r#"{"command":"create","path":"a.rs"}"#, true),
        ("str_replace_editor", r#"{"path":"a.rs","command":"str_replace"}"#, true),
        ("http", r#"{"method":"GET","url":"https://a.b/c"}"#, false),
        ("http_request", r#"{"method":"DELETE","url":"https://a.b/c"}"#, true),
        ("memory", r#"{"action":"search","text":"x"}"#, false),
        ("execute_sql", r#"{"query":"SELECT a FROM b"}"#, false),
        ("execute_sql", r#"{"query":"DELETE FROM b WHERE a = 1"}"#, true),
        ("database_query", r#"{"sql":"update b set a = 1"}"#, true),
    ] {
        assert_eq!(done(tool, arguments)[0].changed(), changed, "{tool} {arguments}");
    }
}

#[test]
fn a_tool_that_tests_is_a_check() {
    let deeds = deeds_of(&call("run_tests", r#"{"path":"tests/a.py"}"#, Some("3 passed in 0.1s")));
    assert_eq!(deeds[0].check.as_deref(), Some("run_tests tests/a.py"));
    assert_eq!(deeds[0].passed.as_deref(), Some("3 passed in 0.1s"));
}

#[test]
fn the_arguments_that_say_which() {
    for (tool, arguments, expected) in [
        ("cancel_reservation", r#"{"reservation_id":"GV1N64"}"#, &["GV1N64"][..]),
        ("update_reservation_flights", r#"{"user_id":"mia_li_3668","reservation_id":"JGAFMM"}"#, &["JGAFMM"]),
        ("send_certificate", r#"{"user_id":"mia_li_3668","amount":150}"#, &["mia_li_3668"]),
        ("edit", r#"{"oldText":"a","newText":"b","path":"src/a b.rs"}"#, &["src/a b.rs"]),
        ("Edit", r#"{"file_path":"a.rs","old_string":"self.x","new_string":"self.y"}"#, &["a.rs"]),
        ("slack_post_message", r#"{"text":"hello all","channel_id":"C07"}"#, &["C07"]),
        ("send_email", r#"{"body":"hi","to":"ann@x.org","subject":"hi"}"#, &["ann@x.org"]),
        ("get_issue", r#"{"owner":"o","repo":"r","issue_number":12}"#, &["12"]),
        ("archive_mails", r#"{"ids":["m-17","m-18","m-19","m-20"]}"#, &["m-17", "m-18", "m-19", "m-20"]),
        ("set_volume", r#"{"level":7}"#, &["7"]),
        ("move_file", r#"{"source":"a.txt","destination":"b/c.txt"}"#, &["b/c.txt"]),
        (
            "exchange_order_items",
            r##"{"order_id":"#W23","item_ids":["1151","4983"],"new_item_ids":["77"],"payment_method_id":"card_95"}"##,
            &["#W23", "1151", "4983"],
        ),
        (
            "book_room",
            r#"{"guest":"Ann Lee","from":"2025-03-01","room_type":"suite"}"#,
            &["Ann Lee", "suite"],
        ),
        ("book_visit", r#"{"visit_date":"2025-03-01","place_name":"Old Mill"}"#, &["Old Mill"]),
        ("hire", r#"{"name":"Jo Smith","role":"stage hand"}"#, &["Jo Smith", "stage hand"]),
        ("NotebookEdit", r#"{"notebook_path":"/a/b.ipynb","new_source":"x"}"#, &["/a/b.ipynb"]),
    ] {
        let deeds = done(tool, arguments);
        assert_eq!(objects(&deeds[0]), expected, "{tool}");
    }
}

#[test]
fn a_patch_names_its_files() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.md\n+z\n*** Delete File: c\n*** End Patch";
    let deeds = done("apply_patch", patch);
    assert_eq!((objects(&deeds[0]), deeds[0].changed()), (vec!["src/a.rs", "b.md", "c"], true));
    let nested = serde_json::json!({ "input": patch }).to_string();
    assert_eq!(objects(&done("apply_patch", &nested)[0]), ["src/a.rs", "b.md", "c"]);
    let shell = ran(&format!("apply_patch <<'PATCH'\n{patch}\nPATCH\ncargo test"));
    assert_eq!(objects(&shell[0]), ["src/a.rs", "b.md", "c"]);
    assert_eq!(shell[1].check.as_deref(), Some("cargo test"));
    let argv = serde_json::json!({ "command": ["apply_patch", patch] }).to_string();
    assert_eq!(objects(&done("shell", &argv)[0]), ["src/a.rs", "b.md", "c"]);
    let diff =
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+c\n";
    assert_eq!(
        objects(&done("apply_diff", &serde_json::json!({ "diff": diff }).to_string())[0]),
        ["x.py", "new.py"]
    );
}
