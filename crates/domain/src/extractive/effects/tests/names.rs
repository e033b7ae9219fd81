//! What the names and arguments of tools indicate.

use super::*;

#[track_caller]
fn all(names: &[&str], expected: Effect) {
    for name in names {
        assert_eq!(effect_of(&call(name, "{}"), Some("{}"), ""), expected, "{name}");
    }
}

#[test]
fn a_name_says_by_its_verb_what_a_tool_does() {
    let changing = [
        "book_reservation",
        "cancel_reservation",
        "update_reservation_flights",
        "transfer_to_human_agents",
        "send_certificate",
        "exchange_delivered_order_items",
        "return_delivered_order_items",
        "modify_pending_order_address",
        "place_order",
        "createIssue",
        "create-pull-request",
        "mcp__github__merge_pull_request",
        "github.add_issue_comment",
        "slack_post_message",
        "slack_add_reaction",
        "API-post-page",
        "stripe_create_refund",
        "stripe.issue_refund",
        "NotebookEdit",
        "Write",
        "MultiEdit",
        "move_file",
        "edit_file",
        "create_directory",
        "kubectl_apply",
        "k8s_scale_deployment",
        "browser_file_upload",
        "insertRow",
        "findOneAndUpdate",
        "get_or_create_user",
        "find_and_replace",
        "search_replace",
        "checkInPassenger",
        "check_out",
        "open_ticket",
        "close_issue",
        "resolve_incident",
        "issue_certificate",
        "order_pizza",
        "schedule_meeting",
        "post_tweet",
        "apply_patch",
        "git_commit",
        "git_add",
        "git_checkout",
        "user_create",
        "create_todo",
        "set_thermostat",
        "turn_on_light",
        "KillShell",
        "pay_invoice",
        "submit",
        "HTTPRequestCancel",
        "gmail_archive_email",
        "enable_roaming",
        "refuel_and_pay",
    ];
    all(&changing, Effect::Changes);
    let reading = [
        "get_user_details",
        "search_direct_flight",
        "list_all_airports",
        "calculate",
        "think",
        "find_file",
        "open",
        "open_file",
        "goto",
        "Glob",
        "Grep",
        "Read",
        "LS",
        "WebFetch",
        "WebSearch",
        "TodoWrite",
        "write_todos",
        "update_plan",
        "sequentialthinking",
        "mcp__filesystem__read_text_file",
        "filesystem.list_directory",
        "getIssue",
        "github_list_merge_requests",
        "slack_list_channels",
        "slack_get_channel_history",
        "resolve-library-id",
        "get-library-docs",
        "describe_table",
        "order_status",
        "check_order_status",
        "book_search",
        "exchange_rate",
        "get_updates",
        "retrieve_balance",
        "BashOutput",
        "git_status",
        "git_diff_staged",
        "browser_snapshot",
        "browser_take_screenshot",
        "finish",
        "weather",
        "is_available",
        "verify_identity",
        "kubectl_get",
        "kubectl_logs",
        "list_scheduled_jobs",
        "ask_user",
        "x",
        "",
    ];
    all(&reading, Effect::Reads);
}

#[test]
fn an_argument_says_what_a_tool_of_many_actions_does() {
    let cases = [
        ("str_replace_editor", r#"{"command":"view","path":"a.rs"}"#, Effect::Reads),
        ("str_replace_editor", r#"{"command":"create","path":"a.rs"}"#, Effect::Changes),
        ("str_replace_editor", r#"{"command":"str_replace","path":"a.rs"}"#, Effect::Changes),
        ("str_replace_editor", r#"{"path":"a.rs","command":"insert"}"#, Effect::Changes),
        ("str_replace_editor", r#"{"command":"undo_edit","path":"a.rs"}"#, Effect::Changes),
        ("edit", r#"{"path":"a.rs","oldText":"a","newText":"command"}"#, Effect::Changes),
        ("calendar", r#"{"action":"delete_event","id":"E1"}"#, Effect::Changes),
        ("calendar", r#"{"action":"list"}"#, Effect::Reads),
        ("use_mcp_tool", r#"{"server_name":"x","tool_name":"send_mail","arguments":{}}"#, Effect::Changes),
        ("http_request", r#"{"method":"GET","url":"https://a.b"}"#, Effect::Reads),
        ("fetch", r#"{"method":"post","url":"https://a.b"}"#, Effect::Changes),
        ("fetch", r#"{"url":"https://a.b"}"#, Effect::Reads),
        ("query", r#"{"sql":"SELECT * FROM a WHERE updated > 1"}"#, Effect::Reads),
        ("query", r#"{"sql":"-- fix\nUPDATE a SET b = 1"}"#, Effect::Changes),
        ("execute_sql", r#"{"query":"WITH x AS (SELECT 1) DELETE FROM a USING x"}"#, Effect::Changes),
        ("execute_sql", r#"{"query":"with x as (select 1) select * from x"}"#, Effect::Reads),
        ("run_query", r#"{"query":"create table a (b int)"}"#, Effect::Changes),
        ("graphql", r#"{"query":"mutation { addStar(id: 1) { id } }"}"#, Effect::Changes),
        ("graphql", r#"{"query":"query { viewer { login } }"}"#, Effect::Reads),
        ("search", r#"{"query":"update the password"}"#, Effect::Reads),
        ("create_user", r#"{"name":"a","dry_run":true}"#, Effect::Reads),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(effect_of(&call(name, arguments), Some("{}"), ""), expected, "{name} {arguments}");
    }
}

#[test]
fn a_name_that_says_nothing_is_told_by_what_came_of_it() {
    let robot = call("robot", r#"{"n":1}"#);
    assert_eq!(effect_of(&robot, Some("Two seats have been booked."), ""), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("x"), "I've cancelled your order."), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("Order cancelled"), ""), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("x"), "Your order was shipped and is on its way."), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("x"), "It can be cancelled at any time."), Effect::Reads);
    assert_eq!(effect_of(&robot, Some(r#"{"status":"cancelled"}"#), ""), Effect::Reads);
    assert_eq!(effect_of(&robot, None, "I've cancelled your order."), Effect::Reads);
    let made =
        Made { call: &robot, success: Some("Two seats have been booked."), after: "", told: told(&robot) };
    assert_eq!(effects(&[made, made]), [Effect::Reads; 2], "made twice, it does no harm");
    let books = call("book", "{}");
    let made = Made { call: &books, success: Some("ok"), after: "", told: told(&books) };
    assert_eq!(effects(&[made, made]), [Effect::Changes; 2], "a name is believed");
}
