//! Sharing: a token gives access to one conversation, until it expires or is revoked.

use utterd::proto::watch_events_response::Message;

use crate::support::prelude::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn share(session: &Session, request: ShareConversationRequest) -> ShareConversationResponse {
    session.conversations().share_conversation(request).await.reply()
}

async fn token(session: &Session) -> String {
    share(session, ShareConversationRequest::default()).await.token
}

fn with(token: &str) -> ReadSharedRequest {
    ReadSharedRequest { token: token.to_owned(), ..Default::default() }
}

async fn read(session: &Session, token: &str) -> ReadSharedResponse {
    session.conversations().read_shared(with(token)).await.reply()
}

async fn refused(session: &Session, token: &str) -> Refused {
    session.conversations().read_shared(with(token)).await.refusal()
}

async fn revoke(session: &Session, share_id: &str) -> i64 {
    let request = RevokeShareRequest { share_id: share_id.to_owned(), ..Default::default() };
    session.conversations().revoke_share(request).await.reply().revision
}

async fn shares(session: &Session) -> Vec<ConversationShare> {
    session.conversations().get_conversation(GetConversationRequest::default()).await.reply().shares
}

/// Every page that the token gives access to, with a few utterances each.
async fn all(session: &Session, token: &str) -> Vec<Utterance> {
    let mut request = ReadSharedRequest { page_size: 7, ..with(token) };
    let mut seen = Vec::new();
    loop {
        let page = session.conversations().read_shared(request.clone()).await.reply();
        assert_eq!(page.conversation.is_some(), request.page_token.is_empty(), "on the first page");
        seen.extend(page.utterances);
        if page.next_page_token.is_empty() {
            return seen;
        }
        request.page_token = page.next_page_token;
    }
}

on_each_store! {
    deleting_a_conversation_ends_its_shares
}

#[tokio::test]
async fn a_token_reads_the_conversation() {
    let session = Session::new().await;
    session.say_many(30).await;
    session.forget("newest", ForgetMode::Soft).await;
    let shared = share(&session, ShareConversationRequest::default()).await;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    assert!(shared.token.starts_with("utterd_share_") && shared.token.chars().all(is_plain));
    assert_eq!(shared.revision, session.capacity().await.revision);

    let first = read(&session, &shared.token).await;
    let conversation = first.conversation.expect("on the first page");
    assert_eq!(conversation.conversation_id, shared.conversation_id);
    assert_eq!(conversation.summary, session.summary().await.text);
    assert!(!conversation.summary.is_empty());
    assert_eq!(all(&session, &shared.token).await, session.window().await, "what is not forgotten");
    assert_eq!(first.expire_time, shared.share.and_then(|share| share.expire_time));

    session.say(vec![user("one more")]).await;
    let newest = all(&session, &shared.token).await.pop().expect("something was said");
    assert_eq!(newest.content, "one more", "it is read as it is, not as it was");
}

#[tokio::test]
async fn the_archive_is_read_where_it_is_shared() {
    let session = Session::new().await;
    session.say_many(30).await;
    let whole = ShareConversationRequest { include_archive: true, ..Default::default() };
    let whole = share(&session, whole).await;
    assert_eq!(sequences_of(&all(&session, &whole.token).await), Vec::from_iter(1..=30));
    let window = token(&session).await;
    assert_eq!(sequences_of(&all(&session, &window).await), sequences_of(&session.window().await));

    session.forget("sequence:1-10", ForgetMode::Hard).await;
    assert_eq!(sequences_of(&all(&session, &whole.token).await), Vec::from_iter(11..=30));
}

#[tokio::test]
async fn a_share_ends_by_the_clock() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let week = token(&session).await;
    let ttl = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let minute = share(&session, ShareConversationRequest { ttl, ..Default::default() }).await.token;
    let times: Vec<_> = shares(&session).await.iter().map(lifetime).collect();
    assert_eq!(times, [7 * 24 * 60 * 60, 60]);

    session.clock.advance(Duration::from_secs(59));
    assert_eq!(read(&session, &minute).await.utterances.len(), 1);
    session.clock.advance(Duration::from_secs(1));
    refused(&session, &minute).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");
    assert_eq!(shares(&session).await.len(), 1, "what has expired is not listed");
    session.clock.advance(DAY * 7 - Duration::from_secs(61));
    read(&session, &week).await;
    session.clock.advance(Duration::from_secs(1));
    refused(&session, &week).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");
}

fn lifetime(share: &ConversationShare) -> i64 {
    share.expire_time.expect("a time").seconds - share.create_time.expect("a time").seconds
}

#[tokio::test]
async fn a_share_is_revoked() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let (one, other) = (token(&session).await, token(&session).await);
    let ids: Vec<_> = shares(&session).await.into_iter().map(|share| share.share_id).collect();
    assert_ne!(one, other);
    let revision = revoke(&session, &ids[0]).await;
    assert_eq!(revision, session.capacity().await.revision);
    refused(&session, &one).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");
    assert_eq!(read(&session, &other).await.utterances.len(), 1);

    let again = RevokeShareRequest { share_id: ids[0].clone(), ..Default::default() };
    let again = session.conversations().revoke_share(again).await.refusal();
    again.is(Code::NotFound, "SHARE_NOT_FOUND").names("utterd.v1/share", &ids[0]);
}

