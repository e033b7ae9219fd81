//! The identifying argument.

use super::*;

#[test]
fn the_argument_that_says_which() {
    let cases = [
        ("cancel_reservation", r#"{"reservation_id":"GV1N64"}"#, "reservation_id", "GV1N64"),
        (
            "update_reservation_flights",
            r#"{"user_id":"mia_li_3668","reservation_id":"JG7FMM"}"#,
            "reservation_id",
            "JG7FMM",
        ),
        ("get_user_details", r#"{"user_id":"mia_li_3668"}"#, "user_id", "mia_li_3668"),
        ("send_certificate", r#"{"user_id":"mia_li_3668","amount":150}"#, "user_id", "mia_li_3668"),
        (
            "book_reservation",
            r#"{"user_id":"mia_li_3668","origin":"JFK","flights":[{"flight_number":"HAT136","date":"2024-05-20"}]}"#,
            "flight_number",
            "HAT136",
        ),
        ("edit", r#"{"oldText":"a","newText":"b","path":"src/a b.rs"}"#, "path", "src/a b.rs"),
        ("slack_post_message", r#"{"text":"hello all","channel_id":"C07"}"#, "channel_id", "C07"),
        ("send_email", r#"{"body":"hi","to":"ann@x.org","subject":"hi"}"#, "to", "ann@x.org"),
        ("get_issue", r#"{"owner":"o","repo":"r","issue_number":12}"#, "issue_number", "12"),
        ("weather", r#"{"unit":"C","city":"Paris"}"#, "city", "Paris"),
        (
            "bash",
            r#"{"command":"cd /a && npm test && git add -A && git commit -m \"x y\" 2>&1 | tail -1"}"#,
            "command",
            "git add -A && git commit -m \"x y\" 2>&1",
        ),
        ("bash", r#"{"command":"for f in a b; do\n  rm $f\ndone"}"#, "command", "rm $f"),
        (
            "bash",
            r#"{"command":"git commit -m \"$(cat <<'EOF'\nSay why\n\nEOF\n)\""}"#,
            "command",
            "git commit -m \"$(cat <<'EOF' Say why",
        ),
        ("bash", r#"{"command":"ls -la"}"#, "command", "ls -la"),
        ("calculate", r#"{"expression":"1 + 2"}"#, "expression", "1 + 2"),
        ("apply_patch", "*** Update File: a.rs", "", "*** Update File: a.rs"),
    ];
    for (name, arguments, of, value) in cases {
        let call = call(name, arguments);
        let key = key(&call).expect(name);
        assert_eq!((key.name, &*key.value), (of, value), "{name}");
    }
    assert_eq!(key(&call("submit", "{}")), None);
    assert_eq!(key(&call("set_volume", r#"{"level":7,"loud":true}"#)), None);
}

#[test]
fn whatever_stands_in_a_call_is_read() {
    for broken in
        ["{", "\"", "{\"a\":", "{\"a\":\"b", "[[[", "{\"command\":\"a 'b\\", "\u{0}", "{\"a\":\"\\u12\"}"]
    {
        let call = call("bash", broken);
        assert_eq!(effects(&[Made { call: &call, success: None, after: "", told: told(&call) }]).len(), 1);
        let _ = key(&call);
    }
}
