//! Pages end before they exceed what a client with gRPC's default limit of 4 MiB can read.

use std::collections::BTreeSet;

use prost::Message;

use crate::support::{prelude::*, wire::methods};

const MIB: usize = 1 << 20;
const LARGEST_PAGE: usize = 3 * MIB;
/// Utterances of 1 MiB in the conversation of most tests: 1 to 6 are archived, 7 to 11 are in the window.
const LARGE: i64 = 11;

/// What is read page by page here.
const PAGED: [&str; 6] =
    ["ListCompactions", "ListConversations", "ListMessages", "ListUtterances", "ReadShared", "Remember"];

#[test]
fn every_call_with_pages_is_read_here() {
    let paged =
        methods().into_iter().filter(|method| method.output().get_field_by_name("next_page_token").is_some());
    let paged: BTreeSet<_> = paged.map(|method| method.name().to_owned()).collect();
    assert_eq!(paged, PAGED.map(str::to_owned).into());
}

/// 1 MiB that identifies itself, also to a search.
fn large(number: i64) -> String {
    let mut text = format!("largest{number} largest ");
    text.push_str(&" ".repeat(MIB - text.len()));
    text
}

async fn of_large_utterances() -> Session {
    let session = Session::new().await;
    let policy = Policy {
        max_utterances: Some(5),
        max_tokens: Some(0),
        summarization_enabled: Some(false),
        ..Default::default()
    };
    session.create_with(policy).await;
    for number in 1..=LARGE {
        session.say(vec![user(&large(number))]).await;
    }
    session
}

/// Reads pages; each returns its items, its size, and the token of the next.
async fn pages<T, F>(mut page: impl FnMut(String) -> F) -> Vec<Vec<T>>
where
    F: Future<Output = (Vec<T>, usize, String)>,
{
    let (mut pages, mut token) = (Vec::new(), String::new());
    loop {
        let (items, bytes, next) = page(token).await;
        assert!(bytes <= LARGEST_PAGE + MIB / 2, "page {} has {bytes} bytes", pages.len());
        assert!(!items.is_empty(), "page {} is empty", pages.len());
        pages.push(items);
        if next.is_empty() {
            return pages;
        }
        token = next;
    }
}

async fn listed(session: &Session, request: ListUtterancesRequest) -> Vec<Vec<i64>> {
    pages(async |page_token| {
        let request = ListUtterancesRequest { page_token, ..request.clone() };
        let page = session.conversations().list_utterances(request).await.reply();
        (sequences_of(&page.utterances), page.encoded_len(), page.next_page_token)
    })
    .await
}

/// Two of 1 MiB fit on a page, since a third exceeds 3 MiB slightly; nothing is missing or duplicated.
#[tokio::test]
async fn large_utterances_are_listed_both_ways() {
    let session = of_large_utterances().await;
    for (order, archive) in [(1, true), (2, true), (1, false), (2, false)] {
        for page_size in [0, 1, 2, 1_000] {
            let request =
                ListUtterancesRequest { order, include_archive: archive, page_size, ..Default::default() };
            let mut wanted: Vec<i64> = (if archive { 1 } else { 7 }..=LARGE).collect();
            if order == i32::from(ListOrder::NewestFirst) {
                wanted.reverse();
            }
            let length = if page_size == 1 { 1 } else { 2 };
            let wanted: Vec<_> = wanted.chunks(length).map(<[_]>::to_vec).collect();
            assert_eq!(
                listed(&session, request).await,
                wanted,
                "order {order}, archive {archive}, {page_size}"
            );
        }
    }
}

