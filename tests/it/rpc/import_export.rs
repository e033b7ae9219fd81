//! ImportConversation and ExportConversation.

use futures::stream;
use utterd::proto::{
    export_conversation_response::Message as Out, import_conversation_request::Message as In,
    state_value::Value as Kept,
};

use crate::support::prelude::*;

impl Session {
    pub async fn import_with(
        &self,
        header: ImportHeader,
        content: &str,
    ) -> Result<tonic::Response<ImportConversationResponse>, tonic::Status> {
        let chunks: Vec<In> = content.as_bytes().chunks(1_000).map(|it| In::Chunk(it.to_vec())).collect();
        let messages: Vec<In> = std::iter::once(In::Header(header)).chain(chunks).collect();
        let messages =
            messages.into_iter().map(|message| ImportConversationRequest { message: Some(message) });
        self.conversations().import_conversation(stream::iter(messages)).await
    }

    async fn import(&self, header: ImportHeader, content: &Value) -> ImportConversationResponse {
        self.import_with(header, &content.to_string()).await.reply()
    }

    async fn refused(&self, header: ImportHeader, content: &str) -> Refused {
        self.import_with(header, content).await.refusal()
    }

    async fn export_with(&self, request: ExportConversationRequest) -> (String, ExportEnd) {
        let mut stream = self.conversations().export_conversation(request).await.reply();
        let (mut bytes, mut end) = (Vec::new(), None);
        while let Some(response) = stream.message().await.expect("the export goes on") {
            match response.message.expect("a message") {
                Out::Chunk(chunk) => bytes.extend(chunk),
                Out::End(last) => end = Some(last),
            }
        }
        (String::from_utf8(bytes).expect("UTF-8"), end.expect("an end"))
    }

    async fn export(&self, id: &str, format: ConversationFormat) -> Value {
        let request = ExportConversationRequest {
            conversation_id: id.to_owned(),
            format: format.into(),
            ..Default::default()
        };
        serde_json::from_str(&self.export_with(request).await.0).expect("JSON")
    }
}

fn named(id: &str) -> ImportHeader {
    ImportHeader { conversation_id: id.to_owned(), ..Default::default() }
}

fn only(response: &ImportConversationResponse) -> &ImportedConversation {
    assert_eq!(response.conversations.len(), 1);
    &response.conversations[0]
}

fn counts(conversation: &ImportedConversation) -> (i32, i32) {
    (conversation.utterance_count(), conversation.skipped_count())
}

fn turns(count: usize) -> Value {
    let turn = |number: usize| {
        [
            json!({"role": "user", "content": format!("question {number}")}),
            json!({"role": "assistant", "content": format!("answer {number}")}),
        ]
    };
    (1..=count).flat_map(turn).collect()
}

fn irregular() -> Value {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    json!({"id": "odd", "source": "a test", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "tool", "tool_call_id": "x", "content": "an orphan"},
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")], "stop": "toolUse"},
        {"role": "tool", "tool_call_id": "a", "content": ""},
        {"role": "user", "content": "never mind"},
    ]})
}

fn persisted() -> Value {
    json!({"conversations": [
        {"id": "conv-1", "startedAt": "2026-01-01T10:00:00.000Z", "endedAt": "2026-01-01T11:00:00.000Z",
            "title": "The first one", "summary": "They talked.", "messages": [
                {"id": "m1", "timestamp": "2026-01-01T10:00:00.000Z", "role": "user", "content": "Make a note"},
                {"id": "m2", "timestamp": "2026-01-01T10:00:05.000Z", "role": "assistant", "content": "Made.",
                    "toolsUsed": ["write_file"]}]},
        {"id": "conv-2", "startedAt": "2026-03-01T11:50:00.000Z", "endedAt": null, "title": null, "summary": null,
            "messages": [{"id": "m1", "timestamp": "2026-03-01T11:50:00.000Z", "role": "user", "content": "Hello"}]},
    ], "lastMigrated": "2026-02-01T00:00:00.000Z"})
}

