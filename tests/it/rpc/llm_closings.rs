//! Titles and closing summaries by a model: after the end, and never delaying it.

use tokio::runtime::Builder;
use utterd::{
    config::DurableEngine,
    engine::models::llm::{LlmError, Task},
};

use crate::support::{
    model::{MODEL, Model},
    prelude::*,
};

const TOLD: &str = "Title: Pump of tank T-7 replaced\nSummary: The user asked about T-7. It was replaced.";

impl Session {
    /// Says something in a conversation with the given policy, and ends it.
    async fn say_and_end(&self, policy: Policy) -> Conversation {
        self.create_with(policy).await;
        self.say(vec![user("Please replace the pump of tank T-7."), assistant("It was replaced.")]).await;
        let ended = self.conversations().end_conversation(EndConversationRequest::default()).await.reply();
        ended.conversation.expect("a conversation")
    }

    async fn conversation(&self, id: &str) -> Conversation {
        let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        self.conversations().get_conversation(request).await.reply().conversation.expect("a conversation")
    }

    /// The conversation, once `holds` is true for it.
    async fn once(&self, id: &str, holds: impl Fn(&Conversation) -> bool) -> Conversation {
        let request = WatchCapacityRequest { conversation_id: id.to_owned(), ..Default::default() };
        let mut watch = self.memory().watch_capacity(request).await.reply();
        while let Ok(Some(_)) = watch.message().await {
            let conversation = self.conversation(id).await;
            if holds(&conversation) {
                return conversation;
            }
        }
        panic!("the watch ended");
    }

    async fn told(&self, id: &str) -> Conversation {
        self.once(id, |conversation| !conversation.closing_model.is_empty()).await
    }

    async fn forget_answer(&self, id: &str, mode: ForgetMode) {
        let (conversation_id, instructions) = (id.to_owned(), "sequence:2".to_owned());
        let request =
            ForgetRequest { conversation_id, instructions, mode: mode.into(), ..Default::default() };
        self.memory().forget(request).await.reply();
    }
}

#[tokio::test]
async fn a_model_tells_what_an_ended_conversation_was_about() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    let ended = session.say_and_end(Policy::default()).await;
    assert_eq!((ended.title.as_str(), ended.closing_model.as_str()), ("Replace the pump of tank T-7", ""));
    let call = model.called().await;
    assert_eq!(call.material.task, Task::Closing);
    assert!(call.shown().contains("pump of tank T-7"), "{}", call.shown());
    call.tell(TOLD);
    let told = session.told(&ended.conversation_id).await;
    assert_eq!(told.title, "Pump of tank T-7 replaced");
    assert_eq!(told.closing_summary, "The user asked about T-7. It was replaced.");
    assert_eq!((told.closing_model.as_str(), told.end_time), (MODEL, ended.end_time));
}

/// The response to an ending can wait for the model, within its deadline; the conversation has ended at once.
#[tokio::test(start_paused = true)]
async fn an_ending_can_wait_for_the_model() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    let said = || vec![user("Please replace the pump of tank T-7."), assistant("It was replaced.")];
    let waiting = |request_id: &str| EndConversationRequest {
        wait_for_llm: true,
        request_id: request_id.to_owned(),
        ..Default::default()
    };
    session.say(said()).await;
    let mut conversations = session.conversations();
    let ending = tokio::spawn(async move { conversations.end_conversation(waiting("r")).await });
    let call = model.called().await;
    session.say(said()).await;
    call.tell(TOLD);
    let ended = ending.await.unwrap().reply().conversation.expect("a conversation");
    assert_eq!((ended.title.as_str(), ended.closing_model.as_str()), ("Pump of tank T-7 replaced", MODEL));
    let again = session.conversations().end_conversation(waiting("r")).await.reply();
    assert_eq!((again.replayed, again.conversation), (true, Some(ended)));

    let mut hurried = tonic::Request::new(waiting("s"));
    hurried.set_timeout(std::time::Duration::from_secs(2));
    let ended = session.conversations().end_conversation(hurried).await.reply().conversation;
    let ended = ended.expect("a conversation");
    assert_eq!((ended.title.as_str(), ended.closing_model.as_str()), ("Replace the pump of tank T-7", ""));
    model.called().await.tell(TOLD);
    session.told(&ended.conversation_id).await;
}