/// A message counts with the size of its JSON: here, four times that of its text.
#[tokio::test]
async fn large_messages_are_listed_in_pages() {
    let session = Session::new().await;
    let text = "\\u00fc".repeat(MIB / 8);
    for number in 1..=9 {
        let messages_json = format!(r#"[{{"role": "user", "content": "{number} {text}"}}]"#);
        session.memory().memorize(MemorizeRequest { messages_json, ..Default::default() }).await.reply();
    }
    let read = pages(async |page_token| {
        let request = ListMessagesRequest { page_token, ..Default::default() };
        let page = session.conversations().list_messages(request).await.reply();
        let listed = page.messages.iter().map(|message| message.sequence).collect::<Vec<_>>();
        (listed, page.encoded_len(), page.next_page_token)
    });
    assert_eq!(read.await, (1..=9).collect::<Vec<_>>().chunks(3).map(<[_]>::to_vec).collect::<Vec<_>>());
    let selector = ForgetSelector { newest_messages: Some(9), ..Default::default() };
    let all = ForgetRequest { selector: Some(selector), return_messages: true, ..Default::default() };
    let forgotten = session.memory().forget(all).await.reply();
    assert_eq!((forgotten.forgotten.len(), forgotten.messages.len()), (9, 3));
    assert!(forgotten.encoded_len() < LARGEST_PAGE + MIB / 2);
}

/// Small ones are between large ones: pages are as full as possible.
#[tokio::test]
async fn a_page_holds_what_fits() {
    let session = Session::new().await;
    for number in 1..=4 {
        session.say(vec![user(&large(number))]).await;
        session.say(vec![user("small"); 3]).await;
    }
    let request = ListUtterancesRequest { include_archive: true, ..Default::default() };
    let lengths: Vec<_> = listed(&session, request).await.iter().map(Vec::len).collect();
    assert_eq!(lengths, [8, 8]);
}

#[tokio::test]
async fn a_shared_conversation_is_read_in_pages() {
    let session = of_large_utterances().await;
    let request = ShareConversationRequest { include_archive: true, ..Default::default() };
    let token = session.conversations().share_conversation(request).await.reply().token;
    let read = pages(async |page_token| {
        let request = ReadSharedRequest { token: token.clone(), page_token, ..Default::default() };
        let page = session.conversations().read_shared(request).await.reply();
        (sequences_of(&page.utterances), page.encoded_len(), page.next_page_token)
    });
    let wanted: Vec<i64> = (1..=LARGE).collect();
    assert_eq!(read.await, wanted.chunks(2).map(<[_]>::to_vec).collect::<Vec<_>>());
}

async fn remembered(session: &Session, request: RememberRequest) -> Vec<Vec<i64>> {
    pages(async |page_token| {
        let request = RememberRequest { page_token, ..request.clone() };
        let page = session.memory().remember(request).await.reply();
        let sequence = |utterance: &Option<Utterance>| utterance.as_ref().expect("an utterance").sequence;
        let found = page.matches.iter().map(|found| sequence(&found.utterance)).collect();
        (found, page.encoded_len(), page.next_page_token)
    })
    .await
}

#[tokio::test]
async fn large_matches_are_found_in_pages() {
    let session = of_large_utterances().await;
    let prompt = |prompt: &str| RememberRequest { prompt: prompt.to_owned(), ..Default::default() };
    let recency = RememberOrder::Recency.into();
    for request in [prompt(""), prompt("largest"), RememberRequest { order: recency, ..prompt("largest") }] {
        for page_size in [1, 1_000] {
            let found = remembered(&session, RememberRequest { page_size, ..request.clone() }).await;
            let length = if page_size == 1 { 1 } else { 2 };
            assert!(found.iter().rev().skip(1).all(|page| page.len() == length), "{found:?}");
            let mut all = found.concat();
            all.sort_unstable();
            assert_eq!(all, (1..=LARGE).collect::<Vec<_>>(), "{request:?}");
        }
    }
}

/// A match that is too large with all its neighbours comes with the nearest ones.
#[tokio::test]
async fn the_nearest_neighbours_come_along() {
    let session = of_large_utterances().await;
    let prompt = "largest6".to_owned();
    let request = RememberRequest { prompt, neighbors: 3, page_size: 1, ..Default::default() };
    let page = session.memory().remember(request).await.reply();
    assert!(page.encoded_len() < LARGEST_PAGE);
    let found = &page.matches[0];
    assert_eq!(found.utterance.as_ref().map(|utterance| utterance.sequence), Some(6));
    let neighbors = sequences_of(&found.neighbors);
    assert!(neighbors == [5] || neighbors == [7], "{neighbors:?}");
}

#[tokio::test]
async fn conversations_with_large_labels_are_listed_in_pages() {
    let session = Session::new().await;
    let labels = (0..64).map(|number| (format!("label {number}"), "x".repeat(4_096)));
    let labels: std::collections::BTreeMap<_, _> = labels.collect();
    for number in 0..30 {
        let conversation_id = format!("c{number}");
        let labels = labels.clone().into_iter().collect();
        let request = CreateConversationRequest { conversation_id, labels, ..Default::default() };
        session.conversations().create_conversation(request).await.reply();
        session.clock.advance(std::time::Duration::from_secs(1));
    }
    for (page_size, lengths) in [(0, vec![10, 10, 10]), (1_000, vec![11, 11, 8])] {
        let read = pages(async |page_token| {
            let request = ListConversationsRequest { page_size, page_token, ..Default::default() };
            let page = session.conversations().list_conversations(request).await.reply();
            let ids = page.conversations.iter().map(|it| it.conversation_id.clone()).collect();
            (ids, page.encoded_len(), page.next_page_token)
        });
        let read: Vec<Vec<String>> = read.await;
        assert_eq!(read.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
        let wanted: Vec<_> = (0..30).rev().map(|number| format!("c{number}")).collect();
        assert_eq!(read.concat(), wanted);
    }
}

/// A list of compactions grows with the gaps in what they compacted.
#[tokio::test]
async fn compactions_are_listed_in_pages() {
    let session = Session::new().await;
    session.create_with(Policy { preset: 3, ..Default::default() }).await;
    session
        .say((0..200).map(|number| user(&format!("The file report-{number}.txt is late."))).collect())
        .await;
    for made in 1..=4 {
        let request = CompactConversationRequest { keep_recent: Some(200 - 30 * made), ..Default::default() };
        session.compactions().compact_conversation(request).await.reply();
    }
    let read = pages(async |page_token| {
        let request = ListCompactionsRequest { page_size: 3, page_token, ..Default::default() };
        let page = session.compactions().list_compactions(request).await.reply();
        let numbers: Vec<_> = page.compactions.iter().map(|made| made.compaction_number()).collect();
        (numbers, page.encoded_len(), page.next_page_token)
    });
    assert_eq!(read.await, [vec![4, 3, 2], vec![1]]);
}

/// Every reference is returned; those after the first MiB have only their sequence.
#[tokio::test]
async fn a_long_list_of_references_is_read_with_the_default_limit() {
    const COUNT: usize = 12_000;
    let session = Session::new().await;
    session.create_with(Policy { preset: 3, ..Default::default() }).await;
    for batch in 0..COUNT / 1_000 {
        let named = |number| utterd::proto::NewUtterance {
            utterance_id: format!("{:0>128}", batch * 1_000 + number),
            ..user("on")
        };
        let utterances = (0..1_000).map(named).collect();
        session.memory().memorize(MemorizeRequest { utterances, ..Default::default() }).await.reply();
    }
    let forgotten = session.forget("all", ForgetMode::Soft).await;
    assert!(forgotten.encoded_len() < 2 * MIB);
    assert_eq!(sequences(&forgotten.forgotten), (1..=COUNT as i64).collect::<Vec<_>>());
    let named = forgotten.forgotten.iter().take_while(|reference| !reference.utterance_id.is_empty()).count();
    assert!((6_000..COUNT).contains(&named), "{named} have their id");
    assert!(forgotten.forgotten[named..].iter().all(|reference| reference.utterance_id.is_empty()));
}
