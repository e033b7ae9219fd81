//! Messages in a provider's format: stored, listed one by one as they came, popped from the end, and
//! replaced.

use tonic::Code;
use utterd::proto::{
    BuildContextRequest, ContextFormat, ConversationFormat, ForgetMode, ForgetRequest, ForgetResponse,
    ForgetSelector, ForkConversationRequest, ListMessagesRequest, ListMessagesResponse, ListOrder,
    MemorizeRequest, MemorizeResponse, MemorizeStreamRequest, Message, Policy, PolicyPreset, Role,
    SequenceRange, UtteranceState, memorize_stream_response::Result as Outcome,
};

use crate::support::{
    refusal::Refused,
    session::{Reply, Session, sequences, user},
};

/// Chat messages as different programs write them, with an exchange with two calls.
const CHAT: [&str; 7] = [
    r#"{"role":"system","content":"Be brief."}"#,
    r#"{"role": "user", "content": "Compare the weather in Oslo and in Bergen, please."}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"o","type":"function","function":{"name":"weather","arguments":"{\"in\":\"Oslo\"}"}},{"id":"b","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"o","content":"\u00b15\u00b0"}"#,
    r#"{"role":"tool","tool_call_id":"b","content":"rain","x-own":[1e400,"\ud83d"]}"#,
    r#"{"role":"assistant","content":"Oslo is dry."}"#,
    r#"{"role":"user","content":"Thanks."}"#,
];

/// Two calls, and one message with both results and a text.
const BLOCKS: [&str; 3] = [
    r#"{"role":"user","content":"go"}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"find","input":{}},{"type":"tool_use","id":"b","name":"find","input":{}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"},{"type":"tool_result","tool_use_id":"b","content":"found, too"},{"type":"text","text":"go on"}]}"#,
];

fn array(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

fn messages(messages: &[&str]) -> MemorizeRequest {
    MemorizeRequest { messages_json: array(messages), ..Default::default() }
}

fn behind(after: i64, list: &[&str]) -> MemorizeRequest {
    let messages_json = if list.is_empty() { String::new() } else { array(list) };
    MemorizeRequest { messages_json, replace_after: Some(after), ..Default::default() }
}

fn pop(count: i32) -> ForgetRequest {
    ForgetRequest {
        selector: Some(ForgetSelector { newest_messages: Some(count), ..Default::default() }),
        mode: ForgetMode::Hard.into(),
        exact: true,
        return_messages: true,
        ..Default::default()
    }
}

fn json(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.message_json.as_str()).collect()
}

impl Session {
    async fn bring(&self, request: MemorizeRequest) -> MemorizeResponse {
        self.memory().memorize(request).await.reply()
    }

    /// All pages of a list.
    async fn messages(&self, mut request: ListMessagesRequest) -> Vec<Message> {
        let mut all = Vec::new();
        loop {
            let page = self.page_of_messages(request.clone()).await;
            all.extend(page.messages);
            if page.next_page_token.is_empty() {
                return all;
            }
            request.page_token = page.next_page_token;
        }
    }

    async fn page_of_messages(&self, request: ListMessagesRequest) -> ListMessagesResponse {
        self.conversations().list_messages(request).await.reply()
    }

    async fn pop(&self, count: i32) -> ForgetResponse {
        self.memory().forget(pop(count)).await.reply()
    }

    /// Without limits, so that nothing leaves.
    async fn unlimited() -> Self {
        let session = Self::new().await;
        session.create_with(Policy { preset: PolicyPreset::Session.into(), ..Default::default() }).await;
        session
    }
}

#[tokio::test]
async fn what_comes_in_goes_out() {
    let session = Session::new().await;
    let stored = session.bring(messages(&CHAT)).await;
    assert_eq!(stored.memorized.len(), CHAT.len());
    let page = session.page_of_messages(ListMessagesRequest::default()).await;
    assert_eq!(json(&page.messages), CHAT);
    assert_eq!((page.revision, page.conversation_id), (stored.revision, stored.conversation_id));
    let first = &page.messages[0];
    assert_eq!((first.sequence, first.utterance_count, first.role()), (1, Some(1), Role::System));
    assert_eq!(first.format(), ConversationFormat::OpenaiChat);
    session.bring(messages(&BLOCKS)).await;
    let both = session.messages(ListMessagesRequest::default()).await;
    assert_eq!(json(&both), [&CHAT[..], &BLOCKS].concat());
    assert_eq!(both.last().map(|last| (last.sequence, last.utterance_count)), Some((10, Some(3))));
}

