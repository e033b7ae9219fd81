//! A hard forget reaches what forks made of an utterance.

use utterd::proto::{
    BuildContextRequest, ContextRecall, CreateConversationRequest, DeleteConversationRequest,
    DeleteRecipientRequest, EditMode, ForgetMode, ForgetRequest, ForgetResponse, ForgetSelector,
    ForkConversationRequest, InForks, ListUtterancesRequest, MemorizeRequest, NewUtterance, Policy,
    RememberRequest, RememberScope, SequenceRange, UpdateUtteranceRequest, Utterance,
};

use crate::support::session::{
    Reply, Session, assistant, calls, forget, mask, memorize, result, sequences, sequences_of, user,
};

/// What the caller gave with an utterance besides its content.
const TOLD: [&str; 4] = ["Roswitha", "ward-7", "cough.ogg", "otoscope"];

fn noted(content: &str) -> NewUtterance {
    NewUtterance {
        name: TOLD[0].to_owned(),
        metadata: [("where".to_owned(), TOLD[1].to_owned())].into(),
        extras_json: format!(r#"{{"audio":"{}"}}"#, TOLD[2]),
        tools_used: vec![TOLD[3].to_owned()],
        ..assistant(content)
    }
}

async fn say_in(session: &Session, id: &str, utterances: Vec<NewUtterance>) {
    let request = MemorizeRequest { conversation_id: id.to_owned(), ..memorize(utterances) };
    session.memory().memorize(request).await.reply();
}

/// Everything that a conversation stores.
async fn stored(session: &Session, id: &str) -> Vec<Utterance> {
    let conversation_id = id.to_owned();
    let every =
        ListUtterancesRequest { include_archive: true, include_forgotten: true, ..Default::default() };
    session.list(ListUtterancesRequest { conversation_id, ..every }).await
}

/// Makes a fork in which the utterance says something else; returns its id.
async fn said_anew(session: &Session, id: &str, sequence: i64, content: &str) -> String {
    let utterances = stored(session, id).await;
    let utterance = utterances.into_iter().find(|one| one.sequence == sequence).unwrap();
    let edit = UpdateUtteranceRequest {
        conversation_id: id.to_owned(),
        utterance_id: utterance.utterance_id,
        content: content.to_owned(),
        edit_mode: EditMode::Fork.into(),
        update_mask: mask(&["content"]),
        ..Default::default()
    };
    session.conversations().update_utterance(edit).await.reply().forked_conversation_id
}

async fn forked(session: &Session, id: &str, to: &str) -> String {
    let fork = ForkConversationRequest {
        conversation_id: id.to_owned(),
        to_recipient_id: to.to_owned(),
        ..Default::default()
    };
    let response = session.conversations().fork_conversation(fork).await.reply();
    response.conversation.unwrap().conversation_id
}

async fn forget_for_good(session: &Session, id: &str, instructions: &str) {
    let hard = forget(instructions, ForgetMode::Hard);
    session.memory().forget(ForgetRequest { conversation_id: id.to_owned(), ..hard }).await.reply();
}

/// Checks that the conversation contains exactly this, and nothing else of the original.
async fn keeps_only(session: &Session, id: &str, contents: &[&str]) {
    let stored = stored(session, id).await;
    let said: Vec<_> = stored.iter().map(|utterance| utterance.content.as_str()).collect();
    assert_eq!(said, contents, "{id}");
    let shown = format!("{stored:?}");
    assert!(TOLD.iter().all(|word| !shown.contains(word)), "{shown}");
}

on_each_store! {
    what_is_said_anew_keeps_only_what_it_says
    a_recipient_is_deleted_with_what_was_said_anew
}

/// At the beginning, where nothing is shared, and later; in forks of the fork; and in the archive.
#[tokio::test]
async fn what_is_said_anew_keeps_only_what_it_says() {
    let session = Session::new().await;
    say_in(&session, "talk", vec![noted("My cough is back."), noted("My ear hurts.")]).await;
    let first = said_anew(&session, "talk", 1, "I am well.").await;
    let second = said_anew(&session, "talk", 2, "My ear is fine.").await;
    let copied = forked(&session, &second, "bob").await;
    let again = said_anew(&session, &copied, 2, "Both ears are fine.").await;
    let old = said_anew(&session, "talk", 2, "An ear.").await;
    let many: Vec<_> = (0..30).map(|number| user(&format!("More {number}"))).collect();
    say_in(&session, &old, many).await;
    for id in [&first, &second, &copied, &again] {
        let shown = format!("{:?}", stored(&session, id).await);
        assert!(TOLD.iter().all(|word| shown.contains(word)), "the copy has it: {shown}");
    }
    let cost = |utterances: &[Utterance]| utterances[0].token_count;
    let before = cost(&stored(&session, &first).await);
    forget_for_good(&session, "talk", "sequence:2").await;
    assert_eq!(cost(&stored(&session, &first).await), before, "that one was not forgotten");
    for (id, said) in
        [(&second, "My ear is fine."), (&copied, "My ear is fine."), (&again, "Both ears are fine.")]
    {
        assert_eq!(stored(&session, id).await[1].content, said);
    }
    forget_for_good(&session, "talk", "sequence:1").await;
    keeps_only(&session, "talk", &[]).await;
    keeps_only(&session, &first, &["I am well."]).await;
    keeps_only(&session, &second, &["My ear is fine."]).await;
    keeps_only(&session, &copied, &["My ear is fine."]).await;
    keeps_only(&session, &again, &["Both ears are fine."]).await;
    assert!(cost(&stored(&session, &first).await) < before, "a name counts");
    let archived = stored(&session, &old).await;
    assert_eq!((archived[0].content.as_str(), archived[0].position), ("An ear.", None));
    assert!(archived[0].name.is_empty() && archived[0].metadata.is_empty());
    let soft = stored(&session, &first).await[0].sequence;
    assert_eq!(soft, 1, "it keeps its place");
}

/// The calls and other results of an exchange are also forgotten.
#[tokio::test]
async fn an_exchange_that_is_said_anew_goes_whole() {
    let session = Session::new().await;
    say_in(&session, "talk", vec![user("go"), calls(&["a", "b"]), result("a", "one"), result("b", "two")])
        .await;
    let fork = said_anew(&session, "talk", 3, "nothing").await;
    say_in(&session, &fork, vec![result("b", "zwei"), user("thanks")]).await;
    assert_eq!(sequences_of(&stored(&session, &fork).await), [1, 2, 3, 4, 5]);
    forget_for_good(&session, "talk", "sequence:4").await;
    assert_eq!(sequences_of(&stored(&session, "talk").await), [1]);
    assert_eq!(sequences_of(&stored(&session, &fork).await), [1, 5]);
}

/// A soft forget, or a new conversation with a deleted one's id, does not reach it.
#[tokio::test]
async fn what_is_not_its_original_leaves_it_alone() {
    let session = Session::new().await;
    say_in(&session, "talk", vec![noted("My cough is back.")]).await;
    let fork = said_anew(&session, "talk", 1, "I am well.").await;
    let whole = stored(&session, &fork).await;
    let soft = ForgetRequest { conversation_id: "talk".to_owned(), ..forget("sequence:1", ForgetMode::Soft) };
    session.memory().forget(soft).await.reply();
    assert_eq!(stored(&session, &fork).await, whole);
    let conversation_id = "talk".to_owned();
    let delete = DeleteConversationRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    session.clock.advance(std::time::Duration::from_secs(1));
    let create = CreateConversationRequest { conversation_id, ..Default::default() };
    session.conversations().create_conversation(create).await.reply();
    say_in(&session, "talk", vec![user("Something else")]).await;
    forget_for_good(&session, "talk", "sequence:1").await;
    assert_eq!(stored(&session, &fork).await, whole);
}

/// An edited fork belongs to its parent's recipient, and is deleted with it.
#[tokio::test]
async fn a_recipient_is_deleted_with_what_was_said_anew() {
    let session = Session::new().await;
    let request =
        MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![noted("My cough is back.")]) };
    let talk = session.memory().memorize(request).await.reply().conversation_id;
    said_anew(&session, &talk, 1, "I am well.").await;
    let delete = DeleteRecipientRequest { recipient_id: "ann".to_owned() };
    let deleted = session.conversations().delete_recipient(delete).await.reply();
    assert_eq!(deleted.conversation_count, Some(2));
}

