//! Remember by meaning too, if a model embeds: in the background, and never required.

use tempfile::TempDir;
use tokio::runtime::Builder;
use utterd::{
    config::DurableEngine,
    engine::{Caller, Embedded, EmbeddingStanding},
};

use crate::support::{
    embedder::{Meanings, Mood},
    prelude::*,
};

/// Sentences that match nothing.
const IDLE: [&str; 12] = [
    "We met at the station at nine.",
    "The blue folder is on the second shelf.",
    "Please send the invoice to Mr Abel.",
    "I have never been to Portugal.",
    "The printer on the third floor is broken again.",
    "Our neighbours are building a garage.",
    "She prefers tea to coffee.",
    "The meeting moved to Thursday.",
    "His bicycle has a flat tyre.",
    "We painted the kitchen yellow.",
    "The keys are under the mat.",
    "They closed the bridge for repairs.",
];
const KITTEN: &str = "My kitten is called Minka.";

/// The kitten is in the third of thirteen.
async fn talk() -> (Session, Arc<Meanings>) {
    let meanings = Meanings::new();
    let session = Session::with_embedder_over(Arc::new(MemoryStore::new(0)), meanings.clone()).await;
    say(&session).await;
    (session, meanings)
}

async fn say(session: &Session) {
    let texts = IDLE[..2].iter().chain([&KITTEN]).chain(&IDLE[2..]);
    session.say(texts.map(|text| user(text)).collect()).await;
}

async fn found(session: &Session, prompt: &str) -> Vec<i64> {
    let request = RememberRequest {
        prompt: prompt.to_owned(),
        scope: RememberScope::Conversation.into(),
        ..Default::default()
    };
    let matches = session.memory().remember(request).await.reply().matches;
    matches.into_iter().map(|one| one.utterance.unwrap().sequence).collect()
}

/// Embeds what waits, as far as possible.
async fn embed(session: &Session) {
    while session.server.engine().embed_next().await == Embedded::Some {}
}

fn standing(session: &Session) -> EmbeddingStanding {
    session.server.engine().embedding_standing(&Caller::default()).expect("something embeds")
}

/// The utterances sent since the last call, from all requests together.
fn sent(meanings: &Meanings) -> Vec<String> {
    meanings.take_asked().concat()
}

#[tokio::test]
async fn what_is_meant_is_found_without_its_words() {
    let (session, _) = talk().await;
    assert!(found(&session, "feline companions").await.is_empty(), "words alone tell at first");
    embed(&session).await;
    assert_eq!(found(&session, "feline companions").await[0], 3);
    assert_eq!(found(&session, "the printer on the third floor").await[0], 6, "words still tell");
    let stats = session.conversations().get_stats(GetStatsRequest::default()).await.reply().stats.unwrap();
    let told = stats.embedding.expect("something embeds");
    assert_eq!((told.embedded_count(), told.hybrid_search_count(), told.lexical_search_count()), (13, 2, 0));
    assert_eq!((told.waiting_conversation_count(), told.failed_count(), told.held_back), (0, 0, false));
}

#[tokio::test]
async fn nothing_is_sent_of_what_nobody_searches() {
    let (session, meanings) = talk().await;
    let other = MemorizeRequest { recipient_id: "other".into(), ..memorize(vec![user("A cat of another")]) };
    session.memory().memorize(other).await.reply();
    embed(&session).await;
    assert_eq!(sent(&meanings), [""; 0]);
    found(&session, "feline companions").await;
    embed(&session).await;
    assert_eq!(sent(&meanings).len(), 13);
    session.say(vec![user("What is said later comes later")]).await;
    embed(&session).await;
    assert_eq!(sent(&meanings), ["What is said later comes later"]);
}

#[tokio::test]
async fn what_is_forgotten_softly_is_not_sent_until_it_is_restored() {
    let (session, meanings) = talk().await;
    session.forget("sequence:3", ForgetMode::Soft).await;
    found(&session, "feline companions").await;
    embed(&session).await;
    assert!(!sent(&meanings).contains(&KITTEN.to_owned()));
    let utterance_ids = vec![session.id_of(3).await];
    let restore = utterd::proto::RestoreRequest { utterance_ids, ..Default::default() };
    session.memory().restore(restore).await.reply();
    found(&session, "feline companions").await;
    embed(&session).await;
    assert_eq!(sent(&meanings), ["feline companions", KITTEN]);
    assert_eq!(found(&session, "feline companions").await[0], 3);
}