on_each_store! {
    an_import_is_repeated_and_goes_on
    a_fork_is_exported_whole_and_imported_into_itself_once
}

#[tokio::test]
async fn what_goes_in_comes_out_beyond_the_window() {
    let session = Session::new().await;
    let messages = turns(1_200);
    let response = session.import(named("long"), &messages).await;
    assert_eq!(response.format(), ConversationFormat::OpenaiChat);
    assert_eq!(counts(only(&response)), (2_400, 0));
    let conversation = session.get("long").await;
    assert_eq!(conversation.utterance_count, Some(2_400));
    assert_eq!(conversation.revision, 3, "a commit for each thousand");
    let stored = session.stored_in("long").await;
    assert!(stored.iter().filter(|utterance| utterance.state() == UtteranceState::Live).count() <= 20);
    assert_eq!(session.export("long", ConversationFormat::OpenaiChat).await, messages);
}

#[tokio::test]
async fn an_import_is_repeated_and_goes_on() {
    let session = Session::new().await;
    session.import(named("chat"), &turns(300)).await;
    let again = session.import(named("chat"), &turns(300)).await;
    assert_eq!((counts(only(&again)), only(&again).revision()), ((0, 600), 1));
    session.forget_in("chat", "sequence:3", ForgetMode::Hard).await;
    let more = session.import(named("chat"), &turns(301)).await;
    assert_eq!(counts(only(&more)), (2, 600), "what was forgotten does not come back");
    assert!(!only(&more).started);
}

#[tokio::test]
async fn what_is_irregular_is_kept_reported_and_repaired_for_others() {
    let session = Session::new().await;
    let file = irregular();
    let response = session.import(ImportHeader::default(), &file).await;
    let conversation = only(&response);
    assert_eq!(conversation.conversation_id, "odd");
    let places: Vec<_> = conversation.irregularities.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(places, ["messages[1]"]);
    assert_eq!(session.export("odd", ConversationFormat::OpenaiChat).await, file);
    let request = ExportConversationRequest {
        conversation_id: "odd".into(),
        format: ConversationFormat::AnthropicMessages.into(),
        close_unanswered_calls: true,
        ..Default::default()
    };
    let (text, end) = session.export_with(request).await;
    assert!(!text.contains("an orphan") && text.contains("[no result: "), "{text}");
    let lost: Vec<_> = end.losses.iter().map(|loss| loss.field.as_str()).collect();
    for field in ["content", "tool_calls", "extras_json.openai_chat"] {
        assert!(lost.contains(&field), "{lost:?}");
    }
    let strict = ImportHeader { strict: true, ..named("strict") };
    session.refused(strict, &file.to_string()).await.is(Code::FailedPrecondition, "NO_OPEN_CALL");
}

#[tokio::test]
async fn persisted_conversations_are_what_they_were() {
    let session = Session::new().await;
    let file = persisted();
    let header = ImportHeader { recipient_id: "alice".into(), ..Default::default() };
    let response = session.import(header.clone(), &file).await;
    let ended: Vec<_> = response.conversations.iter().map(|it| it.ended).collect();
    assert_eq!(ended, [true, false]);
    let first = session.get("conv-1").await;
    assert_eq!(first.status(), ConversationStatus::Closed);
    assert_eq!((first.title.as_str(), first.closing_summary.as_str()), ("The first one", "They talked."));
    assert_eq!(first.start_time.map(|time| time.seconds), Some(1_767_261_600));
    assert_eq!(first.end_time.map(|time| time.seconds), Some(1_767_265_200));
    let stored = session.stored_in("conv-1").await;
    assert_eq!((stored[1].utterance_id.as_str(), stored[1].tools_used.len()), ("m2", 1));
    assert_eq!(stored[1].create_time.map(|time| time.seconds), Some(1_767_261_605));
    let second = session.get("conv-2").await;
    assert!(second.active, "the one that goes on is the recipient's");

    let all = ExportConversationRequest {
        recipient_id: "alice".into(),
        all_conversations: true,
        format: ConversationFormat::PersistedConversations.into(),
        ..Default::default()
    };
    let (text, end) = session.export_with(all).await;
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), file);
    assert_eq!((end.conversation_count, end.losses), (Some(2), Vec::new()));
    let again = session.import(header, &file).await;
    assert_eq!(again.conversations.iter().map(counts).collect::<Vec<_>>(), [(0, 2), (0, 1)]);
}

