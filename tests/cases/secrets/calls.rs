//! A valid request of each method, with a secret in each of its texts: `planted` in what was said and the
//! like, `named` in ids, which events contain.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Value, json};

/// The methods, in an order in which each finds what it needs, and the messages of their requests.
pub fn accepted(token: &str) -> Vec<(&'static str, Vec<Value>)> {
    let mut calls = writing();
    calls.extend(reading(token));
    calls.extend(ending());
    calls
}

fn said() -> Value {
    json!([
        {
            "role": "ROLE_USER", "utterance_id": "named-1", "name": "planted name",
            "content": "Where is the planted report of pump 12?", "metadata": {"planted key": "planted note"},
            "extras_json": "{\"planted\": 1}", "extras_token_count": 1
        },
        {
            "role": "ROLE_ASSISTANT", "content": "The planted report is looked for.", "tools_used": ["planted tool"],
            "tool_calls": [{"id": "planted-call", "name": "planted_tool", "arguments_json": "{\"planted\": 2}"}]
        },
        {"role": "ROLE_TOOL", "tool_call_id": "planted-call", "content": "planted result"}
    ])
}

fn writing() -> Vec<(&'static str, Vec<Value>)> {
    let header = json!({"header": {"recipient_id": "named-r", "conversation_id": "named-i", "policy": {}}});
    let content =
        r#"[{"role": "user", "content": "planted import"}, {"role": "tool", "content": "planted too"}]"#;
    vec![
        (
            "CreateConversation",
            vec![json!({
                "conversation_id": "named-c", "recipient_id": "named-r", "title": "planted title", "policy": {},
                "labels": {"planted key": "planted label"}, "request_id": "named-q1"
            })],
        ),
        (
            "Memorize",
            vec![json!({
                "conversation_id": "named-c", "recipient_id": "named-r", "request_id": "named-q2",
                "session_id": "named-s", "utterances": said()
            })],
        ),
        (
            "MemorizeStream",
            vec![json!({"memorize": {
                "conversation_id": "named-c", "request_id": "named-q3",
                "utterances": [{"role": "ROLE_USER", "content": "planted in a stream"}]
            }})],
        ),
        (
            "UpdateConversation",
            vec![json!({
                "conversation_id": "named-c", "title": "planted again", "labels": {"planted": "planted"},
                "policy": {}, "update_mask": "title,labels,policy", "request_id": "named-q4"
            })],
        ),
        (
            "UpdateState",
            vec![json!({
                "conversation_id": "named-c", "request_id": "named-q9",
                "change": {
                    "set": [{"name": "planted name", "json": "\"planted\""}],
                    "expected_versions": {"planted other": 0}
                }
            })],
        ),
        (
            "UpdateState",
            vec![json!({
                "recipient_id": "named-r", "scope": "STATE_SCOPE_RECIPIENT", "request_id": "named-q10",
                "change": {
                    "set": [{"name": "planted name", "json": "\"planted\""}],
                    "expected_versions": {"planted other": 0}
                }
            })],
        ),
        (
            "UpdateUtterance",
            vec![json!({
                "conversation_id": "named-c", "utterance_id": "named-1", "content": "The planted edit of pump 12.",
                "metadata": {"planted": "planted"}, "update_mask": "content,metadata", "request_id": "named-q5"
            })],
        ),
        (
            "ForkConversation",
            vec![json!({
                "conversation_id": "named-c", "new_conversation_id": "named-f", "to_recipient_id": "named-r2",
                "title": "planted fork", "request_id": "named-q6"
            })],
        ),
        ("ImportConversation", vec![header, json!({"chunk": BASE64.encode(content)})]),
        (
            "Forget",
            vec![json!({
                "conversation_id": "named-c", "instructions": "about:\"planted edit\"", "request_id": "named-q7"
            })],
        ),
        (
            "Restore",
            vec![json!({
                "conversation_id": "named-c", "utterance_ids": ["named-1"], "request_id": "named-q8"
            })],
        ),
    ]
}

fn reading(token: &str) -> Vec<(&'static str, Vec<Value>)> {
    let history = r#"[{"role": "user", "content": "planted"}, {"role": "planted", "content": "planted"}]"#;
    let addressed = || vec![json!({"conversation_id": "named-c", "recipient_id": "named-r"})];
    let filter = json!({"names": ["planted name"], "metadata": {"planted": "planted"}});
    let told = json!({"conversation_id": "named-c", "focus_areas": ["planted focus"]});
    let session = json!({"conversation_id": "named-c", "session_id": "named-s"});
    vec![
        (
            "Remember",
            vec![json!({"conversation_id": "named-c", "prompt": "planted report", "filter": filter})],
        ),
        ("Summarize", vec![told.clone()]),
        ("GetCapacityInfo", vec![session.clone()]),
        ("WatchCapacity", vec![session]),
        ("GetConversation", vec![json!({"conversation_id": "named-c", "view": "CONVERSATION_VIEW_FULL"})]),
        ("ListConversations", vec![json!({"recipient_id": "named-r"})]),
        ("ListUtterances", addressed()),
        ("ListMessages", addressed()),
        ("GetSummary", addressed()),
        ("GetStats", addressed()),
        ("GetState", vec![json!({"conversation_id": "named-c", "names": ["planted name"]})]),
        ("ShareConversation", addressed()),
        ("RevokeShare", vec![json!({"conversation_id": "named-c", "share_id": "named-share"})]),
        ("ReadShared", vec![json!({"token": token})]),
        ("ExportConversation", addressed()),
        ("CompactConversation", vec![told]),
        ("UndoCompaction", addressed()),
        ("ListCompactions", addressed()),
        (
            "AnswerCompactionPrompt",
            vec![json!({
                "conversation_id": "named-c", "answer": "COMPACTION_ANSWER_NEVER_THIS_SESSION",
                "session_id": "named-s"
            })],
        ),
        (
            "BuildContext",
            vec![json!({
                "conversation_id": "named-c", "instructions": "planted instructions",
                "recall": {"prompt": "planted prompt"}
            })],
        ),
        ("CountTokens", vec![json!({"texts": ["planted text"]})]),
        (
            "PrepareHistory",
            vec![json!({"messages_json": history, "prompt": "planted prompt", "model": "gpt-4o"})],
        ),
        ("WatchEvents", vec![json!({"conversation_id": "named-c", "recipient_id": "named-r"})]),
    ]
}

fn ending() -> Vec<(&'static str, Vec<Value>)> {
    let nothing = vec![json!({})];
    let ended = json!({"conversation_id": "named-c", "reason": "planted reason", "request_id": "named-q9"});
    vec![
        ("Backup", nothing),
        ("EndConversation", vec![ended]),
        ("DeleteConversation", vec![json!({"conversation_id": "named-f"})]),
        ("DeleteRecipient", vec![json!({"recipient_id": "named-r"})]),
    ]
}
