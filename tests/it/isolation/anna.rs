//! Anna, who has one of everything.

use bytes::Bytes;
use serde_json::{Value, json};
use tonic::Code;

use crate::{
    isolation::world::World,
    support::{session::settle, wire::method},
};

/// The names of Anna's things, and the ids and tokens that she was given.
pub struct Names {
    pub utterance: String,
    pub share: String,
    pub token: String,
    pub cursor: String,
    pub revision: i64,
    pub utterances_page: String,
    pub recipients_page: String,
    pub conversations_page: String,
    pub found_page: String,
    pub compactions_page: String,
    pub shared_page: String,
    /// Her fork in the format of persisted conversations: the chunks, in base 64.
    pub export: Vec<Value>,
}

/// Anna's paged requests, without a token.
pub mod paged {
    use serde_json::{Value, json};

    pub fn utterances() -> Value {
        json!({"conversation_id": "anna-talk", "include_archive": true, "page_size": 5})
    }

    pub fn of_recipient() -> Value {
        json!({"recipient_id": "anna-recipient", "include_archive": true, "page_size": 5})
    }

    pub fn conversations() -> Value {
        json!({"recipient_id": "anna-recipient", "page_size": 1})
    }

    pub fn found() -> Value {
        json!({"recipient_id": "anna-recipient", "scope": "REMEMBER_SCOPE_RECIPIENT", "prompt": "zebra", "page_size": 2})
    }

    pub fn compactions() -> Value {
        json!({"conversation_id": "anna-talk", "page_size": 1})
    }

    pub fn shared(token: &str) -> Value {
        json!({"token": token, "page_size": 5})
    }

    /// The same with a page token.
    pub fn at(mut request: Value, token: &str) -> Value {
        request["page_token"] = token.into();
        request
    }
}

/// The request with which Anna created her conversation.
pub fn create() -> Value {
    json!({
        "conversation_id": "anna-talk", "recipient_id": "anna-recipient", "title": "The zebra",
        "policy": {"preset": "POLICY_PRESET_SESSION"}, "labels": {"animal": "zebra"},
        "request_id": "anna-create",
    })
}

/// The request with which she said something to a recipient with a unique name.
pub fn memorize() -> Value {
    json!({
        "recipient_id": "default", "request_id": "anna-memorize",
        "utterances": [
            {"role": "ROLE_USER", "content": "Where is the zebra?", "utterance_id": "anna-utterance"},
            {"role": "ROLE_ASSISTANT", "tool_calls": [{"id": "anna-call", "name": "find", "arguments_json": "{}"}]},
        ],
        "recipient_state": {"set": [{"name": "anna-name", "json": "\"zebra\""}]},
    })
}

/// Fills Anna's namespace.
pub async fn moves_in(world: &World) -> Names {
    let ask = async |name: &str, message: Value| world.ask("anna", name, message).await;
    ask("CreateConversation", create()).await;
    let mut last = Value::Null;
    for number in 1..=60 {
        let said =
            json!({"role": "ROLE_USER", "content": format!("The zebra Z-{number} ran to gate {number}.")});
        last = ask("Memorize", json!({"conversation_id": "anna-talk", "utterances": [said]})).await;
        if number % 30 == 0 {
            ask("CompactConversation", json!({"conversation_id": "anna-talk"})).await;
        }
    }
    let share =
        ask("ShareConversation", json!({"conversation_id": "anna-talk", "include_archive": true})).await;
    let fork = json!({"conversation_id": "anna-talk", "new_conversation_id": "anna-fork"});
    ask("ForkConversation", fork).await;
    let never = json!({
        "conversation_id": "anna-talk", "session_id": "anna-session",
        "answer": "COMPACTION_ANSWER_NEVER_THIS_SESSION",
    });
    ask("AnswerCompactionPrompt", never).await;
    let said = json!([{"role": "ROLE_USER", "content": "The zebra came home."}]);
    ask(
        "Memorize",
        json!({"conversation_id": "anna-ended", "recipient_id": "anna-past", "utterances": said}),
    )
    .await;
    ask("EndConversation", json!({"conversation_id": "anna-ended"})).await;
    ask("Memorize", memorize()).await;
    let token = text(&share["token"]);
    let next = async |name: &str, message: Value| text(&ask(name, message).await["nextPageToken"]);
    let export = json!({
        "conversation_id": "anna-fork", "format": "CONVERSATION_FORMAT_PERSISTED_CONVERSATIONS",
    });
    settle().await;
    Names {
        utterance: text(&last["memorized"][0]["utteranceId"]),
        share: text(&share["share"]["shareId"]),
        utterances_page: next("ListUtterances", paged::utterances()).await,
        recipients_page: next("ListUtterances", paged::of_recipient()).await,
        conversations_page: next("ListConversations", paged::conversations()).await,
        found_page: next("Remember", paged::found()).await,
        compactions_page: next("ListCompactions", paged::compactions()).await,
        shared_page: next("ReadShared", paged::shared(&token)).await,
        export: chunks(world, export).await,
        revision: last["revision"].as_str().and_then(|text| text.parse().ok()).expect("a revision"),
        cursor: world.cursor("anna"),
        token,
    }
}

async fn chunks(world: &World, request: Value) -> Vec<Value> {
    let messages =
        world.call("anna", "ExportConversation", &[request]).await.json(&method("ExportConversation"));
    messages.into_iter().filter_map(|mut message| message.get_mut("chunk").map(Value::take)).collect()
}

fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => panic!("nothing was given: {value}"),
    }
}

/// Everything that Anna can read of her own, as bytes.
pub async fn sees(world: &World) -> Vec<(String, Vec<Bytes>)> {
    let named = ["anna-talk", "anna-fork", "anna-ended"].map(|id| json!({"conversation_id": id}));
    let by_recipient = ["anna-recipient", "anna-past", "default"].map(|id| json!({"recipient_id": id}));
    let reads = [
        ("GetConversation", &named, json!({"view": "CONVERSATION_VIEW_FULL"})),
        ("ListUtterances", &named, json!({"include_archive": true, "include_forgotten": true})),
        ("GetSummary", &named, json!({})),
        ("GetStats", &named, json!({})),
        ("GetCapacityInfo", &named, json!({"session_id": "anna-session"})),
        ("ListCompactions", &named, json!({})),
        ("GetCapacityInfo", &by_recipient, json!({})),
        ("ListConversations", &by_recipient, json!({})),
        ("GetStats", &by_recipient, json!({"scope": "STATS_SCOPE_RECIPIENT"})),
    ];
    let mut seen = Vec::new();
    for (name, addresses, more) in reads {
        for mut request in addresses.clone() {
            let more = more.as_object().expect("fields").clone();
            request.as_object_mut().expect("fields").extend(more);
            let answer = world.call("anna", name, std::slice::from_ref(&request)).await;
            assert_eq!(answer.code, Code::Ok, "{name} {request}: {}", answer.message);
            seen.push((format!("{name} {request}"), answer.messages));
        }
    }
    seen
}
