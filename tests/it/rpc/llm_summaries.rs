//! Summaries by a model: after every write, and never delaying it.

use utterd::{
    engine::models::llm::LlmError,
    proto::{compaction_service_client::CompactionServiceClient, import_conversation_request::Message as In},
};

use crate::{
    rpc::segments::{methods, until_final},
    support::{
        model::{MODEL, Model, OWN_MODEL},
        prelude::*,
    },
};

fn session_preset() -> Policy {
    Policy { preset: PolicyPreset::Session.into(), ..Default::default() }
}

fn compact() -> CompactConversationRequest {
    CompactConversationRequest::default()
}

/// A conversation with 40 utterances, of which 25 were compacted.
async fn compacted(model: &std::sync::Arc<Model>) -> Session {
    let session = Session::with_model(model.clone()).await;
    session.create_with(session_preset()).await;
    say(&session, 40).await;
    session.compactions().compact_conversation(compact()).await.reply();
    session
}

async fn say(session: &Session, count: usize) {
    for number in 1..=count {
        let text = format!("Note {number}: the pump of tank T-{number} failed and was replaced on Monday.");
        session.say(vec![user(&text)]).await;
    }
}

#[tokio::test]
async fn a_models_text_takes_the_place_of_sentences() {
    let model = Model::new();
    let session = compacted(&model).await;
    assert_eq!(methods(&session).await, [SummaryMethod::Extractive]);
    let call = model.called().await;
    assert_eq!((call.material.said.len(), call.material.before.as_str()), (25, ""));
    assert!(call.material.max_tokens > 40);
    call.tell("- Pumps T-1 to T-25 were replaced.");
    until_final(&session).await;
    let summary = session.summary().await;
    assert_eq!(summary.text, "- Pumps T-1 to T-25 were replaced.\n");
    let segment = &summary.segments[0];
    assert_eq!((segment.method(), segment.model.as_str()), (SummaryMethod::Llm, MODEL));
    assert_eq!(segment.state(), SegmentState::Final);
    assert_eq!(segment.token_count, summary.token_count);
}

#[tokio::test]
async fn the_next_call_is_shown_the_old_summary_and_only_what_is_new() {
    let model = Model::new();
    let session = compacted(&model).await;
    model.called().await.tell("- Pumps T-1 to T-25 were replaced.");
    until_final(&session).await;
    say(&session, 20).await;
    let request = CompactConversationRequest { focus_areas: vec!["valves".into()], ..compact() };
    session.compactions().compact_conversation(request).await.reply();
    let call = model.called().await;
    assert_eq!(call.material.before, "- Pumps T-1 to T-25 were replaced.\n");
    assert_eq!(call.material.said.iter().map(|said| said.sequence.get()).min(), Some(26));
    assert_eq!(call.material.focus, ["valves"]);
}

#[tokio::test(start_paused = true)]
async fn writes_go_on_while_the_model_fails_and_its_text_comes_when_it_is_back() {
    let model = Model::new();
    let session = compacted(&model).await;
    for _ in 0..7 {
        model.called().await.break_off();
        say(&session, 1).await;
    }
    let capacity = session.capacity().await;
    assert_eq!(capacity.summary.unwrap().provisional_segment_count(), 1);
    let stats = session.conversations().get_stats(GetStatsRequest::default()).await.reply();
    let llm = stats.stats.unwrap().llm.expect("a model is configured");
    assert_eq!((llm.failed_count(), llm.held_back, llm.waiting_since.is_some()), (7, true, true));
    model.called().await.tell("- All pumps were replaced.");
    until_final(&session).await;
    assert_eq!(methods(&session).await, [SummaryMethod::Llm]);
}