/// Forgets sequences of a conversation for good, and nothing else of their exchange.
async fn forget_exactly(session: &Session, id: &str, sequence: i64) -> ForgetResponse {
    let sequences = vec![SequenceRange { first: sequence, last: sequence }];
    let request = ForgetRequest {
        conversation_id: id.to_owned(),
        selector: Some(ForgetSelector { sequences, ..Default::default() }),
        mode: ForgetMode::Hard.into(),
        exact: true,
        ..Default::default()
    };
    let dry = ForgetRequest { dry_run: true, ..request.clone() };
    let would = session.memory().forget(dry).await.reply();
    let response = session.memory().forget(request).await.reply();
    assert_eq!((would.in_forks, &would.evicted), (response.in_forks, &response.evicted));
    response
}

/// A conversation with an exchange of two results.
async fn exchange(session: &Session, id: &str) {
    let said = vec![user("go"), calls(&["a", "b"]), result("a", "SECRET"), result("b", "two")];
    say_in(session, id, said).await;
}

/// A result that the edit only copied goes alone, by an exact forget and by a replacement.
#[tokio::test]
async fn a_copied_result_goes_alone_where_only_it_is_forgotten() {
    let session = Session::new().await;
    for how in ["exact", "replace"] {
        exchange(&session, how).await;
        let fork = said_anew(&session, how, 4, "zwei").await;
        let in_forks = match how {
            "exact" => forget_exactly(&session, how, 3).await.in_forks,
            _ => {
                let request = MemorizeRequest {
                    conversation_id: how.to_owned(),
                    replace_after: Some(2),
                    ..Default::default()
                };
                session.memory().memorize(request).await.reply().in_forks
            }
        };
        let left = if how == "exact" { vec![1, 2, 4] } else { vec![1, 2] };
        assert_eq!(sequences_of(&stored(&session, &fork).await), left, "{how}");
        let lost = 4 - left.len() as i32;
        let counted = InForks { conversation_count: Some(1), utterance_count: Some(lost) };
        assert_eq!(in_forks, Some(counted), "{how}");
    }
}