#[tokio::test]
async fn a_model_that_is_away_leaves_words() {
    let (session, meanings) = talk().await;
    meanings.set(Mood::Away);
    assert_eq!(found(&session, "Portugal").await, [5]);
    embed(&session).await;
    assert_eq!(found(&session, "Portugal").await, [5]);
    assert_eq!(standing(&session).embedded, 0);
    meanings.set(Mood::Well(0));
}

/// After five consecutive prompts without a response, no more are sent.
#[tokio::test(start_paused = true)]
async fn a_model_that_is_slow_is_waited_for_briefly_and_then_not_at_all() {
    let (session, meanings) = talk().await;
    found(&session, "Portugal").await;
    embed(&session).await;
    meanings.set(Mood::Silent);
    meanings.take_asked();
    for number in 1..=8 {
        assert_eq!(found(&session, &format!("Portugal {number}")).await, [5]);
    }
    assert_eq!(meanings.take_asked().len(), 5);
    let slow = standing(&session);
    assert_eq!((slow.without, slow.held_back), (8, true));
    meanings.set(Mood::Well(0));
    tokio::time::advance(std::time::Duration::from_secs(6)).await;
    assert_eq!(found(&session, "feline companions").await[0], 3);
    assert!(!standing(&session).held_back);
}

#[tokio::test]
async fn a_prompt_is_embedded_once() {
    let (session, meanings) = talk().await;
    found(&session, "feline companions").await;
    embed(&session).await;
    meanings.take_asked();
    for _ in 0..3 {
        found(&session, "feline companions").await;
    }
    assert_eq!(sent(&meanings), ["feline companions"]);
}

#[tokio::test]
async fn what_is_erased_or_edited_meanwhile_is_dropped_when_it_arrives() {
    for erases in [true, false] {
        let (session, meanings) = talk().await;
        found(&session, "feline companions").await;
        meanings.close();
        let engine = session.server.engine().clone();
        let embedding = tokio::spawn(async move { engine.embed_next().await });
        meanings.asked_times(1).await;
        assert!(sent(&meanings).contains(&KITTEN.to_owned()));
        change(&session, erases).await;
        meanings.let_through(1_000);
        assert_eq!(embedding.await.unwrap(), Embedded::Some);
        assert_eq!((standing(&session).embedded, standing(&session).dropped), (0, 13));
        embed(&session).await;
        let sent = sent(&meanings);
        assert_eq!((sent.len(), sent.contains(&KITTEN.to_owned())), (if erases { 12 } else { 13 }, false));
    }
}

/// Erases or replaces what was said about the kitten.
async fn change(session: &Session, erases: bool) {
    if erases {
        session.forget("sequence:3", ForgetMode::Hard).await;
        return;
    }
    let request = UpdateUtteranceRequest {
        utterance_id: session.id_of(3).await,
        content: "My violin is called Minka.".into(),
        update_mask: mask(&["content"]),
        ..Default::default()
    };
    session.conversations().update_utterance(request).await.reply();
}

#[tokio::test]
async fn what_is_erased_or_edited_later_is_found_no_more() {
    for erases in [true, false] {
        let (session, meanings) = talk().await;
        found(&session, "feline companions").await;
        embed(&session).await;
        assert_eq!(found(&session, "feline companions").await[0], 3);
        meanings.take_asked();
        change(&session, erases).await;
        assert!(!found(&session, "feline companions").await.contains(&3));
        embed(&session).await;
        let again: &[&str] = if erases { &[] } else { &["My violin is called Minka."] };
        assert_eq!(sent(&meanings), again, "the others are embedded already");
        assert_eq!(found(&session, "the concert of an orchestra").await.first() == Some(&3), !erases);
    }
}

#[tokio::test]
async fn what_is_deleted_leaves_nothing_behind() {
    let (session, meanings) = talk().await;
    found(&session, "feline companions").await;
    embed(&session).await;
    let conversation_id = session.capacity().await.conversation_id;
    session.delete(&conversation_id).await;
    session.say(vec![user("A new beginning")]).await;
    settle().await;
    assert!(found(&session, "feline companions").await.is_empty());
    meanings.take_asked();
    embed(&session).await;
    assert_eq!(sent(&meanings), ["A new beginning"]);
}

#[tokio::test]
async fn texts_go_out_by_their_beginnings_and_a_few_dozen_at_once() {
    let meanings = Meanings::new();
    let session = Session::with_embedder_over(Arc::new(MemoryStore::new(0)), meanings.clone()).await;
    session.say((0..100).map(|number| user(&format!("{number} {}", "ä".repeat(2_000)))).collect()).await;
    found(&session, "feline companions").await;
    embed(&session).await;
    let calls = meanings.take_asked();
    assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [32, 32, 32, 4]);
    assert!(calls.concat().iter().all(|text| (1_990..=2_000).contains(&text.len())));
    assert!(calls[0][0].starts_with("99 "), "the newest first");
}

