//! Content that is more than text goes out to a model as it came.

use serde_json::{Value, json};
use utterd::proto::{
    BuildContextRequest, BuildContextResponse, ContextFormat, EditMode, MemorizeRequest, NewUtterance,
    Policy, PolicyPreset, RenderedAs, UpdateUtteranceRequest, WarningKind,
};

use crate::support::session::{Reply, Session, user};

impl Session {
    async fn of_messages(messages: &Value) -> Self {
        let session = Self::new().await;
        session.create_with(Policy { preset: PolicyPreset::Session.into(), ..Default::default() }).await;
        session.bring_all(messages).await;
        session
    }

    async fn bring_all(&self, messages: &Value) {
        let request = MemorizeRequest { messages_json: messages.to_string(), ..Default::default() };
        self.memory().memorize(request).await.reply();
    }

    async fn context_in(&self, format: ContextFormat) -> BuildContextResponse {
        let request = BuildContextRequest { format: format.into(), ..Default::default() };
        self.context().build_context(request).await.reply()
    }

    async fn messages_in(&self, format: ContextFormat) -> Value {
        serde_json::from_str(&self.context_in(format).await.messages_json).unwrap()
    }
}

fn image(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}})
}

/// An image with a question, an image alone, and a refusal.
fn chat() -> Value {
    json!([
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image("https://example.org/a.png")]},
        {"role": "assistant", "content": "A pump."},
        {"role": "user", "content": [image("https://example.org/b.png")]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot tell who that is."}]},
    ])
}