#[tokio::test]
async fn an_imported_conversation_is_left_by_the_times_of_its_source() {
    let session = Session::new().await;
    let mut file = persisted();
    file["conversations"][1]["messages"][0]["timestamp"] = "2026-02-01T11:50:00.000Z".into();
    session.import(ImportHeader::default(), &file).await;
    let said = session.say(vec![user("hi")]).await;
    assert_eq!(said.ended_conversation_id, "conv-2");
}

#[tokio::test]
async fn a_legacy_history_migrates_once() {
    let session = Session::new().await;
    let entry = |id: &str| {
        json!({"id": id, "timestamp": "2025-03-01T10:00:00Z", "userMessage": format!("question {id}"),
        "assistantResponse": "an answer", "toolsUsed": ["find"], "source": "direct"})
    };
    let summary = json!({"startDate": "2024-01-01", "endDate": "2024-12-31", "summary": "They met.", "conversationCount": 7});
    let history = |entries: &[&str]| {
        json!({"recentConversations": entries.iter().map(|id| entry(id)).collect::<Vec<_>>(),
        "summaries": [summary], "lastSummarized": "2024-12-31"})
    };
    let header = ImportHeader { recipient_id: "alice".into(), ..Default::default() };
    let response = session.import(header.clone(), &history(&["1", "2"])).await;
    assert_eq!(response.format(), ConversationFormat::LegacyHistory);
    let migrated = only(&response);
    assert_eq!((migrated.conversation_id.as_str(), counts(migrated)), ("migrated-alice", (4, 0)));
    assert_eq!((migrated.ended, migrated.summary_count()), (true, 1));
    let conversation = session.get("migrated-alice").await;
    assert_eq!(conversation.title, "Migrated Conversation History");
    assert_eq!((conversation.status(), conversation.active), (ConversationStatus::Closed, false));
    assert_eq!(conversation.labels["last_migrated"], "2026-03-01T12:00:00.000Z");
    assert_eq!(conversation.labels["last_summarized"], "2024-12-31T00:00:00.000Z");
    assert_eq!(conversation.start_time.map(|time| time.seconds), Some(1_704_067_200));
    session.clock.advance(std::time::Duration::from_secs(60));
    let again = session.import(header.clone(), &history(&["1", "2"])).await;
    assert_eq!((counts(only(&again)), only(&again).revision(), only(&again).summary_count()), ((0, 4), 1, 0));
    let later = session.import(header, &history(&["2", "3"])).await;
    assert_eq!((counts(only(&later)), only(&later).ended), ((2, 2), true));
    let conversation = session.get("migrated-alice").await;
    assert_eq!(conversation.labels["last_migrated"], "2026-03-01T12:01:00.000Z");
    assert_eq!(session.imported("migrated-alice").await.len(), 1, "summaries come once");
}

impl Session {
    /// The imported segments of a conversation's summary.
    async fn imported(&self, id: &str) -> Vec<Segment> {
        let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
        let summary = self.conversations().get_summary(request).await.reply();
        summary.segments.into_iter().filter(|it| it.method() == SummaryMethod::Imported).collect()
    }
}

fn summarised() -> Value {
    let summary = |month: u32, text: &str| {
        json!({"startDate": format!("2024-{month:02}-01"), "endDate": format!("2024-{month:02}-28"),
        "summary": text, "conversationCount": month})
    };
    json!({"recentConversations": [], "lastSummarized": "2024-03-01",
        "summaries": [summary(1, "They met. The code is zanzibar."), summary(2, "They parted.")]})
}

