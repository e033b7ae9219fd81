//! Page tokens: each only works with its own query.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};

use crate::support::prelude::*;

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