#[tokio::test]
async fn of_a_recipient_without_a_conversation_nothing_is_listed() {
    let session = Session::new().await;
    let page = session.page_of_messages(ListMessagesRequest::default()).await;
    assert_eq!(page, ListMessagesResponse::default());
    let unknown = ListMessagesRequest { conversation_id: "who".to_owned(), ..Default::default() };
    let refused = session.conversations().list_messages(unknown).await.unwrap_err();
    Refused::new(refused).is(Code::NotFound, "CONVERSATION_NOT_FOUND");
}

/// Every filter and page size of every list, with most of it in the archive.
#[tokio::test]
async fn pages_cover_every_list_once() {
    let session = Session::new().await;
    for _ in 0..4 {
        session.bring(messages(&CHAT)).await;
        session.bring(messages(&BLOCKS)).await;
    }
    let all = session.messages(ListMessagesRequest::default()).await;
    assert_eq!(all.len(), 40);
    assert!(session.capacity().await.archived_utterance_count > Some(10));
    let ids: Vec<String> =
        [3, 12, 39].into_iter().map(|place: usize| all[place].utterance_id.clone()).collect();
    let lists = [
        ListMessagesRequest::default(),
        ListMessagesRequest { last: Some(7), ..Default::default() },
        ListMessagesRequest { after_sequence: Some(11), ..Default::default() },
        ListMessagesRequest { before_sequence: Some(12), ..Default::default() },
        ListMessagesRequest {
            after_sequence: Some(4),
            before_sequence: Some(40),
            last: Some(9),
            ..Default::default()
        },
        ListMessagesRequest { roles: vec![Role::Tool.into(), Role::System.into()], ..Default::default() },
        ListMessagesRequest { roles: vec![Role::User.into()], last: Some(3), skip: 1, ..Default::default() },
        ListMessagesRequest { utterance_ids: ids.clone(), ..Default::default() },
        ListMessagesRequest { skip: 5, ..Default::default() },
    ];
    for list in lists {
        for order in [ListOrder::OldestFirst, ListOrder::NewestFirst] {
            let mut wanted: Vec<_> = all
                .iter()
                .filter(|one| list.after_sequence.is_none_or(|after| one.sequence > after))
                .filter(|one| list.before_sequence.is_none_or(|before| one.sequence < before))
                .filter(|one| list.roles.is_empty() || list.roles.contains(&one.role))
                .filter(|one| list.utterance_ids.is_empty() || list.utterance_ids.contains(&one.utterance_id))
                .cloned()
                .collect();
            if let Some(last) = list.last {
                wanted.drain(..wanted.len().saturating_sub(last as usize));
            }
            if order == ListOrder::NewestFirst {
                wanted.reverse();
            }
            wanted.drain(..wanted.len().min(list.skip as usize));
            for page_size in [0, 1, 3, 1_000] {
                let list = ListMessagesRequest { order: order.into(), page_size, ..list.clone() };
                assert_eq!(json(&session.messages(list.clone()).await), json(&wanted), "{list:?}");
            }
        }
    }
}

#[tokio::test]
async fn in_another_format_the_same_is_said() {
    let session = Session::new().await;
    session.bring(messages(&BLOCKS)).await;
    let list =
        |format: ConversationFormat| ListMessagesRequest { format: format.into(), ..Default::default() };
    let chat = session.messages(list(ConversationFormat::OpenaiChat)).await;
    assert_eq!(chat.len(), 5, "a message of Anthropic's holds two results and a text");
    assert_eq!(chat[2].message_json, r#"{"role":"tool","content":"found","tool_call_id":"a"}"#);
    let items = session.messages(list(ConversationFormat::OpenaiResponses)).await;
    assert_eq!(items.len(), 6);
    assert!(items[1].sequence == items[2].sequence, "one utterance makes two calls");
}

/// The last messages are popped first, until nothing is left: in the window and in the archive.
#[tokio::test]
async fn what_is_popped_is_what_came_last() {
    for session in [Session::new().await, Session::unlimited().await] {
        let mut list: Vec<&str> = Vec::new();
        for _ in 0..4 {
            session.bring(messages(&CHAT)).await;
            session.bring(messages(&BLOCKS)).await;
            list.extend([&CHAT[..], &BLOCKS].concat());
        }
        while let Some(last) = list.pop() {
            let popped = session.pop(1).await;
            assert_eq!(json(&popped.messages), [last]);
            assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), list);
        }
        let nothing = session.pop(1).await;
        assert_eq!((nothing.messages.len(), nothing.warnings.len()), (0, 1));
    }
}

