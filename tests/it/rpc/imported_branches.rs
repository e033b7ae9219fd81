//! Branches of an imported conversation share what they have in common with it.

use serde_json::Map;

use crate::support::prelude::*;

/// A conversation of ChatGPT's export, of messages with the one before each. Those with an even number are the user's.
fn chatgpt(nodes: &[(usize, Option<usize>)], current: usize) -> Value {
    let node = |(at, parent): &(usize, Option<usize>)| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let content = json!({"content_type": "text", "parts": [format!("Message {at}")]});
        let time = 1_736_935_200 + at;
        let message = json!({"id": format!("m{at}"), "author": {"role": role}, "content": content, "create_time": time});
        (format!("n{at}"), json!({"message": message, "parent": parent.map(|at| format!("n{at}"))}))
    };
    let mapping: Map<String, Value> = nodes.iter().map(node).collect();
    json!([{"conversation_id": "chat", "title": "A chat", "mapping": mapping, "current_node": format!("n{current}"),
        "create_time": 1_736_935_200}])
}

/// Each user's message is answered twice, and the second answer goes on.
fn ladder(count: usize) -> Vec<(usize, Option<usize>)> {
    (0..count)
        .flat_map(|at| {
            [
                (4 * at, at.checked_sub(1).map(|at| 4 * at + 3)),
                (4 * at + 1, Some(4 * at)),
                (4 * at + 3, Some(4 * at)),
            ]
        })
        .collect()
}

async fn imported(session: &Session, file: &Value) -> Vec<ImportedConversation> {
    session.import_with(ImportHeader::default(), &file.to_string()).await.reply().conversations
}

async fn said(session: &Session, id: &str) -> Vec<String> {
    let request =
        ListUtterancesRequest { conversation_id: id.into(), include_archive: true, ..Default::default() };
    session.list(request).await.into_iter().map(|utterance| utterance.utterance_id).collect()
}

async fn conversation(session: &Session, id: &str) -> Conversation {
    let request = GetConversationRequest { conversation_id: id.into(), ..Default::default() };
    session.conversations().get_conversation(request).await.reply().conversation.unwrap()
}

fn counts(imported: &[ImportedConversation]) -> Vec<(&str, bool, i32)> {
    imported.iter().map(|it| (it.conversation_id.as_str(), it.started, it.utterance_count())).collect()
}

on_each_store! {
    a_branch_is_a_fork
    a_branch_that_comes_later_is_a_fork_too
}

#[tokio::test]
async fn a_branch_is_a_fork() {
    let session = Session::new().await;
    let nodes =
        [(0, None), (1, Some(0)), (2, Some(1)), (3, Some(2)), (5, Some(2)), (4, Some(1)), (7, Some(4))];
    let file = chatgpt(&nodes, 7);
    let first = imported(&session, &file).await;
    assert_eq!(counts(&first), [("chat", true, 4), ("chat~n3", true, 2), ("chat~n5", true, 1)]);
    assert_eq!(said(&session, "chat").await, ["m0", "m1", "m4", "m7"]);
    assert_eq!(said(&session, "chat~n3").await, ["m0", "m1", "m2", "m3"]);
    assert_eq!(said(&session, "chat~n5").await, ["m0", "m1", "m2", "m5"]);
    let branch = conversation(&session, "chat~n5").await;
    assert_eq!((branch.title.as_str(), branch.labels["branch_of"].as_str()), ("A chat", "chat~n3"));
    assert_eq!(branch.start_time.unwrap().seconds, 1_736_935_200);
    let active = session.conversations().get_conversation(GetConversationRequest::default()).await.reply();
    assert_eq!(active.conversation.unwrap().conversation_id, "chat", "an abandoned branch is not active");
    let again = imported(&session, &file).await;
    assert_eq!(counts(&again), [("chat", false, 0), ("chat~n3", false, 0), ("chat~n5", false, 0)]);
    let hard = ForgetRequest { conversation_id: "chat~n5".into(), ..forget("sequence:1", ForgetMode::Hard) };
    session.memory().forget(hard).await.reply();
    assert_eq!(said(&session, "chat").await, ["m1", "m4", "m7"]);
}

/// Also one that leaves in the archive; what is new in an older branch is added to that.
#[tokio::test]
async fn a_branch_that_comes_later_is_a_fork_too() {
    let session = Session::new().await;
    let mut nodes: Vec<(usize, Option<usize>)> = (0..60).map(|at: usize| (at, at.checked_sub(1))).collect();
    imported(&session, &chatgpt(&nodes, 59)).await;
    nodes.push((101, Some(10)));
    let second = imported(&session, &chatgpt(&nodes, 59)).await;
    assert_eq!(counts(&second), [("chat", false, 0), ("chat~n101", true, 1)]);
    let branch = said(&session, "chat~n101").await;
    assert_eq!((branch.len(), branch[0].as_str(), branch[11].as_str()), (12, "m0", "m101"));
    nodes.push((60, Some(59)));
    let third = imported(&session, &chatgpt(&nodes, 60)).await;
    assert_eq!(counts(&third), [("chat", false, 1), ("chat~n101", false, 0)]);
}

/// What is stored is what the file has, however often it branches.
#[tokio::test]
async fn branches_store_nothing_twice() {
    let session = Session::new().await;
    let nodes = ladder(400);
    let imported = imported(&session, &chatgpt(&nodes, 4 * 399 + 3)).await;
    let stored: i32 = imported.iter().map(ImportedConversation::utterance_count).sum();
    assert_eq!((imported.len(), stored), (401, 1_200));
    assert_eq!(said(&session, "chat").await.len(), 800);
    assert_eq!(said(&session, "chat~n1597").await.len(), 800);
}