#[tokio::test]
async fn summaries_of_a_history_are_segments_and_are_rendered() {
    let session = Session::new().await;
    let response = session.import(named("old"), &summarised()).await;
    assert_eq!((only(&response).started, only(&response).summary_count()), (true, 2));
    let imported = session.imported("old").await;
    assert_eq!(imported[0].text, "2024-01-01 to 2024-01-28: They met.\nThe code is zanzibar.\n");
    assert!(imported[0].covers.is_empty());
    let period = imported[1].imported.as_ref().expect("a period");
    assert_eq!(period.start_time.map(|time| time.seconds), Some(1_706_745_600));
    assert_eq!(period.conversation_count, Some(2));
    let request = BuildContextRequest { conversation_id: "old".into(), ..Default::default() };
    let context = session.context().build_context(request).await.reply();
    assert!(context.messages_json.contains("They parted."), "{}", context.messages_json);
    let request = ExportConversationRequest { conversation_id: "old".into(), ..Default::default() };
    let (_, end) = session.export_with(request).await;
    assert_eq!(end.losses.iter().map(|loss| loss.field.as_str()).collect::<Vec<_>>(), ["title", "summaries"]);
}

#[tokio::test]
async fn a_hard_forget_reaches_what_was_imported_in_forks_too() {
    let session = Session::new().await;
    let mut history = summarised();
    let entry =
        |id: &str| json!({"id": id, "userMessage": "hi", "assistantResponse": "hello", "toolsUsed": []});
    history["recentConversations"] = json!([entry("1")]);
    session.import(named("old"), &history).await;
    let fork = ForkConversationRequest {
        conversation_id: "old".into(),
        new_conversation_id: "fork".into(),
        ..Default::default()
    };
    session.conversations().fork_conversation(fork).await.reply();
    assert_eq!(session.imported("fork").await.len(), 2);
    session.forget_in("old", "all", ForgetMode::Soft).await;
    assert_eq!(session.imported("old").await.len(), 2, "a soft forget destroys nothing");
    let response = session.forget_in("old", "about:zanzibar", ForgetMode::Hard).await;
    assert_eq!(response.rebuilt_segments(), 1);
    for id in ["old", "fork"] {
        let texts: String = session.imported(id).await.iter().map(|segment| segment.text.clone()).collect();
        assert_eq!(texts, "2024-01-01 to 2024-01-28: They met.\n2024-02-01 to 2024-02-28: They parted.\n");
    }
    session.forget_in("old", "all", ForgetMode::Hard).await;
    assert_eq!((session.imported("old").await, session.imported("fork").await), (vec![], vec![]));
}

/// What an old history's summaries still tell goes out with the conversation, and comes back the same.
#[tokio::test]
async fn imported_summaries_are_exported_with_persisted_conversations() {
    let session = Session::new().await;
    session.import(named("old"), &summarised()).await;
    let exported = session.export("old", ConversationFormat::PersistedConversations).await;
    let request = ExportConversationRequest {
        conversation_id: "old".into(),
        format: ConversationFormat::PersistedConversations.into(),
        ..Default::default()
    };
    let losses = session.export_with(request).await.1.losses;
    assert!(losses.iter().all(|loss| loss.field != "summaries"), "{losses:?}");
    let elsewhere = Session::new().await;
    let response = elsewhere.import(ImportHeader::default(), &exported).await;
    assert_eq!(only(&response).summary_count(), 2);
    let told = |segments: Vec<Segment>| -> Vec<_> {
        segments.into_iter().map(|segment| (segment.text, segment.imported)).collect()
    };
    assert_eq!(told(elsewhere.imported("old").await), told(session.imported("old").await));
    assert_eq!(elsewhere.export("old", ConversationFormat::PersistedConversations).await, exported);
    session.forget_in("old", "about:zanzibar", ForgetMode::Hard).await;
    let exported = session.export("old", ConversationFormat::PersistedConversations).await;
    assert!(!exported.to_string().contains("zanzibar"), "{exported}");
    let wrong = json!({"conversations": [{"messages": [], "utterdSummaries": [{"summary": "They met."}]}]});
    let refused = session.refused(ImportHeader::default(), &wrong.to_string()).await;
    refused.is(Code::InvalidArgument, "INVALID_FIELD").says("startDate");
}