#[tokio::test]
async fn a_call_whose_result_is_popped_waits_again() {
    let session = Session::new().await;
    session.bring(messages(&CHAT[..5])).await;
    session.pop(1).await;
    let other = r#"{"role":"tool","tool_call_id":"b","content":"sun"}"#;
    session.bring(messages(&[other])).await;
    let context = session.context().build_context(BuildContextRequest::default()).await.reply();
    assert!(context.messages_json.contains("sun") && !context.messages_json.contains("rain"));
    session.pop(2).await;
    let refused = session.memory().memorize(messages(&[CHAT[3], CHAT[3]])).await.unwrap_err();
    Refused::new(refused)
        .is(Code::FailedPrecondition, "NO_OPEN_CALL")
        .blames("messages_json[1].tool_call_id");
}

#[tokio::test]
async fn what_stands_behind_a_point_is_replaced_in_one_commit() {
    let session = Session::new().await;
    let stored = session.bring(messages(&CHAT)).await;
    let stale = MemorizeRequest { expected_revision: Some(stored.revision + 1), ..behind(2, &BLOCKS) };
    let refused = session.memory().memorize(stale).await.unwrap_err();
    Refused::new(refused).is(Code::Aborted, "STALE_REVISION");
    let wrong = session.memory().memorize(behind(2, &[CHAT[3]])).await.unwrap_err();
    Refused::new(wrong).is(Code::FailedPrecondition, "NO_OPEN_CALL");
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), CHAT);
    let replace = MemorizeRequest {
        expected_revision: Some(stored.revision),
        request_id: "once".to_owned(),
        ..behind(3, &[CHAT[4], CHAT[3]])
    };
    let replaced = session.bring(replace.clone()).await;
    assert_eq!(sequences(&replaced.removed), [4, 5, 6, 7]);
    assert_eq!(replaced.revision, stored.revision + 1);
    let wanted = [CHAT[0], CHAT[1], CHAT[2], CHAT[4], CHAT[3]];
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), wanted);
    let again = session.bring(replace).await;
    assert!(again.replayed && again.revision == replaced.revision);
    session.bring(behind(0, &[])).await;
    assert_eq!(session.messages(ListMessagesRequest::default()).await, []);
}

#[tokio::test]
async fn what_is_replaced_may_start_a_conversation() {
    let session = Session::new().await;
    let by_id = MemorizeRequest { conversation_id: "new".to_owned(), ..behind(7, &CHAT) };
    assert!(session.bring(by_id.clone()).await.started_conversation);
    let other = MemorizeRequest { conversation_id: "other".to_owned(), expected_revision: Some(3), ..by_id };
    let refused = session.memory().memorize(other).await.unwrap_err();
    Refused::new(refused).is(Code::Aborted, "STALE_REVISION");
    assert!(session.bring(behind(0, &CHAT)).await.started_conversation, "a recipient's");
    assert!(!session.bring(behind(0, &CHAT)).await.started_conversation);
}

/// A fork loses what is replaced or popped in its parent, and nothing else.
#[tokio::test]
async fn what_forks_share_is_gone_from_them_too() {
    let session = Session::unlimited().await;
    session.bring(messages(&CHAT)).await;
    let fork = session.conversations().fork_conversation(ForkConversationRequest::default()).await.reply();
    let fork = fork.conversation.unwrap_or_default().conversation_id;
    let list = ListMessagesRequest { conversation_id: fork.clone(), ..Default::default() };
    let of_fork = MemorizeRequest { conversation_id: fork.clone(), ..messages(&[CHAT[1]]) };
    session.bring(of_fork).await;
    session.pop(3).await;
    let left = [&CHAT[..4], &[CHAT[1]]].concat();
    assert_eq!(json(&session.messages(list.clone()).await), left);
    let late = MemorizeRequest { conversation_id: fork, ..messages(&[CHAT[4]]) };
    session.bring(late).await;
    session.bring(messages(&[CHAT[4]])).await;
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), CHAT[..5]);
    session.bring(behind(1, &BLOCKS)).await;
    assert_eq!(json(&session.messages(list).await), [CHAT[0], CHAT[1], CHAT[4]]);
}

