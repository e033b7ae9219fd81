//! Two namespaces whose things are called the same.

use std::sync::Arc;

use futures::FutureExt;
use serde_json::{Value, json};
use utterd::store::MemoryStore;

use crate::{
    anna,
    wire::settle,
    world::{World, other},
};

async fn world() -> World {
    World::over(Arc::new(MemoryStore::new(0)), None).await
}

/// Events count in each namespace alone, and nobody is told of what others do to things of the same name.
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

/// Each attempt is its namespace's own, whatever it is called.
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
    // nor do attempts of one name with another body
    let said = json!([{"role": "ROLE_USER", "content": "Another body."}]);
    let other_body = json!({"request_id": "anna-memorize", "utterances": said});
    assert_eq!(world.ask(&other(1), "Memorize", other_body).await["replayed"], Value::Null);
}

/// A session that wants no advice is silent in its own namespace.
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
