//! Messages in a provider's format: stored, listed one by one as they came, popped from the end, and
//! replaced.

use crate::support::prelude::*;

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
