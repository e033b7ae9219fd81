//! Remember: by relevance to a prompt, by filters, or by both.

use std::time::Duration;

use prost_types::Timestamp;
use utterd::proto::{
    ForgetMode, Match, MemorizeRequest, NewUtterance, Policy, RememberFilter, RememberOrder, RememberRequest,
    RememberScope, Role,
};

use crate::support::session::{Reply, Session, assistant, calls, memorize, result, system, user};

async fn find(session: &Session, request: RememberRequest) -> Vec<Match> {
    session.memory().remember(request).await.reply().matches
}

fn prompt(text: &str) -> RememberRequest {
    RememberRequest { prompt: text.to_owned(), page_size: 100, ..Default::default() }
}

fn sequences(matches: &[Match]) -> Vec<i64> {
    matches.iter().map(|found| found.utterance.as_ref().unwrap().sequence).collect()
}

/// 1 to 6; the first is an instruction, 4 and 5 an exchange.
async fn talk() -> Session {
    let session = Session::new().await;
    let ann = NewUtterance {
        name: "Ann".to_owned(),
        pinned: true,
        metadata: [("topic".to_owned(), "travel".to_owned()), ("mood".to_owned(), "calm".to_owned())].into(),
        create_time: Some(Timestamp { seconds: 1_000, nanos: 0 }),
        ..user("We are travelling to Lisbon in June, by train.")
    };
    session
        .say(vec![
            system("You plan journeys."),
            ann,
            assistant("Trains to Lisbon leave from Madrid."),
            calls(&["a"]),
            result("a", "Madrid 9:40, Lisbon 18:20"),
            NewUtterance { name: "Bob".to_owned(), ..user("Which hotel has a swimming pool?") },
        ])
        .await;
    session
}

#[tokio::test]
async fn words_are_found_by_their_stems() {
    let session = talk().await;
    let found = find(&session, prompt("train travel, Lisbon")).await;
    assert_eq!(sequences(&found)[..2], [2, 3]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.windows(2).all(|pair| pair[0].score() >= pair[1].score()));
    for one in &found {
        assert!(one.score() > 0.0 && one.relevance() > 0.0 && one.relevance() <= 1.0);
        assert!(one.recency() > 0.0 && one.recency() <= 1.0);
    }
    let mut terms = found[0].matched_terms.clone();
    terms.sort();
    assert_eq!(terms.len(), 3, "{terms:?}");
    assert!(find(&session, prompt("submarine")).await.is_empty());
}

#[tokio::test]
async fn what_matches_can_be_highlighted() {
    let session = Session::new().await;
    session.say(vec![user("Café in Lissabon: 🙂 die Züge fahren, ich nehme den Zug")]).await;
    let found = find(&session, prompt("Welchen Zug nehme ich im Cafe?")).await;
    let content: Vec<char> = found[0].utterance.as_ref().unwrap().content.chars().collect();
    let ranges = found[0].matched_ranges.iter();
    let words: Vec<String> =
        ranges.map(|range| content[range.start() as usize..range.end() as usize].iter().collect()).collect();
    assert_eq!(words, ["Café", "Züge", "nehme", "Zug"]);
    assert_eq!(found[0].matched_terms, ["Zug", "nehme", "Cafe"]);
}

#[tokio::test]
async fn a_prompt_about_what_was_never_said_finds_nothing() {
    let session = talk().await;
    let least = |min_relevance| RememberRequest {
        min_relevance,
        ..prompt("Which train did the astronomer's orchestra rehearse a symphony about?")
    };
    assert!(find(&session, least(None)).await.is_empty());
    assert!(!find(&session, least(Some(0.0))).await.is_empty());
    let all =
        find(&session, RememberRequest { min_relevance: Some(0.0), ..prompt("trains to Lisbon") }).await;
    let some =
        find(&session, RememberRequest { min_relevance: Some(0.9), ..prompt("trains to Lisbon") }).await;
    assert!(!some.is_empty() && some.len() < all.len());
    assert!(some.iter().all(|one| one.relevance() >= 0.9));
    for bad in [-0.1, 1.1, f64::NAN] {
        session.memory().remember(least(Some(bad))).await.refusal().blames("min_relevance");
    }
}

