//! Shares: a token gives access to its one conversation, and nothing else does.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use bytes::Bytes;

use crate::{
    isolation::world::{World, other},
    support::{
        prelude::*,
        wire::{Answer, method},
    },
};

const PREFIX: &str = "utterd_share_";

async fn world() -> World {
    World::over(Arc::new(MemoryStore::new(0)), None).await
}

async fn say(world: &World, namespace: &str, id: &str, text: &str) {
    let said = json!([{"role": "ROLE_USER", "content": text}]);
    world.ask(namespace, "Memorize", json!({"conversation_id": id, "utterances": said})).await;
}

/// A token for the conversation and its archive, and the id of the share.
async fn shared(world: &World, namespace: &str, id: &str) -> (String, String) {
    let request = json!({"conversation_id": id, "include_archive": true});
    let made = world.ask(namespace, "ShareConversation", request).await;
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&made["token"]), text(&made["share"]["shareId"]))
}

/// What the token's holder reads.
async fn read(world: &World, token: &str) -> Answer {
    world.call_without("ReadShared", &json!({"token": token})).await
}

async fn reads(world: &World, token: &str) -> Value {
    let answer = read(world, token).await;
    assert_eq!(answer.code, Code::Ok, "{}", answer.message);
    answer.json(&method("ReadShared")).remove(0)
}

/// The refusal of an invalid token.
async fn nonsense(world: &World) -> Answer {
    let answer = read(world, "nonsense").await;
    assert_eq!((answer.code, &*answer.messages), (Code::PermissionDenied, &[] as &[Bytes]));
    answer
}

#[tokio::test]
async fn a_token_opens_neither_forks_nor_what_was_forked() {
    let world = world().await;
    for text in ["the first zebra", "the second zebra"] {
        say(&world, "anna", "parent-talk", text).await;
    }
    let fork = json!({"conversation_id": "parent-talk", "new_conversation_id": "forked-talk"});
    world.ask("anna", "ForkConversation", fork).await;
    let (parent, _) = shared(&world, "anna", "parent-talk").await;
    let (fork, _) = shared(&world, "anna", "forked-talk").await;
    say(&world, "anna", "parent-talk", "the okapi").await;
    say(&world, "anna", "forked-talk", "the quagga").await;
    say(&world, "anna", "elsewhere", "the eland").await;

    let (parent, fork) = (reads(&world, &parent).await.to_string(), reads(&world, &fork).await.to_string());
    for (seen, own, others) in [
        (&parent, "the okapi", ["the quagga", "forked-talk", "the eland"]),
        (&fork, "the quagga", ["the okapi", "parent-talk", "the eland"]),
    ] {
        for text in ["the first zebra", "the second zebra", own] {
            assert!(seen.contains(text), "{text}: {seen}");
        }
        for text in others {
            assert!(!seen.contains(text), "{text}: {seen}");
        }
    }
}

/// A token contains its namespace, its conversation and its secret: each of them matters.
#[tokio::test]
async fn every_character_of_a_token_counts() {
    let world = world().await;
    say(&world, "anna", "talk", "the zebra").await;
    let (token, _) = shared(&world, "anna", "talk").await;
    let refused = nonsense(&world).await;
    for (place, character) in token.char_indices() {
        let turned = if character == 'A' { "B" } else { "A" };
        let changed = format!("{}{turned}{}", &token[..place], &token[place + 1..]);
        assert_eq!(read(&world, &changed).await, refused, "{changed}");
    }
    reads(&world, &token).await;
}

#[tokio::test]
async fn a_token_opens_no_namesake_of_another_namespace() {
    let world = world().await;
    for (namespace, text) in [("anna".to_owned(), "the zebra"), (other(0), "the okapi")] {
        say(&world, &namespace, "talk", text).await;
    }
    let (annas, _) = shared(&world, "anna", "talk").await;
    let (others, _) = shared(&world, &other(0), "talk").await;
    assert!(reads(&world, &annas).await.to_string().contains("the zebra"));
    assert!(reads(&world, &others).await.to_string().contains("the okapi"));
    let bytes = |token: &str| BASE64.decode(&token[PREFIX.len()..]).expect("base 64");
    let secret = |token: &str| bytes(token).split_off(bytes(token).len() - 16);
    let named = |token: &str| bytes(token)[..bytes(token).len() - 16].to_vec();
    let refused = nonsense(&world).await;
    for (names, secrets) in [(&annas, &others), (&others, &annas)] {
        let crossed = format!("{PREFIX}{}", BASE64.encode([named(names), secret(secrets)].concat()));
        assert_eq!(read(&world, &crossed).await, refused);
    }

    // the conversation is deleted, and its id is used again, in this namespace and in another
    world.ask("anna", "DeleteConversation", json!({"conversation_id": "talk"})).await;
    assert_eq!(read(&world, &annas).await, refused);
    say(&world, "anna", "talk", "another zebra").await;
    assert_eq!(read(&world, &annas).await, refused);
    assert!(reads(&world, &others).await.to_string().contains("the okapi"));
}

/// Later pages are refused as soon as the first one is.
#[tokio::test]
async fn a_page_token_outlives_no_share() {
    let world = world().await;
    for number in 0..5 {
        say(&world, "anna", "talk", &format!("zebra {number}")).await;
    }
    let (token, share) = shared(&world, "anna", "talk").await;
    let page = world.call_without("ReadShared", &json!({"token": token, "page_size": 2})).await;
    let page_token = page.json(&method("ReadShared"))[0]["nextPageToken"].clone();
    let next = json!({"token": token, "page_size": 2, "page_token": page_token});
    assert_eq!(world.call_without("ReadShared", &next).await.code, Code::Ok);
    world.ask("anna", "RevokeShare", json!({"conversation_id": "talk", "share_id": share})).await;
    assert_eq!(world.call_without("ReadShared", &next).await, nonsense(&world).await);
}
