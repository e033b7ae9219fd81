//! Remember: by relevance to a prompt, by filters, or by both.

use crate::support::prelude::*;

async fn find(session: &Session, request: RememberRequest) -> Vec<Match> {
    session.memory().remember(request).await.reply().matches
}

fn prompt(text: &str) -> RememberRequest {
    RememberRequest { prompt: text.to_owned(), page_size: 100, ..Default::default() }
}

fn sequences(matches: &[Match]) -> Vec<i64> {
    matches.iter().map(|found| found.utterance.as_ref().unwrap().sequence).collect()
}

#[tokio::test]
async fn pages_cover_what_is_found_once() {
    let session = Session::new().await;
    session.say_many(30).await;
    for (text, order) in [("", 0), ("message", 0), ("message", 2)] {
        let whole = sequences(&find(&session, RememberRequest { order, ..prompt(text) }).await);
        assert_eq!(whole.len(), 30);
        for page_size in [1, 7, 30] {
            let mut request = RememberRequest { order, page_size, ..prompt(text) };
            let mut paged = Vec::new();
            loop {
                let page = session.memory().remember(request.clone()).await.reply();
                paged.extend(sequences(&page.matches));
                if page.next_page_token.is_empty() {
                    break;
                }
                assert_eq!(page.matches.len(), page_size as usize);
                request.page_token = page.next_page_token;
            }
            assert_eq!(paged, whole);
        }
        let unsized_ = RememberRequest { order, page_size: 0, ..prompt(text) };
        assert_eq!(find(&session, unsized_).await.len(), 10, "the default");
    }
}

/// What is forgotten is not found: by its words, by a filter, in any scope, or next to a match.
#[tokio::test]
async fn the_forgotten_are_never_found() {
    for mode in [ForgetMode::Soft, ForgetMode::Hard] {
        let session = Session::new().await;
        session.say(vec![user("the secret is xyzzy"), user("a neighbor")]).await;
        assert_eq!(find(&session, prompt("secret")).await.len(), 1, "it was indexed");
        session.say_many(20).await;
        session.say(vec![user("another xyzzy")]).await;
        session.forget("about:xyzzy", mode).await;
        for scope in [RememberScope::Window, RememberScope::Conversation, RememberScope::Recipient] {
            for text in ["xyzzy", "secret", "", "neighbor"] {
                let request = RememberRequest { scope: scope.into(), neighbors: 10, ..prompt(text) };
                let found = find(&session, request).await;
                assert!(!format!("{found:?}").contains("xyzzy"), "{mode:?}, {scope:?}, {text:?}");
            }
        }
        if mode == ForgetMode::Soft {
            let utterance_ids = vec![session.id_of(1).await];
            let restore = utterd::proto::RestoreRequest { utterance_ids, ..Default::default() };
            session.memory().restore(restore).await.reply();
            assert_eq!(sequences(&find(&session, prompt("xyzzy")).await), [1]);
        }
    }
}
