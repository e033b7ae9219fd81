//! A model that all namespaces share: they take turns.

use crate::{
    isolation::world::{World, other},
    support::{model::Model, prelude::*, session::settle},
};

/// The number of Anna's conversations.
const MANY: usize = 100;
/// The default number of concurrent model calls.
const CALLS: usize = 4;

/// Ends a conversation, which then waits for the model's closing.
async fn ends(world: &World, namespace: &str, id: &str, text: &str) {
    let said = json!([{"role": "ROLE_USER", "content": text}]);
    world.ask(namespace, "Memorize", json!({"conversation_id": id, "utterances": said})).await;
    world.ask(namespace, "EndConversation", json!({"conversation_id": id})).await;
}

async fn llm(world: &World, namespace: &str) -> Value {
    world.ask(namespace, "GetStats", json!({})).await["stats"]["llm"].clone()
}

#[tokio::test]
async fn the_queue_of_one_holds_back_no_other() {
    let model = Model::new();
    let world = World::over(Arc::new(MemoryStore::new(0)), Some(model.clone())).await;
    for number in 0..MANY {
        ends(&world, "anna", &format!("talk-{number}"), "Where is the zebra?").await;
    }
    ends(&world, &other(0), "talk", "Where is the okapi?").await;
    settle().await;
    let mut asked = Vec::new();
    while !asked.last().is_some_and(|shown: &String| shown.contains("okapi")) {
        assert!(asked.len() < MANY / 4, "{} of Anna's were told first", asked.len());
        let call = model.called().await;
        asked.push(call.shown());
        call.tell("Title: An animal\nSummary: An animal was looked for.");
        settle().await;
    }
    let (anna, others) = (llm(&world, "anna").await, llm(&world, &other(0)).await);
    assert_eq!((&others["storedCount"], &others["inFlightCount"]), (&json!(1), &json!(0)));
    assert_eq!(anna["storedCount"], json!(asked.len() - 1));
    assert_ne!(anna["waitingSince"], Value::Null);
    let nobodys = llm(&world, &other(1)).await;
    assert_eq!((&nobodys["storedCount"], &nobodys["waitingSince"]), (&json!(0), &Value::Null));
}

#[tokio::test]
async fn callers_of_one_who_wait_leave_a_call_to_others() {
    let model = Model::new();
    let world = Arc::new(World::over(Arc::new(MemoryStore::new(0)), Some(model.clone())).await);
    for (namespace, animal) in [("anna".to_owned(), "zebra"), (other(0), "okapi")] {
        let said = json!([{"role": "ROLE_USER", "content": format!("Where is the {animal}?")}]);
        world.ask(&namespace, "Memorize", json!({"utterances": said})).await;
    }
    let waits = async |namespace: String| {
        let world = world.clone();
        tokio::spawn(async move { world.ask(&namespace, "Summarize", json!({"wait_for_llm": true})).await });
        settle().await;
    };
    for _ in 0..CALLS * 3 {
        waits("anna".to_owned()).await;
    }
    waits(other(0)).await;
    let calls: Vec<_> = std::iter::from_fn(|| model.take(0)).collect();
    let okapis = calls.iter().filter(|call| call.shown().contains("okapi")).count();
    assert_eq!((calls.len(), okapis), (CALLS, 1));
}
