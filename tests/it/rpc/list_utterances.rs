//! ListUtterances: order, pages, the archive and forgotten utterances.

use crate::support::prelude::*;

/// 1 to 5 in the archive, 6 to 21 in the window; 3 and 10 forgotten.
async fn rolled() -> Session {
    let session = Session::new().await;
    session.say_many(21).await;
    session.forget("sequence:3", ForgetMode::Soft).await;
    session.forget("sequence:10", ForgetMode::Soft).await;
    session
}

fn expected(archive: bool, forgotten: bool, last: Option<i32>, newest_first: bool) -> Vec<i64> {
    let first = if archive { 1 } else { 6 };
    let mut listed: Vec<i64> = (first..=21).filter(|number| forgotten || ![3, 10].contains(number)).collect();
    if let Some(last) = last {
        listed.drain(..listed.len().saturating_sub(last as usize));
    }
    if newest_first {
        listed.reverse();
    }
    listed
}

on_each_store! {
    pages_cover_every_list_once
}

/// Pages of every size contain what the whole list does, in order.
#[tokio::test]
async fn pages_cover_every_list_once() {
    let session = rolled().await;
    for archive in [false, true] {
        for forgotten in [false, true] {
            for last in [None, Some(1), Some(14), Some(17), Some(100)] {
                for order in [ListOrder::Unspecified, ListOrder::OldestFirst, ListOrder::NewestFirst] {
                    let wanted = expected(archive, forgotten, last, order == ListOrder::NewestFirst);
                    for page_size in [0, 1, 5, 1_000] {
                        let request = ListUtterancesRequest {
                            last,
                            order: order.into(),
                            include_archive: archive,
                            include_forgotten: forgotten,
                            page_size,
                            ..Default::default()
                        };
                        assert_eq!(sequences_of(&session.list(request.clone()).await), wanted, "{request:?}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_page_has_at_most_1000() {
    let session = Session::new().await;
    session.say(vec![user("again"); 1_000]).await;
    session.say_many(1).await;
    let request =
        |page_size| ListUtterancesRequest { page_size, include_archive: true, ..Default::default() };
    for (asked, given) in [(0, 100), (5_000, 1_000), (i32::MAX, 1_000)] {
        let page = session.conversations().list_utterances(request(asked)).await.reply();
        assert_eq!((page.utterances.len(), page.next_page_token.is_empty()), (given, false));
    }
}
