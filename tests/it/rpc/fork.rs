//! ForkConversation: a new conversation that starts with what was said in another.

use std::time::Duration;

use tonic::Code;
use utterd::proto::{
    Conversation, ConversationStatus, DeleteConversationRequest, EditMode, EndConversationRequest,
    ForgetMode, ForgetRequest, ForkConversationRequest, ForkConversationResponse, GetConversationRequest,
    GetSummaryRequest, ListUtterancesRequest, MemorizeRequest, NewUtterance, Operation, RememberRequest,
    RememberScope, RestoreRequest, UpdateUtteranceRequest, Utterance, WatchEventsRequest,
    watch_events_response::Message,
};

use crate::support::{
    refusal::Refused,
    session::{
        Reply, Session, assistant, calls, forget, mask, memorize, ranges, result, sequences_of, system, user,
    },
};

fn at(sequence: i64) -> ForkConversationRequest {
    ForkConversationRequest { at_sequence: Some(sequence), ..Default::default() }
}

fn named(id: &str) -> ForkConversationRequest {
    ForkConversationRequest { new_conversation_id: id.to_owned(), ..Default::default() }
}

async fn forked(session: &Session, request: ForkConversationRequest) -> ForkConversationResponse {
    session.conversations().fork_conversation(request).await.reply()
}

async fn refused(session: &Session, request: ForkConversationRequest) -> Refused {
    session.conversations().fork_conversation(request).await.refusal()
}

fn id_of(response: &ForkConversationResponse) -> String {
    response.conversation.as_ref().unwrap().conversation_id.clone()
}

async fn get(session: &Session, id: &str) -> Conversation {
    let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    session.conversations().get_conversation(request).await.reply().conversation.unwrap()
}

/// Everything that a conversation stores; the default recipient's active one if `id` is empty.
async fn stored(session: &Session, id: &str) -> Vec<Utterance> {
    let request = ListUtterancesRequest {
        conversation_id: id.to_owned(),
        include_archive: true,
        include_forgotten: true,
        ..Default::default()
    };
    session.list(request).await
}

async fn say_in(session: &Session, id: &str, utterances: Vec<NewUtterance>) -> i64 {
    let request = MemorizeRequest { conversation_id: id.to_owned(), ..memorize(utterances) };
    session.memory().memorize(request).await.reply().memorized.last().unwrap().sequence
}

async fn forget_in(session: &Session, id: &str, instructions: &str, mode: ForgetMode) {
    let request = ForgetRequest { conversation_id: id.to_owned(), ..forget(instructions, mode) };
    session.memory().forget(request).await.reply();
}

fn contents(utterances: &[Utterance]) -> Vec<&str> {
    utterances.iter().map(|utterance| utterance.content.as_str()).collect()
}

on_each_store! {
    the_archive_can_be_forked
    which_conversation_is_active
    parents_and_forks_outlive_each_other
    a_hard_forget_reaches_every_fork
    forks_and_writers_at_once
}

#[tokio::test]
async fn a_fork_says_what_its_parent_said() {
    let session = Session::new().await;
    let parent =
        session.say(vec![system("Be kind."), user("To Oslo"), assistant("When?")]).await.conversation_id;
    let before = Conversation { forks: Vec::new(), ..get(&session, &parent).await };
    session.clock.advance(Duration::from_secs(5));
    let response = forked(&session, at(2)).await;
    let (fork, id) = (response.conversation.clone().unwrap(), id_of(&response));
    let from = fork.forked_from.unwrap();
    assert_eq!((from.conversation_id, from.sequence, from.approximate), (parent.clone(), Some(2), false));
    assert_eq!((fork.revision, fork.utterance_count, fork.recipient_id.as_str()), (1, Some(2), "default"));
    assert_eq!(response.capacity.unwrap().utterance_count, Some(2));
    assert_eq!(stored(&session, &id).await, stored(&session, &parent).await[..2]);
    assert_eq!(
        Conversation { forks: Vec::new(), ..get(&session, &parent).await },
        before,
        "the parent is not changed by it"
    );
    assert_eq!(say_in(&session, &id, vec![assistant("By train?")]).await, 3);
    assert_eq!(say_in(&session, &parent, vec![user("On Monday")]).await, 4);
    assert_eq!(contents(&stored(&session, &id).await), ["Be kind.", "To Oslo", "By train?"]);
    let parents = stored(&session, &parent).await;
    assert_eq!(contents(&parents), ["Be kind.", "To Oslo", "When?", "On Monday"]);
    let ids: Vec<_> = parents.iter().map(|utterance| utterance.utterance_id.clone()).collect();
    let forks = stored(&session, &id).await;
    assert!(ids[..2] == [forks[0].utterance_id.clone(), forks[1].utterance_id.clone()]);
    assert!(!ids.contains(&forks[2].utterance_id), "what each says is its own");
}