/// From the fork to its parent, to another edit of the same, and to a fork of a fork that was deleted.
#[tokio::test]
async fn whatever_is_between_them_copies_are_found() {
    let session = Session::new().await;
    say_in(&session, "talk", vec![noted("My cough is back.")]).await;
    let first = said_anew(&session, "talk", 1, "I am well.").await;
    let second = said_anew(&session, "talk", 1, "I am ill.").await;
    let copied = forked(&session, &second, "bob").await;
    let delete = DeleteConversationRequest { conversation_id: second, ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    let hard = ForgetRequest { conversation_id: first.clone(), ..forget("all", ForgetMode::Hard) };
    let response = session.memory().forget(hard).await.reply();
    let counted = InForks { conversation_count: Some(2), utterance_count: Some(2) };
    assert_eq!(response.in_forks, Some(counted));
    keeps_only(&session, "talk", &[]).await;
    keeps_only(&session, &first, &[]).await;
    keeps_only(&session, &copied, &["I am ill."]).await;
}

/// The rest of an exchange that an exact forget splits need not stay in the window.
#[tokio::test]
async fn an_exact_forget_tells_what_it_evicted() {
    let session = Session::new().await;
    let policy = Policy { max_utterances: Some(2), keep_utterances: Some(1), ..Default::default() };
    session.create_with(policy).await;
    let results = ["a", "b", "c"].map(|call| result(call, "found"));
    let said = [user("go"), calls(&["a", "b", "c"])].into_iter().chain(results);
    let id = session.say(said.collect()).await.conversation_id;
    let before = sequences_of(&session.window().await);
    assert_eq!(before, [2, 3, 4, 5], "the newest unit stays");
    let response = forget_exactly(&session, &id, 2).await;
    assert_eq!(sequences(&response.evicted), [3, 4]);
    assert_eq!(sequences_of(&session.window().await), [5]);
}

/// A soft forget is heeded in what the recipient's other conversations recall.
#[tokio::test]
async fn what_one_softly_forgot_the_others_do_not_recall() {
    let session = Session::new().await;
    say_in(&session, "talk", vec![user("The code is SECRET-1."), user("It rains.")]).await;
    let edited = said_anew(&session, "talk", 2, "It snows.").await;
    let fork = forked(&session, "talk", "default").await;
    say_in(&session, "apart", vec![user("Hello.")]).await;
    let soft = ForgetRequest { conversation_id: "talk".into(), ..forget("sequence:1", ForgetMode::Soft) };
    session.memory().forget(soft).await.reply();
    let found = async |conversation_id: &str| {
        let request = RememberRequest {
            conversation_id: conversation_id.to_owned(),
            prompt: "code SECRET-1".to_owned(),
            scope: RememberScope::Recipient.into(),
            min_relevance: Some(0.0),
            neighbors: 2,
            ..Default::default()
        };
        format!("{:?}", session.memory().remember(request).await.reply()).contains("SECRET")
    };
    let recalled = async |conversation_id: &str| {
        let recall = ContextRecall { prompt: "code SECRET-1".to_owned(), ..Default::default() };
        let request = BuildContextRequest {
            conversation_id: conversation_id.to_owned(),
            recall: Some(recall),
            ..Default::default()
        };
        session.context().build_context(request).await.reply().messages_json.contains("SECRET")
    };
    assert!(!found("").await);
    for id in ["apart", "talk"] {
        assert!(!found(id).await && !recalled(id).await, "{id:?}");
    }
    for id in [&fork, &edited] {
        assert!(found(id).await && recalled(id).await, "it still has it in use");
    }
}