#[tokio::test]
async fn what_has_an_id_is_replaced_in_its_place() {
    let session = Session::new().await;
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    let brought = MemorizeRequest { message_ids: ids(&["one", ""]), ..messages(&CHAT[..2]) };
    session.bring(brought).await;
    let twice = MemorizeRequest { message_ids: ids(&["one"]), ..messages(&[CHAT[6]]) };
    let refused = session.memory().memorize(twice.clone()).await.unwrap_err();
    Refused::new(refused).is(Code::AlreadyExists, "UTTERANCE_EXISTS").blames("message_ids[0]");
    session.bring(MemorizeRequest { upsert: true, ..twice }).await;
    let added = MemorizeRequest { message_ids: ids(&["two"]), upsert: true, ..messages(&[CHAT[5]]) };
    session.bring(added).await;
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), [CHAT[6], CHAT[1], CHAT[5]]);
    let named = ListMessagesRequest { utterance_ids: ids(&["one", "two"]), ..Default::default() };
    assert_eq!(json(&session.messages(named).await), [CHAT[6], CHAT[5]]);
}

#[tokio::test]
async fn exactly_what_is_named_is_forgotten() {
    let session = Session::unlimited().await;
    session.bring(messages(&CHAT)).await;
    let id = session.id_of(6).await;
    let range = |first, last| SequenceRange { first, last };
    let selector = ForgetSelector {
        utterance_ids: vec![id, "who".to_owned()],
        sequences: vec![range(4, 4), range(90, 99)],
        newest_messages: Some(1),
    };
    let exact = ForgetRequest {
        selector: Some(selector.clone()),
        mode: ForgetMode::Hard.into(),
        exact: true,
        return_messages: true,
        ..Default::default()
    };
    let dry = session.memory().forget(ForgetRequest { dry_run: true, ..exact.clone() }).await.reply();
    assert_eq!(json(&dry.messages), [CHAT[3], CHAT[5], CHAT[6]]);
    assert_eq!(dry.understood_as, "sequence:4,6-7");
    let gone = session.memory().forget(exact).await.reply();
    assert_eq!(sequences(&gone.forgotten), [4, 6, 7]);
    let left = [CHAT[0], CHAT[1], CHAT[2], CHAT[4]];
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), left);
    let whole = ForgetSelector { sequences: vec![range(5, 5)], ..Default::default() };
    let soft = ForgetRequest { selector: Some(whole), ..Default::default() };
    let gone = session.memory().forget(soft).await.reply();
    assert_eq!(sequences(&gone.forgotten), [3, 5], "the exchange is forgotten whole");
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), CHAT[..2]);
}

/// Forgotten messages are returned as they were: in the window, or in the archive.
#[tokio::test]
async fn what_is_popped_is_told_where_it_stood() {
    let session = Session::new().await;
    for _ in 0..4 {
        session.bring(messages(&CHAT)).await;
    }
    let listed = session.messages(ListMessagesRequest::default()).await;
    let dry = session.memory().forget(ForgetRequest { dry_run: true, ..pop(28) }).await.reply();
    assert_eq!(dry.messages, listed);
    let popped = session.pop(28).await.messages;
    assert_eq!(popped, listed);
    let states = |state| popped.iter().filter(|message| message.state() == state).count();
    assert!(states(UtteranceState::Live) > 0 && states(UtteranceState::Evicted) > 0);
}

#[tokio::test]
async fn a_context_can_be_stored_as_it_is() {
    for format in [ContextFormat::OpenaiChat, ContextFormat::AnthropicMessages] {
        let session = Session::new().await;
        session.bring(messages(&CHAT)).await;
        session.bring(messages(&CHAT)).await;
        session.bring(messages(&CHAT)).await;
        let build = BuildContextRequest { format: format.into(), ..Default::default() };
        let context = session.context().build_context(build).await.reply();
        let again = MemorizeRequest {
            conversation_id: "again".to_owned(),
            messages_json: context.messages_json.clone(),
            ..Default::default()
        };
        session.bring(again).await;
        let list = ListMessagesRequest { conversation_id: "again".to_owned(), ..Default::default() };
        let messages = session.messages(list).await;
        for message in json(&messages).into_iter().skip(1) {
            assert!(context.messages_json.contains(message), "{message}");
        }
    }
}