/// Pins, soft forgets, edits and evictions of shared utterances stay on their side.
#[tokio::test]
async fn sides_do_not_see_each_other() {
    let session = Session::new().await;
    let parent = session.say(vec![user("one"), user("two"), user("three")]).await.conversation_id;
    let id = id_of(&forked(&session, named("fork")).await);
    let before = stored(&session, &parent).await;
    forget_in(&session, &id, "sequence:1", ForgetMode::Soft).await;
    let edit = UpdateUtteranceRequest {
        conversation_id: id.clone(),
        utterance_id: before[1].utterance_id.clone(),
        content: "zwei".to_owned(),
        pinned: true,
        update_mask: mask(&["pinned", "content"]),
        ..Default::default()
    };
    session.conversations().update_utterance(edit).await.reply();
    for n in 0..30 {
        say_in(&session, &id, vec![user(&format!("more {n}"))]).await;
    }
    assert_eq!(stored(&session, &parent).await, before);
    let forks = stored(&session, &id).await;
    assert_eq!((forks.len(), forks[1].content.as_str(), forks[1].pinned), (33, "zwei", true));
    let restore = RestoreRequest {
        conversation_id: id.clone(),
        utterance_ids: vec![before[0].utterance_id.clone()],
        ..Default::default()
    };
    session.memory().restore(restore).await.reply();
    assert_eq!(stored(&session, &id).await[0].content, "one");
    forget_in(&session, &parent, "sequence:3", ForgetMode::Soft).await;
    assert_eq!(stored(&session, &id).await[2].content, "three");
    assert_eq!(session.window().await.len(), 2);
}

/// At a point that has left the window, the fork's window holds what fits; its summary covers the rest.
#[tokio::test]
async fn the_archive_can_be_forked() {
    let session = Session::new().await;
    let parent = session.say(vec![user("The invoice number is INV-4711.")]).await.conversation_id;
    session.say_many(60).await;
    let response = forked(&session, at(30)).await;
    let id = id_of(&response);
    let capacity = response.capacity.unwrap();
    assert_eq!((capacity.utterance_count, capacity.archived_utterance_count), (Some(16), Some(14)));
    let said = stored(&session, &id).await;
    assert_eq!(contents(&said), contents(&stored(&session, &parent).await[..30]));
    assert_eq!(said[14].position, Some(1));
    let request = GetSummaryRequest { conversation_id: id.clone(), ..Default::default() };
    let summary = session.conversations().get_summary(request).await.reply();
    let covered: Vec<_> = summary.segments.iter().flat_map(|segment| ranges(&segment.covers)).collect();
    assert_eq!((covered[0].0, covered.last().unwrap().1), (1, 14));
    assert!(summary.text.contains("INV-4711") && !summary.text.contains("message 29"), "{}", summary.text);
    for n in 0..5 {
        say_in(&session, &id, vec![user(&format!("more {n}"))]).await;
    }
    assert_eq!(stored(&session, &id).await.len(), 35);
}

