//! Two namespaces whose things have the same names.

use std::sync::Arc;

use futures::FutureExt;
use serde_json::{Value, json};
use tonic::Code;
use utterd::store::{MemoryStore, Quotas, Upkeep};

use crate::{
    isolation::{
        anna,
        world::{World, other},
    },
    support::{session::settle, wire::method},
};

async fn world() -> World {
    World::over(Arc::new(MemoryStore::new(0)), None).await
}

/// Events count separately in each namespace, and nobody is notified of what others do to things with the
/// same name.
#[tokio::test]
async fn nobody_hears_of_what_others_do() {
    let (world, ben) = (world().await, other(0));
    world.ask(&ben, "CreateConversation", anna::create()).await;
    let mut watches = Vec::new();
    for (name, message) in [
        ("WatchCapacity", json!({"conversation_id": "anna-talk"})),
        ("WatchCapacity", json!({"recipient_id": "anna-recipient"})),
        ("WatchCapacity", json!({"recipient_id": "default"})),
        ("WatchEvents", json!({})),
    ] {
        let mut watch = world.watch(&ben, name, &message).await;
        watch.message().await.unwrap().expect("it begins");
        watches.push(watch);
    }
    let told = world.cursor(&ben);
    anna::moves_in(&world).await;
    world.ask("anna", "DeleteRecipient", json!({"recipient_id": "anna-recipient"})).await;
    settle().await;
    assert_eq!(world.cursor(&ben), told);
    for mut watch in watches {
        assert!(watch.message().now_or_never().is_none(), "something was told");
    }
    let said = json!([{"role": "ROLE_USER", "content": "Mine."}]);
    world.ask(&ben, "Memorize", json!({"conversation_id": "anna-talk", "utterances": said})).await;
    let (run, number) = told.rsplit_once('-').expect("a cursor");
    let next = number.parse::<u64>().expect("a number") + 1;
    assert_eq!(world.cursor(&ben), format!("{run}-{next}"), "one event behind the last");
}

/// Each attempt belongs to its namespace, whatever its name.
#[tokio::test]
async fn request_ids_do_not_meet() {
    let (world, ben) = (world().await, other(0));
    for namespace in ["anna", &ben] {
        let created = world.ask(namespace, "CreateConversation", anna::create()).await;
        let memorized = world.ask(namespace, "Memorize", anna::memorize()).await;
        assert_eq!((&created["replayed"], &memorized["replayed"]), (&Value::Null, &Value::Null));
    }
    for namespace in ["anna", &ben] {
        let memorized = world.ask(namespace, "Memorize", anna::memorize()).await;
        assert_eq!(memorized["replayed"], json!(true));
    }
    // nor do attempts with one name and different bodies
    let said = json!([{"role": "ROLE_USER", "content": "Another body."}]);
    let other_body = json!({"request_id": "anna-memorize", "utterances": said});
    assert_eq!(world.ask(&other(1), "Memorize", other_body).await["replayed"], Value::Null);
}

/// A hard forget of what was imported reaches neither the conversation that was exported nor another import of it.
#[tokio::test]
async fn a_hard_forget_stays_in_what_was_imported() {
    let (world, ben) = (world().await, other(0));
    let said = json!([{"role": "ROLE_USER", "content": "The code is 4711."}]);
    world.ask("anna", "Memorize", json!({"conversation_id": "talk", "utterances": said})).await;
    let export = json!({"conversation_id": "talk", "format": "CONVERSATION_FORMAT_PERSISTED_CONVERSATIONS"});
    let exported =
        world.call("anna", "ExportConversation", &[export]).await.json(&method("ExportConversation"));
    let header = json!({"header": {"format": "CONVERSATION_FORMAT_PERSISTED_CONVERSATIONS", "conversation_id": "copy"}});
    let chunks = exported.iter().filter_map(|message| message.get("chunk"));
    let file: Vec<_> = [header].into_iter().chain(chunks.map(|chunk| json!({"chunk": chunk}))).collect();
    for namespace in ["anna", &ben] {
        let imported = world.call(namespace, "ImportConversation", &file).await;
        assert_eq!(imported.code, Code::Ok, "{}", imported.message);
    }
    let stored = async |namespace: &str, id: &str| {
        let list = json!({"conversation_id": id, "include_archive": true, "include_forgotten": true});
        world.ask(namespace, "ListUtterances", list).await["utterances"].as_array().map_or(0, Vec::len)
    };
    let hard = json!({"conversation_id": "copy", "instructions": "all", "mode": "FORGET_MODE_HARD"});
    for (namespace, left) in [(ben.as_str(), [1, 1, 0]), ("anna", [1, 0, 0])] {
        let forgotten = world.ask(namespace, "Forget", hard.clone()).await;
        assert_eq!(forgotten["inForks"], json!({"conversationCount": 0, "utteranceCount": 0}));
        let stored = [stored("anna", "talk").await, stored("anna", "copy").await, stored(&ben, "copy").await];
        assert_eq!(stored, left);
    }
}

/// A namespace at its quota is only told of its own usage, and others are not affected.
#[tokio::test]
async fn the_quota_of_one_holds_back_no_other() {
    let held = async || {
        let store = MemoryStore::new(0);
        let quotas = Quotas { conversations: Some(2), bytes: Some(4_000) };
        store.set_quotas(quotas).expect("the store keeps quotas");
        World::over(Arc::new(store), None).await
    };
    let (alone, beside, ben) = (held().await, held().await, other(0));
    let fill = async |world: &World, namespace: &str| {
        let mut answers = Vec::new();
        for number in 0..3 {
            let create = json!({"conversation_id": format!("talk {number}")});
            answers.push(world.call(namespace, "CreateConversation", &[create]).await);
        }
        let said = json!([{"role": "ROLE_USER", "content": "x".repeat(2_000)}]);
        let memorize = json!({"conversation_id": "talk 0", "utterances": said});
        answers.push(world.call(namespace, "Memorize", &[memorize]).await);
        answers.into_iter().map(|answer| (answer.code, answer.message, answer.details)).collect::<Vec<_>>()
    };
    let full = fill(&beside, "anna").await;
    let codes = full.iter().map(|(code, ..)| *code);
    assert!(codes.eq([Code::Ok, Code::Ok, Code::ResourceExhausted, Code::ResourceExhausted]), "{full:?}");
    assert!(full[2].1.contains("the namespace anna has 2 conversations"), "{full:?}");
    assert_eq!(fill(&beside, &ben).await, fill(&alone, &ben).await);
}

/// A session that wants no advice is only silenced in its own namespace.
#[tokio::test]
async fn sessions_are_silenced_alone() {
    let (world, ben) = (world().await, other(0));
    let said: Vec<_> = (0..50).map(|_| json!({"role": "ROLE_USER", "content": "The zebra."})).collect();
    for namespace in ["anna", &ben] {
        world.ask(namespace, "CreateConversation", anna::create()).await;
        world.ask(namespace, "Memorize", json!({"conversation_id": "anna-talk", "utterances": said})).await;
    }
    let never = json!({
        "conversation_id": "anna-talk", "session_id": "session",
        "answer": "COMPACTION_ANSWER_NEVER_THIS_SESSION",
    });
    world.ask("anna", "AnswerCompactionPrompt", never).await;
    let advised = async |namespace: &str| {
        let request = json!({"conversation_id": "anna-talk", "session_id": "session"});
        !world.ask(namespace, "GetCapacityInfo", request).await["capacity"]["compactionAdvice"].is_null()
    };
    assert_eq!((advised("anna").await, advised(&ben).await), (false, true));
}