/// Errors do not say what is wrong with a token, so nothing can be learnt by trying.
#[tokio::test]
async fn every_token_that_opens_nothing_is_refused_alike() {
    let session = Session::new().await;
    let say = async |conversation: &str| {
        let request =
            MemorizeRequest { conversation_id: conversation.to_owned(), ..memorize(vec![user("hello")]) };
        session.memory().memorize(request).await.reply();
    };
    say("talk").await;
    say("tall").await;
    let of = |id: &str| ShareConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    let good = share(&session, of("talk")).await.token;
    let revoked = share(&session, of("talk")).await;
    let revoke = RevokeShareRequest {
        conversation_id: "talk".to_owned(),
        share_id: revoked.share.expect("a share").share_id,
        ..Default::default()
    };
    session.conversations().revoke_share(revoke).await.reply();
    // both names have the same length: the last characters belong only to the secrets
    let elsewhere = share(&session, of("tall")).await.token;
    let names = good.len() - 20;
    let mixed = format!("{}{}", &good[..names], &elsewhere[names..]);
    let nowhere = good.replacen(&good[14..30], &"A".repeat(16), 1);
    let cut = &good[..good.len() - 1];
    let tokens = [revoked.token.as_str(), &mixed, &nowhere, cut, "nonsense", "utterd_share_"];
    let mut messages = Vec::new();
    for token in tokens {
        let refusal = refused(&session, token).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");
        messages.push((refusal.message().to_owned(), format!("{:?}", refusal.details())));
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(read(&session, &good).await.utterances.len(), 1);
}

/// An ended conversation is read with its title and closing summary, through shares made before or after the
/// end.
#[tokio::test]
async fn an_ended_conversation_is_shared_too() {
    let session = Session::new().await;
    let said =
        [user("Can you book a flight from Oslo to Rome on Monday?"), assistant("I booked flight DY1872.")];
    let id = session.say(said.into()).await.conversation_id;
    let before = token(&session).await;
    session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    let of = ShareConversationRequest { conversation_id: id, ..Default::default() };
    let after = share(&session, of).await.token;
    for token in [before, after] {
        let conversation = read(&session, &token).await.conversation.expect("on the first page");
        assert_eq!(conversation.status(), ConversationStatus::Closed);
        assert_eq!(conversation.title, "Book a flight from Oslo to Rome");
        assert!(conversation.closing_summary.ends_with("Assistant: I booked flight DY1872."));
    }
}

#[tokio::test]
async fn deleting_a_conversation_ends_its_shares() {
    let session = Session::new().await;
    let say = async || {
        let request = MemorizeRequest { conversation_id: "c".to_owned(), ..memorize(vec![user("hello")]) };
        session.memory().memorize(request).await.reply();
    };
    let of = || ShareConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    say().await;
    let first = share(&session, of()).await.token;
    session.delete("c").await;
    refused(&session, &first).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");
    say().await;
    refused(&session, &first).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");

    let second = share(&session, of()).await.token;
    let everything = DeleteRecipientRequest { recipient_id: "default".to_owned() };
    session.conversations().delete_recipient(everything).await.reply();
    refused(&session, &second).await.is(Code::PermissionDenied, "SHARE_NOT_VALID");
}

#[tokio::test]
async fn sixty_four_shares_are_enough() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    for _ in 0..64 {
        token(&session).await;
    }
    let request = ShareConversationRequest::default();
    let full = session.conversations().share_conversation(request.clone()).await.refusal();
    full.is(Code::ResourceExhausted, "TOO_MANY_SHARES").says("64");
    let oldest = shares(&session).await.swap_remove(0).share_id;
    revoke(&session, &oldest).await;
    let fresh = share(&session, request).await.token;
    read(&session, &fresh).await;
}

/// The trace says who was served, and never contains the token.
#[tokio::test]
async fn the_trace_tells_of_shares() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let after_event = session.cursor();
    let shared = share(&session, ShareConversationRequest::default()).await;
    read(&session, &shared.token).await;
    revoke(&session, &shared.share.expect("a share").share_id).await;
    let request = WatchEventsRequest { after_event, ..Default::default() };
    let mut events = session.trace().watch_events(request).await.reply();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let message = events.message().await.unwrap().expect("an event");
        assert!(!format!("{message:?}").contains(&shared.token["utterd_share_".len()..]));
        if let Some(Message::Event(event)) = message.message {
            seen.push((event.operation(), event.revision, event.result_count));
        }
    }
    let expected = [
        (Operation::ShareConversation, Some(2), None),
        (Operation::ReadShared, None, Some(1)),
        (Operation::RevokeShare, Some(3), None),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_page_token_belongs_to_its_share() {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(0), ..Default::default() }).await;
    session.say_many(20).await;
    let (one, other) = (token(&session).await, token(&session).await);
    let first = session.conversations().read_shared(ReadSharedRequest { page_size: 5, ..with(&one) }).await;
    let page_token = first.reply().next_page_token;
    let foreign = ReadSharedRequest { page_token, ..with(&other) };
    let foreign = session.conversations().read_shared(foreign).await.refusal();
    foreign.is(Code::InvalidArgument, "INVALID_PAGE_TOKEN").blames("page_token");
}