#[tokio::test]
async fn several_conversations_are_lines() {
    let session = Session::new().await;
    let line = |id: &str| json!({"id": id, "messages": turns(1)});
    let file = format!("{}\n{}\n", line("a"), line("b"));
    let response = session.import_with(ImportHeader::default(), &file).await.reply();
    assert_eq!(response.conversations.len(), 2);
    let all = ExportConversationRequest { all_conversations: true, ..Default::default() };
    let (text, _) = session.export_with(all.clone()).await;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines, [line("a"), line("b")]);
    let document = ExportConversationRequest { layout: 1, ..all };
    let (text, _) = session.export_with(document).await;
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), json!([line("a"), line("b")]));
    let messages = ExportConversationRequest { conversation_id: "a".into(), layout: 2, ..Default::default() };
    assert_eq!(session.export_with(messages).await.0.lines().count(), 2);
}

#[tokio::test]
async fn nothing_is_stored_unless_all_is_accepted() {
    let settings = Settings { max_content_bytes: 1 << 20, ..Settings::default() };
    let session = Session::with(&settings).await;
    let before = session.cursor();
    let good = json!({"id": "good", "messages": turns(1)});
    let bad = json!({"id": "bad", "messages": [{"role": "user", "content": 3}]});
    let refused = session.refused(ImportHeader::default(), &format!("{good}\n{bad}")).await;
    refused.is(Code::InvalidArgument, "INVALID_FIELD");
    let large = json!({"id": "bad", "messages": [{"role": "user", "content": "x".repeat(2 << 20)}]});
    let refused = session.refused(ImportHeader::default(), &format!("{good}\n{large}")).await;
    refused.is(Code::InvalidArgument, "CONTENT_TOO_LARGE").limits_to(1 << 20);
    let twice = session.refused(ImportHeader::default(), &format!("{good}\n{good}")).await;
    twice.is(Code::InvalidArgument, "INVALID_ID");
    let check = ImportHeader { validate_only: true, ..Default::default() };
    let checked = session.import(check, &good).await;
    assert_eq!(
        (counts(only(&checked)), only(&checked).started, only(&checked).revision),
        ((2, 0), true, Some(0))
    );
    assert_eq!(session.cursor(), before, "nothing happened");
}

#[tokio::test]
async fn a_fork_is_exported_whole_and_imported_into_itself_once() {
    let session = Session::new().await;
    session.import(named("chat"), &turns(300)).await;
    let fork = ForkConversationRequest {
        conversation_id: "chat".into(),
        at_sequence: Some(100),
        new_conversation_id: "fork".into(),
        ..Default::default()
    };
    session.conversations().fork_conversation(fork).await.reply();
    assert_eq!(session.export("fork", ConversationFormat::OpenaiChat).await, turns(50));
    let persisted = session.export("fork", ConversationFormat::PersistedConversations).await;
    let again = ImportHeader { into_existing: true, ..ImportHeader::default() };
    let response = session.import(again, &persisted).await;
    assert_eq!(counts(only(&response)), (0, 100));
}

