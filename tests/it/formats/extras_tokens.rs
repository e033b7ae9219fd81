//! Non-text content, such as an image, is kept with an utterance. Images count what their provider charges, and
//! everything else counts no tokens.

use serde_json::{Value, json};
use utterd::{
    domain::{Draft, TokenCounter},
    formats::{Format, UnknownRoles, parse},
};

/// Counts a token per byte.
struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.len()).expect("a text of a test")
    }
}

/// The bytes of an image in base 64: one that is 35,152 pixels wide, and very tall.
fn blob() -> String {
    "iVBORw0KGgoAAAANSUhEUgAA".repeat(4_000)
}

fn read(messages: &Value, format: Format) -> Vec<Draft> {
    let source =
        parse(messages.to_string().as_bytes(), Some(format), UnknownRoles::Refuse).expect("it is read");
    source.conversations.into_iter().flat_map(|one| one.said).map(|said| said.draft).collect()
}

/// Each message with parts costs its text and `images`, and keeps the rest.
fn costs(format: Format, with: &Value, text: &Value, images: &[u32]) {
    let (with, text) = (read(with, format), read(text, format));
    assert_eq!(with.len(), text.len(), "{format:?}");
    let mut kept = 0;
    for ((with, text), images) in with.iter().zip(&text).zip(images) {
        assert_eq!(with.tokens(&Bytes), text.tokens(&Bytes) + images, "{format:?}: {:?}", with.content);
        assert!(!with.counts_exactly(), "an image is an estimate");
        let more = with.more.as_deref();
        kept += more
            .and_then(|more| more.extras_json.as_ref())
            .map_or(0, |extras| extras.matches(&blob()).count());
    }
    assert!(kept > 0, "{format:?} keeps what is no text");
    assert_eq!(kept, blobs(&with), "{format:?} keeps each of them");
}

/// Non-text content is only in the extras.
fn blobs(drafts: &[Draft]) -> usize {
    let whole = |draft: &Draft| format!("{}{:?}", draft.content, draft.more).matches(&blob()).count();
    drafts.iter().map(whole).sum()
}

#[test]
fn of_openai_chat() {
    let url = format!("data:image/png;base64,{}", blob());
    let parts = json!([
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "input_audio", "input_audio": {"data": blob(), "format": "wav"}},
        {"type": "file", "file": {"file_data": blob(), "filename": "a.pdf"}},
    ]);
    let message = |content: Value| json!([{"role": "user", "content": content}]);
    costs(Format::OpenAiChat, &message(parts), &message(json!("What is this?\n[file] a.pdf")), &[765]);
    let audio = json!([{"role": "assistant", "content": "A bird.", "audio": {"id": "a", "data": blob()}}]);
    costs(Format::OpenAiChat, &audio, &json!([{"role": "assistant", "content": "A bird."}]), &[0]);
}

#[test]
fn of_openai_responses() {
    let parts = json!([
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": format!("data:image/png;base64,{}", blob())},
        {"type": "input_file", "file_data": blob(), "filename": "a.pdf"},
    ]);
    let message = |content: Value| json!([{"type": "message", "role": "user", "content": content}]);
    costs(
        Format::OpenAiResponses,
        &message(parts),
        &message(json!([{"type": "input_text", "text": "What is this?\n[input_file] a.pdf"}])),
        &[765],
    );
}

#[test]
fn of_anthropic() {
    let image =
        || json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": blob()}});
    let document = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": blob()}});
    let thinking = json!({"type": "thinking", "thinking": "", "signature": blob()});
    let call = json!({"type": "tool_use", "id": "a", "name": "look", "input": {}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let result = |content: Value| json!({"type": "tool_result", "tool_use_id": "a", "content": content});
    let with = json!([
        {"role": "user", "content": [text("What is this?"), image(), document]},
        {"role": "assistant", "content": [thinking, text("Let me look."), call.clone()]},
        {"role": "user", "content": [result(json!([text("A screenshot."), image()]))]},
    ]);
    let without = json!([
        {"role": "user", "content": [text("What is this?")]},
        {"role": "assistant", "content": [text("Let me look."), call]},
        {"role": "user", "content": [result(json!([text("A screenshot.")]))]},
    ]);
    costs(Format::Anthropic, &with, &without, &[3, 0, 3]);
}