/// The others are embedded; the clock is moved past the breaker's wait.
#[tokio::test(start_paused = true)]
async fn a_text_that_is_refused_holds_up_no_other() {
    let (session, meanings) = talk().await;
    meanings.set(Mood::Refuses("Portugal"));
    found(&session, "feline companions").await;
    while standing(&session).embedded < 12 {
        match session.server.engine().embed_next().await {
            Embedded::NotBefore(time) => tokio::time::sleep_until(time).await,
            embedded => assert_eq!(embedded, Embedded::Some),
        }
    }
    assert_eq!(found(&session, "feline").await[0], 3);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_used_is_counted_and_words_remain() {
    let (session, meanings) = talk().await;
    meanings.set(Mood::Garbles);
    assert_eq!(found(&session, "Portugal").await, [5]);
    embed(&session).await;
    assert_eq!(found(&session, "Portugal").await, [5]);
    let standing = standing(&session);
    assert!((standing.embedded, standing.held_back) == (0, true) && standing.failed > 0, "{standing:?}");
}

/// A server that serves another model under the same name is noticed: their embeddings are not compared.
#[tokio::test]
async fn embeddings_of_another_length_are_made_anew() {
    let (session, meanings) = talk().await;
    found(&session, "feline companions").await;
    embed(&session).await;
    meanings.set(Mood::Well(3));
    meanings.take_asked();
    assert!(found(&session, "feline companions").await.is_empty());
    embed(&session).await;
    assert_eq!(meanings.take_asked().concat().len(), 14);
    assert_eq!(found(&session, "feline companions").await[0], 3);
}

#[tokio::test]
async fn all_of_a_recipients_conversations_are_compared() {
    let (session, _) = talk().await;
    let ended = utterd::proto::EndConversationRequest::default();
    session.conversations().end_conversation(ended).await.reply();
    session.say(vec![user("A storm is coming."), user("I am at the office.")]).await;
    let search = || async {
        let request = RememberRequest {
            prompt: "feline companions".into(),
            scope: RememberScope::Recipient.into(),
            ..Default::default()
        };
        session.memory().remember(request).await.reply().matches
    };
    assert!(search().await.is_empty());
    embed(&session).await;
    let first = search().await.remove(0);
    assert_eq!(first.utterance.unwrap().content, KITTEN);
}

/// Runs a test with a server over `directory` whose model is called `name`; the server stops with it.
fn on(directory: &TempDir, name: &'static str, test: impl AsyncFnOnce(Session, Arc<Meanings>)) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (path, meanings) = (directory.path(), Meanings::named(name));
        test(Session::with_embedder_in(path, DurableEngine::Fjall, meanings.clone()).await, meanings).await;
    });
}

#[test]
fn what_is_embedded_is_kept_beside_the_texts() {
    let directory = tempfile::tempdir().unwrap();
    on(&directory, "first", async |session, meanings| {
        say(&session).await;
        found(&session, "feline companions").await;
        embed(&session).await;
        assert_eq!(sent(&meanings).len(), 13);
    });
    on(&directory, "first", async |session, meanings| {
        assert_eq!(found(&session, "feline companions").await[0], 3, "the first search has it");
        embed(&session).await;
        assert_eq!(sent(&meanings), ["feline companions"]);
    });
    on(&directory, "second", async |session, meanings| {
        assert!(found(&session, "feline companions").await.is_empty(), "another model's tell nothing");
        embed(&session).await;
        assert_eq!(sent(&meanings).len(), 13);
        assert_eq!(found(&session, "feline companions").await[0], 3);
    });
}

#[test]
fn what_is_erased_or_edited_is_not_among_what_is_kept() {
    for erases in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        on(&directory, "first", async |session, _| {
            say(&session).await;
            found(&session, "feline companions").await;
            embed(&session).await;
            change(&session, erases).await;
            embed(&session).await;
        });
        on(&directory, "first", async |session, meanings| {
            assert!(!found(&session, "feline companions").await.contains(&3));
            let music = found(&session, "the concert of an orchestra").await;
            assert_eq!(music.first() == Some(&3), !erases);
            embed(&session).await;
            assert_eq!(sent(&meanings), ["feline companions", "the concert of an orchestra"]);
        });
    }
}
