//! ListUtterances: order, pages, the archive and forgotten utterances.

use utterd::proto::{ForgetMode, ListOrder, ListUtterancesRequest};

use crate::support::session::{Reply, Session, sequences_of, user};

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
    pages_survive_changes
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

/// A list between two sequences is that part of the whole list; `last` counts within it.
#[tokio::test]
async fn a_list_between_sequences_is_a_part_of_the_whole() {
    let session = rolled().await;
    for archive in [false, true] {
        for (after, before) in [(0, 99), (2, 12), (5, 6), (6, 6), (9, 4), (21, 30), (19, 22), (i64::MAX, 1)] {
            for last in [None, Some(1), Some(4)] {
                for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
                    let newest_first = order == ListOrder::NewestFirst;
                    let mut wanted = expected(archive, true, None, newest_first);
                    wanted.retain(|sequence| after < *sequence && *sequence < before);
                    let surplus = last.map_or(0, |last: i32| wanted.len().saturating_sub(last as usize));
                    match newest_first {
                        true => wanted.truncate(wanted.len() - surplus),
                        false => drop(wanted.drain(..surplus)),
                    }
                    let request = ListUtterancesRequest {
                        last,
                        order: order.into(),
                        include_archive: archive,
                        include_forgotten: true,
                        page_size: 3,
                        after_sequence: Some(after),
                        before_sequence: Some(before),
                        ..Default::default()
                    };
                    assert_eq!(sequences_of(&session.list(request.clone()).await), wanted, "{request:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_page_is_as_long_as_asked() {
    let session = rolled().await;
    let page = |page_size, page_token| ListUtterancesRequest { page_size, page_token, ..Default::default() };
    let first = session.conversations().list_utterances(page(7, String::new())).await.reply();
    assert_eq!((first.utterances.len(), first.next_page_token.is_empty()), (7, false));
    let second = session.conversations().list_utterances(page(7, first.next_page_token)).await.reply();
    assert_eq!(second.utterances.len(), 7);
    let last = session.conversations().list_utterances(page(7, second.next_page_token)).await.reply();
    assert_eq!((last.utterances.len(), last.next_page_token.as_str()), (1, ""), "15 are listed");
    let exact = session.conversations().list_utterances(page(15, String::new())).await.reply();
    assert_eq!((exact.utterances.len(), exact.next_page_token.as_str()), (15, ""), "no empty page follows");
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

/// Pages continue where they were, whatever is said, evicted or forgotten in between.
#[tokio::test]
async fn pages_survive_changes() {
    let session = Session::new().await;
    session.say_many(20).await;
    let mut request = ListUtterancesRequest { page_size: 8, include_archive: true, ..Default::default() };
    let first = session.conversations().list_utterances(request.clone()).await.reply();
    assert_eq!(sequences_of(&first.utterances), (1..=8).collect::<Vec<_>>());
    session.say_many(1).await;
    session.forget("sequence:8-9", ForgetMode::Hard).await;
    request.page_token = first.next_page_token;
    let rest = session.list(request).await;
    assert_eq!(sequences_of(&rest), (10..=20).collect::<Vec<_>>(), "what came later is on no later page");
}

#[tokio::test]
async fn an_empty_list_is_a_list() {
    let session = Session::new().await;
    session.say_many(2).await;
    session.forget("all", ForgetMode::Hard).await;
    let page = session.conversations().list_utterances(ListUtterancesRequest::default()).await.reply();
    assert_eq!((page.utterances.len(), page.next_page_token.as_str()), (0, ""));
    let last = ListUtterancesRequest { last: Some(3), ..Default::default() };
    assert!(session.list(last).await.is_empty());
}