/// Without a model, and without summaries, there is nothing to wait for.
#[tokio::test]
async fn an_ending_without_a_model_does_not_wait() {
    let model = Model::new();
    for (session, policy) in [
        (Session::new().await, Policy::default()),
        (
            Session::with_model(model.clone()).await,
            Policy { summarization_enabled: Some(false), ..Default::default() },
        ),
    ] {
        session.create_with(policy).await;
        session.say(vec![user("Please replace the pump of tank T-7.")]).await;
        let request = EndConversationRequest { wait_for_llm: true, ..Default::default() };
        let ended = session.conversations().end_conversation(request).await.reply();
        assert_eq!(ended.conversation.expect("a conversation").closing_model, "");
    }
    assert!(model.take(0).is_none(), "nobody was asked");
}

#[tokio::test]
async fn a_title_that_was_given_stays() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    let ended = session.say_and_end(Policy::default()).await;
    let call = model.called().await;
    let request = UpdateConversationRequest {
        conversation_id: ended.conversation_id.clone(),
        title: "My own".into(),
        update_mask: mask(&["title"]),
        ..Default::default()
    };
    session.conversations().update_conversation(request).await.reply();
    call.tell(TOLD);
    let told = session.told(&ended.conversation_id).await;
    assert_eq!(
        (told.title.as_str(), &*told.closing_summary),
        ("My own", "The user asked about T-7. It was replaced.")
    );
}

#[tokio::test]
async fn a_policy_names_the_model_or_wants_none() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    session.say_and_end(Policy { llm_summaries: Some(false), ..Default::default() }).await;
    let own = Policy { summary_model: Some("their-model".into()), ..Default::default() };
    let ended = session.say_and_end(own).await;
    let call = model.called().await;
    assert_eq!(call.material.model.as_deref(), Some("their-model"), "the first that is asked about");
    call.fail(LlmError::Refused("no such model".into()));
    let call = model.called().await;
    assert_eq!(call.material.model, None, "the server's own is asked instead");
    call.tell(TOLD);
    assert_eq!(session.told(&ended.conversation_id).await.closing_model, MODEL);
    assert!(model.take(0).is_none(), "and nobody else");
}

#[tokio::test]
async fn what_was_forgotten_does_not_come_back_with_an_answer_in_flight() {
    for mode in [ForgetMode::Hard, ForgetMode::Soft] {
        let model = Model::new();
        let session = Session::with_model(model.clone()).await;
        let id = session.say_and_end(Policy::default()).await.conversation_id;
        let call = model.called().await;
        session.forget_answer(&id, mode).await;
        call.tell(TOLD);
        let call = model.called().await;
        assert!(!call.shown().contains("It was replaced"), "it is asked anew, without it");
        assert_eq!(session.conversation(&id).await.closing_model, "");
        call.tell("Title: Pump of tank T-7\nSummary: The user asked for a new pump.");
        assert_eq!(session.told(&id).await.closing_summary, "The user asked for a new pump.");
    }
}

#[tokio::test]
async fn a_hard_forget_takes_what_a_model_told() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    let id = session.say_and_end(Policy::default()).await.conversation_id;
    model.called().await.tell(TOLD);
    session.told(&id).await;
    session.forget_answer(&id, ForgetMode::Hard).await;
    let left = session.conversation(&id).await;
    assert!(!left.closing_summary.contains("replaced") && left.closing_model.is_empty(), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn what_no_answer_can_be_used_for_stays_as_it_was_made() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    let ended = session.say_and_end(Policy::default()).await;
    model.called().await.break_off();
    model.called().await.tell("It was about a pump.");
    model.called().await.tell("Title: A title of many more words than eight, all told\nSummary: A pump.");
    model.called().await.tell(&format!("Title: A pump\nSummary: {}", "It was a pump. ".repeat(99)));
    let id = &ended.conversation_id;
    let left = session.once(id, |conversation| conversation.revision > ended.revision).await;
    let told = |it: &Conversation| (it.title.clone(), it.closing_summary.clone(), it.closing_model.clone());
    assert_eq!(told(&left), told(&ended));
}

#[test]
fn what_waits_outlives_the_server() {
    for engine in [DurableEngine::Fjall, DurableEngine::Sled] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let id = on_a_runtime(async {
            let model = Model::new();
            let session = Session::with_model_in(path, engine, model.clone()).await;
            let ended = session.say_and_end(Policy::default()).await;
            drop(model.called().await);
            ended.conversation_id
        });
        on_a_runtime(async {
            let model = Model::new();
            let session = Session::with_model_in(path, engine, model.clone()).await;
            model.called().await.tell(TOLD);
            assert_eq!(session.told(&id).await.title, "Pump of tank T-7 replaced");
        });
    }
}

fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}