#[tokio::test]
async fn an_exchange_is_not_cut() {
    let session = Session::new().await;
    session
        .say(vec![user("go"), calls(&["a", "b"]), result("a", "1"), result("b", "2"), user("thanks")])
        .await;
    for cut in [2, 3] {
        let refusal = refused(&session, at(cut)).await;
        let refusal = refusal.is(Code::FailedPrecondition, "CUTS_EXCHANGE").blames("at_sequence");
        let near = &refusal.details().error_info().unwrap().metadata;
        assert_eq!((near["before"].as_str(), near["behind"].as_str()), ("1", "4"));
    }
    assert_eq!(session.capacity().await.revision, 1);
    for whole in [1, 4] {
        forked(&session, at(whole)).await;
    }
}

/// What waits for a result waits in both, and is answered in each.
#[tokio::test]
async fn an_open_exchange_is_open_in_both() {
    let session = Session::new().await;
    let parent = session.say(vec![user("go"), calls(&["a"])]).await.conversation_id;
    let id = id_of(&forked(&session, named("fork")).await);
    assert_eq!(say_in(&session, &id, vec![result("a", "1")]).await, 3);
    assert_eq!(say_in(&session, &parent, vec![result("a", "2")]).await, 3);
    assert_eq!(stored(&session, &id).await[2].content, "1");
}

#[tokio::test]
async fn points_outside_are_refused() {
    let session = Session::new().await;
    refused(&session, at(1)).await.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    session
        .conversations()
        .create_conversation(utterd::proto::CreateConversationRequest::default())
        .await
        .reply();
    let nothing = refused(&session, named("fork")).await;
    nothing.is(Code::InvalidArgument, "INVALID_FIELD").blames("at_sequence").says("nothing was said");
    session.say(vec![user("hello")]).await;
    for wrong in [-1, 0, 2, i64::MAX] {
        let refusal = refused(&session, at(wrong)).await;
        refusal.is(Code::InvalidArgument, "INVALID_FIELD").blames("at_sequence").says("accepted");
    }
    let stale = ForkConversationRequest { expected_revision: Some(9), ..Default::default() };
    refused(&session, stale).await.is(Code::Aborted, "STALE_REVISION");
    let bad = ForkConversationRequest { to_recipient_id: "a\nb".to_owned(), ..Default::default() };
    refused(&session, bad).await.is(Code::InvalidArgument, "INVALID_ID").blames("to_recipient_id");
    refused(&session, named("a\nb"))
        .await
        .is(Code::InvalidArgument, "INVALID_ID")
        .blames("new_conversation_id");
    let foreign = ForkConversationRequest {
        conversation_id: session.capacity().await.conversation_id,
        recipient_id: "someone else".to_owned(),
        ..Default::default()
    };
    refused(&session, foreign).await.is(Code::FailedPrecondition, "RECIPIENT_MISMATCH");
    assert!(get(&session, "").await.forks.is_empty());
}

#[tokio::test]
async fn an_id_is_taken_once() {
    let session = Session::new().await;
    let parent = session.say(vec![user("hello")]).await.conversation_id;
    forked(&session, named("fork")).await;
    for taken in ["fork", &parent] {
        refused(&session, named(taken)).await.is(Code::AlreadyExists, "CONVERSATION_EXISTS");
    }
}

/// A fork becomes its recipient's active conversation if there is none, or on request.
#[tokio::test]
async fn which_conversation_is_active() {
    let session = Session::new().await;
    let parent = session.say(vec![user("hello")]).await.conversation_id;
    let beside = forked(&session, named("beside")).await.conversation.unwrap();
    assert!(!beside.active && get(&session, "").await.conversation_id == parent);
    let instead = ForkConversationRequest { activate: true, title: "Anew".to_owned(), ..named("instead") };
    let instead = forked(&session, instead).await.conversation.unwrap();
    assert!(instead.active && instead.title == "Anew");
    assert_eq!(get(&session, "").await.conversation_id, "instead");
    let to = ForkConversationRequest {
        conversation_id: parent,
        to_recipient_id: "ada".to_owned(),
        ..named("hers")
    };
    let hers = forked(&session, to).await.conversation.unwrap();
    assert_eq!((hers.active, hers.recipient_id.as_str()), (true, "ada"));
    let request = MemorizeRequest { recipient_id: "ada".to_owned(), ..memorize(vec![user("hi")]) };
    assert_eq!(session.memory().memorize(request).await.reply().conversation_id, "hers");
}