/// What does not fit in the response is counted.
#[tokio::test]
async fn a_response_to_an_import_can_be_read_however_much_there_is_to_say() {
    let session = Session::new().await;
    let check = || ImportHeader { validate_only: true, ..Default::default() };
    let empty: Vec<Value> = (0..20_000).map(|_| json!({"role": "user", "content": ""})).collect();
    let response = session.import(check(), &json!(empty)).await;
    let told = response.conversations[0].irregularities.len();
    assert!((1..20_000).contains(&told));
    assert_eq!(told + response.omitted_warning_count.unwrap() as usize, 20_000);
    assert_eq!(response.omitted_conversation_count, None);

    let conversation = |number| json!({"id": format!("{number:0>128}"), "messages": []});
    let many: Vec<Value> = (0..20_000).map(conversation).collect();
    let response = session.import(check(), &json!({"conversations": many})).await;
    let told = response.conversations.len();
    assert!((1..20_000).contains(&told));
    assert_eq!(told + response.omitted_conversation_count.unwrap() as usize, 20_000);
}

/// Messages of a few bytes take many times as much once parsed.
#[tokio::test]
async fn an_import_of_too_many_parts_is_refused() {
    let session = Session::new().await;
    let content = format!("[{}]", vec![r#"{"role":"user","content":"x"}"#; 60_000].join(","));
    let refused = session.refused(named("dense"), &content).await;
    refused.is(Code::InvalidArgument, "CONTENT_TOO_LARGE").says("import it in parts").limits_to(32 << 20);
    assert_eq!(counts(only(&session.import(named("half"), &turns(5_000)).await)), (10_000, 0));
}

/// A conversation's state values go with it, byte for byte, even if it has no utterances.
#[tokio::test]
async fn a_state_goes_with_its_conversation() {
    let session = Session::new().await;
    let kept = |name: &str, value| StateValue { name: name.to_owned(), value: Some(value), version: 1 };
    let values = [
        kept("blob", Kept::Data(vec![0, 255, 10])),
        kept("empty", Kept::Data(Vec::new())),
        kept("plan", Kept::Json("{ \"half\": \"\\ud800\", \"large\": 1e400 }".to_owned())),
    ];
    let state = Some(StateChange { set: values.to_vec(), ..Default::default() });
    let request = MemorizeRequest {
        conversation_id: "talk".to_owned(),
        utterances: vec![user("hello")],
        state: state.clone(),
        recipient_state: state,
        ..Default::default()
    };
    session.memory().memorize(request).await.reply();
    let exported = session.export("talk", ConversationFormat::PersistedConversations).await;
    assert_eq!(exported["conversations"][0]["utterdState"][0], json!({"name": "blob", "data": "AP8K"}));
    let header = |id: &str| ImportHeader { conversation_id: id.to_owned(), ..Default::default() };
    session.import(header("copy"), &exported).await;
    let state = async |id: &str| {
        let request = GetStateRequest { conversation_id: id.to_owned(), ..Default::default() };
        session.conversations().get_state(request).await.reply().values
    };
    assert_eq!(state("copy").await, values);
    let changed = UpdateStateRequest {
        conversation_id: "copy".to_owned(),
        change: Some(StateChange {
            delete: vec!["blob".to_owned(), "empty".to_owned()],
            ..Default::default()
        }),
        ..Default::default()
    };
    session.conversations().update_state(changed).await.reply();
    session.import(header("copy"), &exported).await;
    assert_eq!(state("copy").await, values[2..], "what has changed since stays");
    let again = session.export("copy", ConversationFormat::PersistedConversations).await;
    assert_eq!(again["conversations"][0]["utterdState"].as_array().map(Vec::len), Some(1));
    for (value, says) in [
        (json!({}), "accepted: an array of values"),
        (json!([{"name": "a"}]), "does not have exactly one of json and data"),
        (json!([{"name": "a", "json": "{"}]), "is not JSON"),
        (json!([{"name": "a", "data": "?"}]), "is not base64"),
        (json!([{"name": "", "json": "1"}]), "has a name of 0 bytes"),
    ] {
        let mut file = exported.clone();
        file["conversations"][0]["utterdState"] = value;
        let refused = session.refused(header("bad"), &file.to_string()).await;
        refused.is(Code::InvalidArgument, "INVALID_FIELD").says(says);
    }
}