#[tokio::test]
async fn a_stream_takes_messages_and_replaces_nothing() {
    let session = Session::new().await;
    let requests = [messages(&CHAT), messages(&[CHAT[3]]), behind(1, &[]), messages(&BLOCKS)];
    let requests =
        requests.map(|request| MemorizeStreamRequest { memorize: Some(request), ..Default::default() });
    let mut answers =
        session.memory().memorize_stream(tokio_stream::iter(requests)).await.unwrap().into_inner();
    let mut told = Vec::new();
    while let Some(answer) = answers.message().await.unwrap() {
        told.push(match answer.result.unwrap() {
            Outcome::Memorized(response) => response.memorized.len().to_string(),
            Outcome::Error(status) => status.message,
        });
    }
    assert_eq!((told[0].as_str(), told[3].as_str()), ("7", "5"));
    assert!(told[1].starts_with("messages_json[0].tool_call_id: "), "{}", told[1]);
    assert!(told[2].starts_with("replace_after: is accepted only with Memorize"), "{}", told[2]);
}

#[tokio::test]
async fn what_does_not_fit_together_is_refused() {
    let session = Session::new().await;
    session.bring(messages(&CHAT)).await;
    let both = MemorizeRequest { utterances: vec![user("hi")], ..messages(&CHAT) };
    let few = MemorizeRequest { message_ids: vec!["a".to_owned()], ..messages(&CHAT) };
    let persisted = ConversationFormat::PersistedConversations.into();
    for (request, field) in [
        (both, "utterances"),
        (few, "message_ids"),
        (MemorizeRequest { format: persisted, ..messages(&CHAT) }, "format"),
        (MemorizeRequest { format: 1, utterances: vec![user("hi")], ..Default::default() }, "format"),
        (behind(-1, &CHAT), "replace_after"),
        (messages(&["{}"]), "messages_json"),
        (messages(&[]), "messages_json"),
    ] {
        let refused = session.memory().memorize(request).await.unwrap_err();
        assert_eq!(Refused::new(refused).blames(field).code(), Code::InvalidArgument);
    }
    let selector = |selector| ForgetRequest { selector: Some(selector), ..Default::default() };
    let newest = || ForgetSelector { newest_messages: Some(1), ..Default::default() };
    let backwards = vec![SequenceRange { first: 3, last: 2 }];
    for (request, field) in [
        (selector(ForgetSelector::default()), "selector"),
        (ForgetRequest { instructions: "all".to_owned(), ..selector(newest()) }, "selector"),
        (ForgetRequest { exact: true, ..selector(newest()) }, "exact"),
        (
            ForgetRequest { exact: true, instructions: "all".to_owned(), mode: 2, ..Default::default() },
            "exact",
        ),
        (
            selector(ForgetSelector { newest_messages: Some(0), ..Default::default() }),
            "selector.newest_messages",
        ),
        (selector(ForgetSelector { sequences: backwards, ..Default::default() }), "selector.sequences[0]"),
        (ForgetRequest { format: 1, ..selector(newest()) }, "format"),
    ] {
        let refused = session.memory().forget(request).await.unwrap_err();
        assert_eq!(Refused::new(refused).blames(field).code(), Code::InvalidArgument);
    }
    for (request, field) in [
        (ListMessagesRequest { format: persisted, ..Default::default() }, "format"),
        (ListMessagesRequest { last: Some(0), ..Default::default() }, "last"),
        (ListMessagesRequest { after_sequence: Some(-1), ..Default::default() }, "after_sequence"),
        (ListMessagesRequest { before_sequence: Some(0), ..Default::default() }, "before_sequence"),
        (ListMessagesRequest { skip: -1, ..Default::default() }, "skip"),
        (ListMessagesRequest { roles: vec![9], ..Default::default() }, "roles[0]"),
    ] {
        let refused = session.conversations().list_messages(request).await.unwrap_err();
        assert_eq!(Refused::new(refused).blames(field).code(), Code::InvalidArgument);
    }
    assert_eq!(json(&session.messages(ListMessagesRequest::default()).await), CHAT);
}