/// Thinking before a call, whose result failed and contains an image.
fn blocks() -> Value {
    let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    json!([
        {"role": "user", "content": [
            {"type": "image", "source": source},
            {"type": "text", "text": "Compare it."}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "It needs the other one.", "signature": "c2lnbmVk"},
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "id": "toolu_1", "name": "camera", "input": {"at": "gate"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true,
                "content": [{"type": "text", "text": "blurred"}, {"type": "image", "source": source}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is blurred."}]},
    ])
}

#[tokio::test]
async fn chat_parts_come_back() {
    let session = Session::of_messages(&chat()).await;
    let context = session.context_in(ContextFormat::OpenaiChat).await;
    let messages: Value = serde_json::from_str(&context.messages_json).unwrap();
    assert_eq!(messages, chat());
    assert_eq!((context.omitted, context.warnings), (vec![], vec![]));
}

#[tokio::test]
async fn anthropic_blocks_come_back() {
    let session = Session::of_messages(&blocks()).await;
    assert_eq!(session.messages_in(ContextFormat::AnthropicMessages).await, blocks());
}

/// A request can only have a few of them.
#[tokio::test]
async fn marks_of_a_cache_are_not_taken_over() {
    let mut marked = blocks();
    marked[0]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    let session = Session::of_messages(&marked).await;
    assert_eq!(session.messages_in(ContextFormat::AnthropicMessages).await, blocks());
}

/// A duplicate id is also changed in calls and results with their own blocks.
#[tokio::test]
async fn ids_that_come_twice_are_changed_everywhere() {
    let session = Session::of_messages(&blocks()).await;
    session.bring_all(&blocks()).await;
    let messages = session.messages_in(ContextFormat::AnthropicMessages).await;
    let (call, result) = (&messages[5]["content"][2], &messages[6]["content"][0]);
    assert_eq!((&call["type"], &result["type"]), (&json!("tool_use"), &json!("tool_result")));
    assert_ne!(call["id"], "toolu_1");
    assert_eq!(call["id"], result["tool_use_id"]);
    assert_eq!(messages[5]["content"][0], blocks()[1]["content"][0]);
}

/// A picture's forms in the three formats.
const URL: &str = "data:image/png;base64,aGk=";

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn anthropics(source: Value) -> Value {
    json!({"type": "image", "source": source})
}

fn inline() -> Value {
    anthropics(json!({"type": "base64", "media_type": "image/png", "data": "aGk="}))
}

/// A picture with a question, a call whose result has a picture, and a picture alone.
fn items() -> Value {
    let image = |url: &str| json!({"type": "input_image", "image_url": url, "detail": "low"});
    json!([
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Compare it."}, image(URL)]},
        {"type": "function_call", "call_id": "call_1", "name": "camera", "arguments": "{\"at\":\"gate\"}"},
        {"type": "function_call_output", "call_id": "call_1", "output": [
            {"type": "input_text", "text": "blurred"}, image("https://example.org/gate.png")]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is blurred."}]},
        {"type": "message", "role": "user", "content": [image("https://example.org/b.png")]},
    ])
}

#[tokio::test]
async fn pictures_of_chat_messages_go_to_anthropic() {
    let session = Session::of_messages(&chat()).await;
    let at = |url: &str| anthropics(json!({"type": "url", "url": url}));
    let wanted = json!([
        {"role": "user", "content": [text("What is this?"), at("https://example.org/a.png")]},
        {"role": "assistant", "content": [text("A pump.")]},
        {"role": "user", "content": [at("https://example.org/b.png")]},
        {"role": "assistant", "content": [text("I cannot tell who that is.")]},
    ]);
    assert_eq!(session.messages_in(ContextFormat::AnthropicMessages).await, wanted);
}

/// Chat has no pictures in results; the texts of these go out.
#[tokio::test]
async fn pictures_of_anthropic_go_to_chat() {
    let session = Session::of_messages(&blocks()).await;
    let messages = session.messages_in(ContextFormat::OpenaiChat).await;
    let picture = json!({"type": "image_url", "image_url": {"url": URL}});
    assert_eq!(messages[0], json!({"role": "user", "content": [picture, text("Compare it.")]}));
    assert_eq!(messages[2], json!({"role": "tool", "content": "blurred", "tool_call_id": "toolu_1"}));
}

#[tokio::test]
async fn pictures_of_items_go_to_both() {
    let session = Session::of_messages(&items()).await;
    let chat = session.messages_in(ContextFormat::OpenaiChat).await;
    assert_eq!(chat[0], json!({"role": "user", "content": [text("Compare it."), image(URL)]}));
    assert_eq!(chat[2], json!({"role": "tool", "content": "blurred", "tool_call_id": "call_1"}));
    assert_eq!(chat[4], json!({"role": "user", "content": [image("https://example.org/b.png")]}));

    let at = |url: &str| anthropics(json!({"type": "url", "url": url}));
    let result = json!([text("blurred"), at("https://example.org/gate.png")]);
    let wanted = json!([
        {"role": "user", "content": [text("Compare it."), inline()]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "call_1", "name": "camera", "input": {"at": "gate"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": result}]},
        {"role": "assistant", "content": [text("It is blurred.")]},
        {"role": "user", "content": [at("https://example.org/b.png")]},
    ]);
    assert_eq!(session.messages_in(ContextFormat::AnthropicMessages).await, wanted);
    assert!(!session.context_in(ContextFormat::Text).await.text.contains("example.org"));
}

/// What only one provider can open, or refuses, is left out, and the rest goes out.
#[tokio::test]
async fn a_picture_that_cannot_be_translated_is_left_out() {
    let at = |url: &str| json!({"type": "input_image", "image_url": url});
    let of = |parts: &[Value]| json!([{"type": "message", "role": "user", "content": parts}]);
    let said = json!({"type": "input_text", "text": "See?"});
    let drawing = "data:image/svg+xml;base64,aGk=";
    let parts = [said.clone(), json!({"type": "input_image", "file_id": "file_1"}), at(drawing), at(URL)];
    let session = Session::of_messages(&of(&parts)).await;
    let chat = session.messages_in(ContextFormat::OpenaiChat).await;
    let plain = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    assert_eq!(chat[0]["content"], json!([text("See?"), plain(drawing), plain(URL)]));
    let anthropic = session.messages_in(ContextFormat::AnthropicMessages).await;
    assert_eq!(anthropic[0]["content"], json!([text("See?"), inline()]));

    let session = Session::of_messages(&of(&[said, at(drawing)])).await;
    let anthropic = session.messages_in(ContextFormat::AnthropicMessages).await;
    assert_eq!(anthropic[0]["content"], json!([text("See?")]));
}

#[tokio::test]
async fn an_edited_text_keeps_its_image() {
    let session = Session::of_messages(&chat()).await;
    let context = session.context_in(ContextFormat::OpenaiChat).await;
    let edit = UpdateUtteranceRequest {
        utterance_id: context.utterances[0].utterance_id.clone(),
        content: "Which pump is it?".to_owned(),
        update_mask: Some(prost_types::FieldMask { paths: vec!["content".to_owned()] }),
        edit_mode: EditMode::InPlace.into(),
        ..Default::default()
    };
    session.conversations().update_utterance(edit).await.reply();
    let messages = session.messages_in(ContextFormat::OpenaiChat).await;
    let mut wanted = chat();
    wanted[0]["content"][0]["text"] = "Which pump is it?".into();
    assert_eq!(messages, wanted);
}

/// The newest images go out as far as there is room; all texts stay.
#[tokio::test]
async fn many_large_images_are_left_out_with_a_warning() {
    let large = format!("data:image/png;base64,{}", "A".repeat(800 << 10));
    let message =
        |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}, image(&large)]});
    let session = Session::of_messages(&json!([message("one")])).await;
    for text in ["two", "three"] {
        session.bring_all(&json!([message(text)])).await;
    }
    let context = session.context_in(ContextFormat::OpenaiChat).await;
    let messages: Value = serde_json::from_str(&context.messages_json).unwrap();
    assert_eq!(messages, json!([{"role": "user", "content": "one"}, message("two"), message("three")]));
    let warnings: Vec<_> = context.warnings.iter().map(|warning| warning.kind()).collect();
    assert_eq!(warnings, [WarningKind::PartsLeftOut]);
}

/// Pictures count by the rule of the provider that gets them, and a budget holds with them: what does not fit has a
/// text in their place.
#[tokio::test]
async fn pictures_are_within_the_budget() {
    let picture = |detail: &str| json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": detail}});
    let said = |number: usize| {
        json!([
            {"role": "user", "content": [text(&format!("Page {number}")), picture("high")]},
            {"role": "assistant", "content": "Read."},
        ])
    };
    let session = Session::of_messages(&said(1)).await;
    for number in 2..=20 {
        session.bring_all(&said(number)).await;
    }
    session
        .bring_all(&json!([{"role": "user", "content": [picture("high"), picture("high"), picture("low")]}]))
        .await;
    let shown = async |format: ContextFormat, token_budget| {
        let request = BuildContextRequest { format: format.into(), token_budget, ..Default::default() };
        let context = session.context().build_context(request).await.reply();
        assert!(token_budget.is_none_or(|budget| context.token_count() <= budget));
        (context.messages_json.matches("example.org").count(), context)
    };
    for (format, each, last, newest) in [
        (ContextFormat::OpenaiChat, 765, 2 * 765 + 85, 2),
        (ContextFormat::AnthropicMessages, 1_399, 3 * 1_399, 0),
    ] {
        let (pictures, all) = shown(format, None).await;
        assert_eq!(pictures, 23);
        assert!(
            (20 * each + last..20 * each + last + 500).contains(&all.token_count()),
            "{}",
            all.token_count()
        );
        let (pictures, some) = shown(format, Some(8_000)).await;
        assert!(
            pictures >= 4 && some.token_count() > 765 * i32::try_from(pictures - 1).unwrap(),
            "{pictures}"
        );
        let (pictures, cut) = shown(format, Some(1_000)).await;
        assert_eq!(pictures, newest, "the oldest of the last message are left out first");
        assert_eq!(
            cut.messages_json.matches("[image left out]").count(),
            3 - newest,
            "{}",
            cut.messages_json
        );
        assert!(cut.warnings.iter().any(|warning| warning.kind() == WarningKind::MessagesTrimmed));
    }
}

/// Tokens declared for an image count if it goes out: Anthropic takes no SVG.
#[tokio::test]
async fn declared_tokens_count_with_their_image() {
    for (url, goes_to_anthropic) in
        [("https://example.org/a.png", true), ("data:image/svg+xml;base64,aGk=", false)]
    {
        let session = Session::of_messages(&json!([{"role": "user", "content": "Look."}])).await;
        let differs = json!({"set": {"content": [{"type": "text", "text": {"$": "content"}}, image(url)]}});
        let with_image = NewUtterance {
            content: "What is this?".to_owned(),
            extras_json: json!({"openai_chat": {"differs": differs}}).to_string(),
            extras_token_count: 90,
            ..user("")
        };
        let request = MemorizeRequest { utterances: vec![with_image], ..Default::default() };
        let stored = session.memory().memorize(request).await.reply();
        let chat = session.context_in(ContextFormat::OpenaiChat).await;
        let tokens = |context: &BuildContextResponse| context.utterances[1].token_count;
        assert_eq!(tokens(&chat), stored.memorized[0].token_count);
        assert!(chat.messages_json.contains(url), "{}", chat.messages_json);
        let anthropic = session.context_in(ContextFormat::AnthropicMessages).await;
        let left_out = if goes_to_anthropic { 0 } else { 90 };
        assert_eq!(tokens(&anthropic).map(|tokens| tokens + left_out), tokens(&chat));
    }
}

/// The URL of an old image has expired, and the provider refuses it.
#[tokio::test]
async fn images_of_older_turns_can_be_left_out() {
    let session = Session::of_messages(&chat()).await;
    session
        .bring_all(&json!([{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Bye."}]))
        .await;
    let mark = || text("[image left out]");
    for (turns, shown) in
        [(None, [true, true]), (Some(1), [false, true]), (Some(4), [true, true]), (Some(0), [false; 2])]
    {
        for format in [ContextFormat::OpenaiChat, ContextFormat::AnthropicMessages] {
            let request = BuildContextRequest {
                format: format.into(),
                mask_images_after_turns: turns,
                ..Default::default()
            };
            let context = session.context().build_context(request).await.reply();
            let messages: Value = serde_json::from_str(&context.messages_json).unwrap();
            for ((place, part), shown) in [(0, 1), (2, 0)].into_iter().zip(shown) {
                let image = &messages[place]["content"][part];
                assert_eq!(*image != mark(), shown, "{turns:?}: {image}");
                let utterance = &context.utterances[place];
                assert_eq!(utterance.rendered_as() == RenderedAs::Whole, shown, "{turns:?}: {utterance:?}");
                assert!(shown || utterance.token_count() < 20, "{utterance:?}");
            }
            assert_eq!(messages[0]["content"][0], text("What is this?"));
        }
    }
}