#[tokio::test]
async fn a_match_in_an_exchange_brings_all_of_it() {
    let session = Session::new().await;
    let exchange = vec![
        user("Look it up."),
        calls(&["a", "b"]),
        result("a", "Porto 9:40"),
        result("b", "Braga 18:20"),
        assistant("There are two."),
    ];
    session.say(exchange).await;
    let found = find(&session, RememberRequest { neighbors: 1, ..prompt("Porto") }).await;
    let around: Vec<i64> = found[0].neighbors.iter().map(|other| other.sequence).collect();
    assert_eq!((sequences(&found)[0], around), (3, vec![2, 4]));
    let found = find(&session, RememberRequest { neighbors: 1, ..prompt("Braga") }).await;
    let around: Vec<i64> = found[0].neighbors.iter().map(|other| other.sequence).collect();
    assert_eq!((sequences(&found)[0], around), (4, vec![2, 3, 5]));
}

#[tokio::test]
async fn without_a_prompt_the_newest_come_first() {
    let session = talk().await;
    let found = find(&session, prompt("")).await;
    assert_eq!(sequences(&found), [6, 5, 4, 3, 2, 1]);
    assert!(found.iter().all(|one| one.relevance == Some(0.0) && one.matched_terms.is_empty()));
    let recent = RememberRequest { order: RememberOrder::Recency.into(), ..prompt("Lisbon") };
    assert_eq!(sequences(&find(&session, recent).await), [5, 3, 2]);
}

/// Every filter by itself, with and without a prompt.
#[tokio::test]
async fn each_filter_must_hold() {
    let session = talk().await;
    let filter = RememberFilter::default;
    let at = |seconds| Some(Timestamp { seconds, nanos: 0 });
    let note = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let cases: Vec<(RememberFilter, &[i64], &[i64])> = vec![
        (filter(), &[6, 5, 4, 3, 2, 1], &[5, 3, 2]),
        (RememberFilter { roles: vec![Role::User.into()], ..filter() }, &[6, 2], &[2]),
        (RememberFilter { roles: vec![Role::Tool.into(), Role::System.into()], ..filter() }, &[5, 1], &[5]),
        (RememberFilter { names: vec!["Ann".to_owned(), "Bob".to_owned()], ..filter() }, &[6, 2], &[2]),
        (RememberFilter { names: vec!["ann".to_owned()], ..filter() }, &[], &[]),
        (RememberFilter { min_turn: Some(1), ..filter() }, &[6, 5, 4, 3, 2], &[5, 3, 2]),
        (RememberFilter { max_turn: Some(0), ..filter() }, &[1], &[]),
        (RememberFilter { min_turn: Some(2), max_turn: Some(2), ..filter() }, &[6], &[]),
        (RememberFilter { min_sequence: Some(4), ..filter() }, &[6, 5, 4], &[5]),
        (RememberFilter { max_sequence: Some(3), ..filter() }, &[3, 2, 1], &[3, 2]),
        (RememberFilter { min_sequence: Some(7), ..filter() }, &[], &[]),
        (RememberFilter { max_sequence: Some(i64::MAX), min_sequence: Some(i64::MAX), ..filter() }, &[], &[]),
        (RememberFilter { end_time: at(1_001), ..filter() }, &[2], &[2]),
        (RememberFilter { end_time: at(1_000), ..filter() }, &[], &[]),
        (RememberFilter { start_time: at(1_000), end_time: at(1_001), ..filter() }, &[2], &[2]),
        (RememberFilter { start_time: at(1_001), ..filter() }, &[6, 5, 4, 3, 1], &[5, 3]),
        (RememberFilter { pinned: Some(true), ..filter() }, &[2], &[2]),
        (RememberFilter { pinned: Some(false), ..filter() }, &[6, 5, 4, 3, 1], &[5, 3]),
        (RememberFilter { metadata: [note("topic", "travel")].into(), ..filter() }, &[2], &[2]),
        (
            RememberFilter { metadata: [note("topic", "travel"), note("mood", "bad")].into(), ..filter() },
            &[],
            &[],
        ),
    ];
    for (filter, all, lisbon) in cases {
        let with = |text: &str| RememberRequest {
            filter: Some(filter.clone()),
            order: RememberOrder::Recency.into(),
            ..prompt(text)
        };
        assert_eq!(sequences(&find(&session, with("")).await), all, "{filter:?}");
        assert_eq!(sequences(&find(&session, with("Lisbon")).await), lisbon, "{filter:?}");
    }
}