/// Forks are listed with their parent and point; whichever is deleted, the other is whole.
#[tokio::test]
async fn parents_and_forks_outlive_each_other() {
    let session = Session::new().await;
    let parent = session.say(vec![user("The invoice is INV-1.")]).await.conversation_id;
    session.say_many(40).await;
    forked(&session, ForkConversationRequest { at_sequence: Some(12), ..named("early") }).await;
    forked(&session, named("late")).await;
    let grandchild = ForkConversationRequest { conversation_id: "late".to_owned(), ..named("later") };
    forked(&session, grandchild).await;
    let forks = get(&session, &parent).await.forks;
    let forks: Vec<_> = forks.iter().map(|fork| (fork.conversation_id.as_str(), fork.sequence())).collect();
    assert_eq!(forks, [("early", 12), ("late", 41)]);
    let whole = stored(&session, "late").await;
    let delete = async |id: &str| {
        let request = DeleteConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        session.conversations().delete_conversation(request).await.reply();
    };
    delete(&parent).await;
    assert_eq!(stored(&session, "late").await, whole);
    assert_eq!(contents(&stored(&session, "early").await), contents(&whole[..12]));
    assert_eq!(get(&session, "late").await.forked_from.unwrap().conversation_id, parent);
    delete("late").await;
    assert_eq!(contents(&stored(&session, "later").await), contents(&whole));
    assert_eq!(say_in(&session, "later", vec![user("still here")]).await, 42);
}

#[tokio::test]
async fn a_retry_is_answered_with_the_first_fork() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let request = ForkConversationRequest { request_id: "fork-1".to_owned(), ..Default::default() };
    let first = forked(&session, request.clone()).await;
    let again = forked(&session, request.clone()).await;
    assert!(again.replayed && !first.replayed && id_of(&again) == id_of(&first));
    assert_eq!(again.capacity, first.capacity);
    assert_eq!(get(&session, "").await.forks.len(), 1);
    let other = ForkConversationRequest { title: "Another".to_owned(), ..request };
    refused(&session, other).await.is(Code::FailedPrecondition, "REQUEST_ID_REUSED");
}

/// Wherever it is requested, a hard forget reaches all that share the utterance, including their later
/// versions of it.
#[tokio::test]
async fn a_hard_forget_reaches_every_fork() {
    let session = Session::new().await;
    let parent = session.say(vec![user("My PIN is 9876."), user("hello")]).await.conversation_id;
    session.say_many(30).await;
    forked(&session, named("fork")).await;
    let grandchild = ForkConversationRequest { conversation_id: "fork".to_owned(), ..named("grandchild") };
    forked(&session, grandchild).await;
    forked(&session, ForkConversationRequest { at_sequence: Some(1), ..named("early") }).await;
    let edit = UpdateUtteranceRequest {
        conversation_id: "fork".to_owned(),
        utterance_id: stored(&session, &parent).await[0].utterance_id.clone(),
        content: "My PIN is 9876, I think.".to_owned(),
        update_mask: mask(&["content"]),
        ..Default::default()
    };
    session.conversations().update_utterance(edit).await.reply();
    forget_in(&session, "grandchild", "sequence:1-2", ForgetMode::Hard).await;
    for id in [&parent, "fork", "grandchild", "early"] {
        let left = stored(&session, id).await;
        assert!(left.iter().all(|utterance| utterance.sequence > 2), "{id}: {:?}", contents(&left));
        let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
        let summary = session.conversations().get_summary(request).await.reply();
        assert!(!summary.text.contains("9876"), "{id}: {}", summary.text);
        let covers: Vec<_> = summary.segments.iter().flat_map(|segment| ranges(&segment.covers)).collect();
        assert!(covers.iter().all(|(first, _)| *first > 2), "{id}: {covers:?}");
    }
    assert_eq!(get(&session, "early").await.utterance_count, Some(0));
    let own = say_in(&session, "fork", vec![user("only mine")]).await;
    let theirs = say_in(&session, &parent, vec![user("only theirs")]).await;
    assert_eq!(own, theirs);
    forget_in(&session, "fork", &format!("sequence:{own}"), ForgetMode::Hard).await;
    assert_eq!(stored(&session, &parent).await.last().unwrap().content, "only theirs");
}

