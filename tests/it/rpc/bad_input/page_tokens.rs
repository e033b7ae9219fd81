//! Page tokens: each only works with its own query.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use tonic::Code;
use utterd::proto::{ListConversationsRequest, ListUtterancesRequest, RememberRequest};

use crate::support::{
    refusal::Refused,
    session::{Reply, Session},
};

/// A token continues the query that returned it, and no other.
#[tokio::test]
async fn page_tokens_of_another_query() {
    let session = Session::new().await;
    session.say_many(4).await;
    const OTHER: &str = "belongs to another query; accepted: a token of this one";
    let list = ListUtterancesRequest { page_size: 1, ..Default::default() };
    let page_token = session.conversations().list_utterances(list.clone()).await.reply().next_page_token;
    let base = || ListUtterancesRequest { page_token: page_token.clone(), ..list.clone() };
    for other in [
        ListUtterancesRequest { order: 2, ..base() },
        ListUtterancesRequest { include_archive: true, ..base() },
        ListUtterancesRequest { include_forgotten: true, ..base() },
        ListUtterancesRequest { last: Some(3), ..base() },
        ListUtterancesRequest { recipient_id: "default".to_owned(), ..base() },
    ] {
        let refused = session.conversations().list_utterances(other).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token").says(OTHER);
    }
    let find = RememberRequest { prompt: "message".to_owned(), page_size: 1, ..Default::default() };
    let found = session.memory().remember(find.clone()).await.reply().next_page_token;
    for (token, prompt) in [(&found, "another message"), (&page_token, "message")] {
        let other = RememberRequest { page_token: token.clone(), prompt: prompt.to_owned(), ..find.clone() };
        let refused = session.memory().remember(other).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token").says(OTHER);
    }
    let other = ListConversationsRequest { page_token: page_token.clone(), ..Default::default() };
    let refused = session.conversations().list_conversations(other).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token").says(OTHER);
    let sized = ListUtterancesRequest { page_size: 2, ..base() };
    assert_eq!(session.conversations().list_utterances(sized).await.reply().utterances.len(), 2);
}

/// Whatever place a token names, it is served, or refused as an invalid token.
#[tokio::test]
async fn page_tokens_that_no_server_wrote() {
    let session = Session::new().await;
    session.say_many(4).await;
    let list = ListUtterancesRequest { page_size: 1, ..Default::default() };
    let listed = session.conversations().list_utterances(list.clone()).await.reply().next_page_token;
    let find = RememberRequest { prompt: "message".to_owned(), page_size: 1, ..Default::default() };
    let found = session.memory().remember(find.clone()).await.reply().next_page_token;
    let forge = |token: &str, place: &str| {
        let written = String::from_utf8(BASE64.decode(token).unwrap()).unwrap();
        let (query, _) = written.split_once('/').unwrap();
        BASE64.encode(format!("{query}/{place}"))
    };
    let most = u64::MAX;
    for place in
        ["", "x", "-1", "0", &format!("{most}"), &format!("{most}/{most}"), "0/0", "5/1", "1/x", "3/3/3"]
    {
        let list = ListUtterancesRequest { page_token: forge(&listed, place), ..list.clone() };
        if let Err(status) = session.conversations().list_utterances(list).await {
            Refused::new(status).is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token");
        }
        let find = RememberRequest { page_token: forge(&found, place), ..find.clone() };
        if let Err(status) = session.memory().remember(find).await {
            Refused::new(status).is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token");
        }
    }
}