#[tokio::test]
async fn scopes_widen_the_search() {
    let session = Session::new().await;
    let to = |conversation: &str, text: &str| MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: "ann".to_owned(),
        ..memorize(vec![user(text)])
    };
    session.memory().memorize(to("old", "The cat sleeps.")).await.reply();
    session.clock.advance(Duration::from_secs(60));
    for number in 0..21 {
        let text = if number == 0 { "A cat eats.".to_owned() } else { format!("message {number}") };
        session.memory().memorize(to("new", &text)).await.reply();
    }
    session.memory().memorize(to("new", "No cat here?")).await.reply();
    session
        .memory()
        .memorize(MemorizeRequest { recipient_id: "bob".to_owned(), ..memorize(vec![user("Bob's cat")]) })
        .await
        .reply();
    let scoped = |scope: RememberScope| RememberRequest {
        conversation_id: "new".to_owned(),
        scope: scope.into(),
        order: RememberOrder::Recency.into(),
        ..prompt("cats")
    };
    let names = |found: &[Match]| -> Vec<(String, i64)> {
        found.iter().map(|one| one.conversation_id.clone()).zip(sequences(found)).collect()
    };
    let new = |sequence| ("new".to_owned(), sequence);
    assert_eq!(names(&find(&session, scoped(RememberScope::Window)).await), [new(22)]);
    assert_eq!(names(&find(&session, scoped(RememberScope::Unspecified)).await), [new(22), new(1)]);
    assert_eq!(names(&find(&session, scoped(RememberScope::Conversation)).await), [new(22), new(1)]);
    let everywhere = find(&session, scoped(RememberScope::Recipient)).await;
    assert_eq!(names(&everywhere), [new(22), new(1), ("old".to_owned(), 1)]);
    let by_recipient = RememberRequest {
        recipient_id: "ann".to_owned(),
        conversation_id: String::new(),
        ..scoped(RememberScope::Recipient)
    };
    assert_eq!(find(&session, by_recipient).await, everywhere);
    let unknown = RememberRequest { recipient_id: "cid".to_owned(), ..scoped(RememberScope::Recipient) };
    let unknown = RememberRequest { conversation_id: String::new(), ..unknown };
    assert!(find(&session, unknown).await.is_empty());
}

#[tokio::test]
async fn neighbors_come_along() {
    let session = Session::new().await;
    session.say_many(21).await;
    session.say(vec![user("the needle")]).await;
    session.say_many(2).await;
    session.forget("sequence:21", ForgetMode::Soft).await;
    let around = |text: &str, neighbors| RememberRequest { neighbors, ..prompt(text) };
    let of = |found: &Match| found.neighbors.iter().map(|one| one.sequence).collect::<Vec<_>>();
    let found = find(&session, around("needle", 2)).await;
    assert_eq!(of(&found[0]), [20, 23, 24], "the forgotten stay out");
    assert!(of(&find(&session, around("needle", 0)).await[0]).is_empty());
    let filter = Some(RememberFilter { max_sequence: Some(5), min_sequence: Some(5), ..Default::default() });
    let found = find(&session, RememberRequest { filter, ..around("", 10) }).await;
    assert_eq!(of(&found[0]), (1..=15).filter(|other| *other != 5).collect::<Vec<_>>(), "of the archive too");
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

/// What the archive has dropped is no longer found.
#[tokio::test]
async fn the_dropped_are_not_found() {
    let session = Session::new().await;
    session.say(vec![user("xyzzy")]).await;
    session.say_many(20).await;
    assert_eq!(find(&session, prompt("xyzzy")).await.len(), 1);
    session.update_policy(Policy { archive_limit: Some(0), ..Default::default() }).await;
    assert!(find(&session, prompt("xyzzy")).await.is_empty());
    assert_eq!(find(&session, prompt("")).await.len(), 16);
}