/// Both conversations have events of a fork and of a hard forget.
#[tokio::test]
async fn events_tell_of_both() {
    let session = Session::new().await;
    let parent = session.say(vec![user("one"), user("two")]).await.conversation_id;
    let mut events = session
        .trace()
        .watch_events(WatchEventsRequest { after_event: session.cursor(), ..Default::default() })
        .await
        .reply();
    forked(&session, named("fork")).await;
    forget_in(&session, "fork", "sequence:1", ForgetMode::Hard).await;
    let mut seen = Vec::new();
    while seen.len() < 4 {
        match events.message().await.unwrap().unwrap().message.unwrap() {
            Message::Event(event) => {
                let erased = ranges(&event.erased);
                seen.push((event.operation(), event.conversation_id, event.started_conversation, erased));
            }
            Message::Started(_) => {}
            Message::Missed(missed) => panic!("{missed:?}"),
        }
    }
    let fork = || "fork".to_owned();
    assert_eq!(
        seen,
        [
            (Operation::ForkConversation, parent.clone(), false, vec![]),
            (Operation::ForkConversation, fork(), true, vec![]),
            (Operation::Erase, fork(), false, vec![(1, 1)]),
            (Operation::Erase, parent, false, vec![(1, 1)]),
        ]
    );
}

/// A search over all of a recipient's conversations finds shared utterances once.
#[tokio::test]
async fn what_is_shared_is_found_once() {
    let session = Session::new().await;
    session.say(vec![user("the green bicycle"), user("a red kite")]).await;
    forked(&session, named("fork")).await;
    say_in(&session, "fork", vec![user("a blue bicycle")]).await;
    let found = async |scope: RememberScope, prompt: &str, page_size: i32| {
        let (scope, prompt) = (scope.into(), prompt.to_owned());
        let request = RememberRequest { prompt, scope, page_size, ..Default::default() };
        let response = session.memory().remember(request).await.reply();
        let found = response.matches.into_iter().map(|found| found.utterance.unwrap().content);
        let mut found: Vec<_> = found.collect();
        found.sort();
        (found, !response.next_page_token.is_empty())
    };
    let both = vec!["a blue bicycle".to_owned(), "the green bicycle".to_owned()];
    assert_eq!(found(RememberScope::Recipient, "bicycle", 0).await, (both.clone(), false));
    assert_eq!(found(RememberScope::Recipient, "bicycle", 2).await, (both, false));
    assert_eq!(found(RememberScope::Recipient, "", 0).await.0.len(), 3);
    assert_eq!(found(RememberScope::Conversation, "bicycle", 0).await.0, ["the green bicycle"]);
}

fn edit_as_fork(utterance_id: &str, content: &str) -> UpdateUtteranceRequest {
    UpdateUtteranceRequest {
        utterance_id: utterance_id.to_owned(),
        content: content.to_owned(),
        edit_mode: EditMode::Fork.into(),
        update_mask: mask(&["content"]),
        request_id: format!("{content} in {utterance_id}"),
        ..Default::default()
    }
}