#[tokio::test(start_paused = true)]
async fn what_no_answer_can_be_used_for_keeps_its_sentences() {
    let model = Model::new();
    let session = compacted(&model).await;
    let before = session.summary().await.text;
    model.called().await.tell(" \n\n ");
    model.called().await.fail(LlmError::Unusable("garbled".into()));
    model.called().await.tell(&"- the pump of tank T-1 was replaced\n".repeat(200));
    until_final(&session).await;
    let summary = session.summary().await;
    assert_eq!(summary.text, before);
    assert_eq!(summary.segments[0].method(), SummaryMethod::Extractive);
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_is_tried_again_later() {
    let model = Model::new();
    let session = compacted(&model).await;
    for _ in 0..3 {
        model.called().await.fail(LlmError::Refused("the key is wrong".into()));
    }
    model.called().await.tell("- All pumps were replaced.");
    until_final(&session).await;
}

#[tokio::test]
async fn a_conversation_may_have_a_model_of_its_own() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    let policy = Policy { summary_model: Some("their-model".into()), ..session_preset() };
    session.create_with(policy).await;
    say(&session, 40).await;
    session.compactions().compact_conversation(compact()).await.reply();
    let call = model.called().await;
    assert_eq!(call.material.model.as_deref(), Some("their-model"));
    call.tell("- All pumps were replaced.");
    until_final(&session).await;
    assert_eq!(session.summary().await.segments[0].model, "their-model");
}

/// A policy might have been stored while other models were accepted.
#[tokio::test]
async fn a_model_that_is_accepted_no_more_gives_way_to_the_servers() {
    let store = Arc::new(MemoryStore::new(0));
    let earlier = Session::with_model_over(store.clone(), Model::new()).await;
    earlier.create_with(Policy { summary_model: Some(OWN_MODEL.into()), ..session_preset() }).await;
    let model = Model::accepting(vec![MODEL]);
    let session = Session::with_model_over(store, model.clone()).await;
    say(&session, 40).await;
    session.compactions().compact_conversation(compact()).await.reply();
    let call = model.called().await;
    assert_eq!(call.material.model, None);
    call.tell("- All pumps were replaced.");
    until_final(&session).await;
    // the rest of its policy can still be changed
    session.update_policy(Policy { max_turns: Some(7), ..Default::default() }).await;
}

#[tokio::test]
async fn a_model_that_nobody_configured_is_refused_with_those_that_are() {
    let session = Session::with_model(Model::new()).await;
    session.create_with(Policy { summary_model: Some(OWN_MODEL.into()), ..Default::default() }).await;
    let other = || Some(Policy { summary_model: Some("most-expensive".into()), ..Default::default() });
    let create = CreateConversationRequest { policy: other(), ..Default::default() };
    let update = policy_update(other().unwrap_or_default());
    let header = ImportHeader { policy: other(), ..Default::default() };
    let import = [In::Header(header), In::Chunk(b"[]".to_vec())];
    let import = import.map(|message| ImportConversationRequest { message: Some(message) });
    for refused in [
        session.conversations().create_conversation(create.clone()).await.refusal(),
        session.conversations().update_conversation(update).await.refusal(),
        session.conversations().import_conversation(futures::stream::iter(import)).await.refusal(),
    ] {
        let refused = refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("policy.summary_model");
        refused.says("accepted: test-model, their-model, an empty text");
    }
    let without = Session::new().await;
    let refused = without.conversations().create_conversation(create).await.refusal();
    refused.blames("policy.summary_model").says("accepted: an empty text");
    without.create_with(Policy { summary_model: Some(String::new()), ..Default::default() }).await;
}

#[tokio::test]
async fn a_conversation_without_models_awaits_none() {
    let model = Model::new();
    let session = compacted(&model).await;
    let call = model.called().await;
    session.update_policy(Policy { llm_summaries: Some(false), ..Default::default() }).await;
    until_final(&session).await;
    call.tell("- Too late.");
    session.say(vec![user("and then?")]).await;
    assert_eq!(methods(&session).await, [SummaryMethod::Extractive]);
}

#[tokio::test]
async fn a_server_without_a_model_refuses_to_promise_one() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let policy = Policy { llm_summaries: Some(true), ..Default::default() };
    let refused = session.conversations().update_conversation(policy_update(policy)).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("policy.llm_summaries");
    let request = SummarizeRequest { wait_for_llm: true, ..Default::default() };
    let summary = session.memory().summarize(request).await.reply();
    assert_eq!(summary.method(), SummaryMethod::Extractive);
    assert!(summary.llm_error.contains("no model is configured"), "{}", summary.llm_error);
}

#[tokio::test]
async fn a_summary_can_be_waited_for() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    say(&session, 8).await;
    let mut memory = session.memory();
    let request = SummarizeRequest { wait_for_llm: true, token_limit: Some(50), ..Default::default() };
    let summary = tokio::spawn(async move { memory.summarize(request).await });
    let call = model.called().await;
    assert_eq!((call.material.said.len(), call.material.max_tokens), (8, 50));
    call.tell("Eight pumps were replaced.");
    let summary = summary.await.unwrap().reply();
    assert_eq!(summary.text, "Eight pumps were replaced.\n");
    assert_eq!((summary.method(), summary.model.as_str()), (SummaryMethod::Llm, MODEL));
    assert_eq!(summary.llm_error, "");
}

