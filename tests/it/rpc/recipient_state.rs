//! Named values of a recipient, independent of its conversations.

use futures::future::join_all;
use utterd::proto::state_value::Value;

use crate::support::prelude::*;

on_each_store! {
    conversations_change_it_at_once
}

/// Concurrent writes to many conversations of one recipient, and to only its state: each change takes effect
/// once.
#[tokio::test]
async fn conversations_change_it_at_once() {
    let session = Session::new().await;
    let scope = StateScope::Recipient.into();
    let calls = (0..60).map(async |number: i32| {
        let value = Some(Value::Json("1".to_owned()));
        let set = vec![StateValue { name: format!("n{number:02}"), value, version: 0 }];
        let change = Some(StateChange { set, ..Default::default() });
        if number % 6 == 0 {
            let request = UpdateStateRequest { scope, change, ..Default::default() };
            session.conversations().update_state(request).await.reply();
        } else {
            let request = MemorizeRequest {
                conversation_id: format!("c{}", number % 6),
                recipient_id: "default".to_owned(),
                recipient_state: change,
                replace_after: (number % 6 == 1).then_some(0),
                ..memorize(vec![user("hello")])
            };
            session.memory().memorize(request).await.reply();
        }
    });
    join_all(calls).await;
    let request = GetStateRequest { scope, ..Default::default() };
    let state = session.conversations().get_state(request).await.reply();
    assert_eq!((state.values.len(), state.revision), (60, 60));
    let versions: std::collections::BTreeSet<_> = state.values.iter().map(|value| value.version).collect();
    assert_eq!(versions.len(), 60);
    let all = ListConversationsRequest { all_recipients: true, ..Default::default() };
    assert_eq!(session.conversations().list_conversations(all).await.reply().conversations.len(), 5);
}