/// An edit can create a fork: the conversation itself is unchanged.
#[tokio::test]
async fn an_edit_as_a_fork() {
    let session = Session::new().await;
    let parent = session
        .say(vec![user("To Oslo"), calls(&["a", "b"]), result("a", "1"), result("b", "2"), assistant("Done")])
        .await
        .conversation_id;
    let before = stored(&session, &parent).await;
    let edit = edit_as_fork(&before[2].utterance_id, "one");
    let response = session.conversations().update_utterance(edit.clone()).await.reply();
    let id = response.forked_conversation_id.clone();
    let utterance = response.utterance.clone().unwrap();
    assert_eq!((utterance.sequence, utterance.content.as_str(), response.revision), (3, "one", 1));
    assert_eq!(utterance.original_content, None, "it never was anything else there");
    assert_eq!(contents(&stored(&session, &id).await), ["To Oslo", "", "one"]);
    assert_eq!(stored(&session, &parent).await, before);
    assert_eq!(get(&session, &id).await.forked_from.unwrap().sequence, Some(1));
    let again = session.conversations().update_utterance(edit).await.reply();
    assert!(again.replayed && again.forked_conversation_id == id && again.utterance == response.utterance);
    assert_eq!(say_in(&session, &id, vec![result("b", "two"), assistant("Other")]).await, 5);
    let edit = edit_as_fork(&before[0].utterance_id, "To Bergen");
    let first = session.conversations().update_utterance(edit).await.reply();
    assert_eq!(contents(&stored(&session, &first.forked_conversation_id).await), ["To Bergen"]);
    let from = get(&session, &first.forked_conversation_id).await.forked_from.unwrap();
    assert_eq!((from.conversation_id, from.sequence), (parent, Some(0)));
    let pin = UpdateUtteranceRequest {
        utterance_id: before[0].utterance_id.clone(),
        edit_mode: EditMode::Fork.into(),
        update_mask: mask(&["pinned"]),
        ..Default::default()
    };
    let refusal = session.conversations().update_utterance(pin).await.refusal();
    refusal.is(Code::InvalidArgument, "INVALID_FIELD").blames("edit_mode");
}

/// Many concurrent forks, while everything else goes on: each is whole up to its point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forks_and_writers_at_once() {
    let session = Session::new().await;
    let parent = session.say(vec![user("first")]).await.conversation_id;
    let forks = (0..20).map(|n| {
        let (mut conversations, conversation_id) = (session.conversations(), parent.clone());
        async move {
            let request = ForkConversationRequest { conversation_id, ..named(&format!("fork {n}")) };
            conversations.fork_conversation(request).await.reply();
        }
    });
    let writers = (0..20).map(|n| {
        let (mut memory, conversation_id) = (session.memory(), parent.clone());
        async move {
            let request = MemorizeRequest { conversation_id, ..memorize(vec![user(&format!("more {n}"))]) };
            memory.memorize(request).await.reply();
        }
    });
    let forgets = async {
        forget_in(&session, &parent, "sequence:1", ForgetMode::Hard).await;
    };
    let everything =
        futures::future::join(futures::future::join_all(forks), futures::future::join_all(writers));
    futures::future::join(everything, forgets).await;
    let said = stored(&session, &parent).await;
    assert_eq!(sequences_of(&said), (2..=21).collect::<Vec<_>>());
    let points = get(&session, &parent).await.forks;
    assert_eq!(points.len(), 20);
    for point in points {
        let fork = stored(&session, &point.conversation_id).await;
        assert_eq!(contents(&fork), contents(&said[..fork.len()]));
        assert_eq!(fork.len() as i64, point.sequence() - 1, "all but what was forgotten");
    }
}

/// An ended conversation can be forked: the fork continues where it was interrupted.
#[tokio::test]
async fn an_ended_conversation_can_be_forked() {
    let session = Session::new().await;
    let parent = session.say(vec![user("Where is the invoice INV-1?"), calls(&["a"])]).await.conversation_id;
    let end = EndConversationRequest { conversation_id: parent.clone(), ..Default::default() };
    session.conversations().end_conversation(end).await.reply();
    let request = ForkConversationRequest { conversation_id: parent.clone(), ..named("fork") };
    let fork = forked(&session, request).await.conversation.unwrap();
    assert_eq!((fork.status(), fork.active), (ConversationStatus::Active, true));
    assert_eq!((fork.end_time, fork.closing_summary.as_str(), fork.title.as_str()), (None, "", ""));
    assert_eq!(say_in(&session, "fork", vec![result("a", "here")]).await, 3);
    let ended = get(&session, &parent).await;
    assert!(ended.closing_summary.contains("INV-1"), "{}", ended.closing_summary);
    assert_eq!(ended.status(), ConversationStatus::Closed);
    forget_in(&session, "fork", "sequence:1", ForgetMode::Hard).await;
    let ended = get(&session, &parent).await;
    assert!(!format!("{} {}", ended.title, ended.closing_summary).contains("INV-1"));
}