/// Seed 000: a summary of any conversation on demand, also of one that has ended.
#[tokio::test]
async fn a_summary_of_an_ended_conversation_can_be_waited_for() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    session.create_with(Policy { summarization_enabled: Some(false), ..Default::default() }).await;
    say(&session, 8).await;
    let ended = session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    let conversation_id = ended.conversation.expect("a conversation").conversation_id;
    let mut memory = session.memory();
    let request = SummarizeRequest { conversation_id, wait_for_llm: true, ..Default::default() };
    let summary = tokio::spawn(async move { memory.summarize(request).await });
    model.called().await.tell("Eight pumps were replaced.");
    let summary = summary.await.unwrap().reply();
    assert_eq!((summary.text.as_str(), summary.model.as_str()), ("Eight pumps were replaced.\n", MODEL));
}

#[tokio::test]
async fn a_summary_that_is_waited_for_holds_nothing_that_was_forgotten_meanwhile() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    say(&session, 8).await;
    let mut memory = session.memory();
    let request = SummarizeRequest { wait_for_llm: true, ..Default::default() };
    let summary = tokio::spawn(async move { memory.summarize(request).await });
    let call = model.called().await;
    session.forget("sequence:3", ForgetMode::Hard).await;
    call.tell("T-3 was replaced.");
    let summary = summary.await.unwrap().reply();
    assert!(!summary.text.contains("T-3") && summary.text.contains("T-4"), "{}", summary.text);
    assert_eq!(summary.method(), SummaryMethod::Extractive);
    assert!(summary.llm_error.contains("meanwhile"), "{}", summary.llm_error);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_wait_and_not_the_call() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    session.create_with(session_preset()).await;
    say(&session, 40).await;
    let mut request = tonic::Request::new(CompactConversationRequest { wait_for_llm: true, ..compact() });
    request.set_timeout(Duration::from_secs(2));
    let compacted = session.compactions().compact_conversation(request).await.reply();
    assert_eq!(compacted.compaction.unwrap().method(), SummaryMethod::Extractive);
    model.called().await.tell("- All pumps were replaced.");
    until_final(&session).await;
    assert_eq!(methods(&session).await, [SummaryMethod::Llm]);
}

#[tokio::test]
async fn a_compaction_can_wait_for_the_model() {
    let model = Model::new();
    let session = Session::with_model(model.clone()).await;
    session.create_with(session_preset()).await;
    say(&session, 40).await;
    let mut compactions = CompactionServiceClient::new(session.channel());
    let request = CompactConversationRequest { wait_for_llm: true, ..compact() };
    let compacted = tokio::spawn(async move { compactions.compact_conversation(request).await });
    model.called().await.tell("- All pumps were replaced.");
    let compacted = compacted.await.unwrap().reply();
    assert_eq!(compacted.summary, "- All pumps were replaced.\n");
    let compaction = compacted.compaction.unwrap();
    assert_eq!((compaction.method(), compaction.model.as_str()), (SummaryMethod::Llm, MODEL));
    let capacity = session.capacity().await;
    assert_eq!(compaction.token_count_after, capacity.total_token_count, "of what stands");
    let listed = session.compactions().list_compactions(ListCompactionsRequest::default()).await.reply();
    assert_eq!(listed.compactions, [compaction]);
}

#[tokio::test]
async fn a_forgotten_text_does_not_come_back_with_an_answer_in_flight() {
    for mode in [ForgetMode::Hard, ForgetMode::Soft] {
        let model = Model::new();
        let session = compacted(&model).await;
        let call = model.called().await;
        assert!(call.shown().contains("T-7 "));
        session.forget("sequence:7", mode).await;
        call.tell("- The pump of T-7 was replaced.");
        let call = model.called().await;
        assert!(!call.shown().contains("T-7 "), "it is asked anew, without it");
        call.tell("- The others were replaced.");
        until_final(&session).await;
        assert_eq!(session.summary().await.text, "- The others were replaced.\n");
    }
}
