//! Renderings as a provider reads them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use utterd_domain::{
    More, Role, ToolCall,
    context::{How, Omission, Request, Unanswered, build},
    testing::{Step, Talk, needed, o200k, steps},
};

fn rendered(talk: &Talk, format: Format) -> Rendered {
    let request = Request { format, ..Request::default() };
    render(&talk.context(&request), o200k())
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// A turn with a call, one with a name that a provider refuses, and one with only the assistant.
fn talk() -> Talk {
    let mut talk = Talk::session();
    talk.say(Role::System, "Be kind.").say(Role::User, "Where is \"order 7\"?\n").call("", &["c 1"]);
    talk.answer("c 1", "On its way.").say(Role::Assistant, "It is on its way.");
    talk.say(Role::System, "The shop closes.");
    let more = More { name: Some("Ada L.".into()), ..More::default() };
    talk.add(Role::User, "Thanks.", more).say(Role::Assistant, "Bye! ").say(Role::Assistant, "Come again. ");
    talk
}

#[test]
fn the_least_budget_of_a_text_is_about_what_it_takes() {
    for (given, said) in
        [("", "Hello."), ("Be brief.", "A few words more, and \"quotes\"."), ("", "à 日本 🙂")]
    {
        let mut talk = Talk::session();
        talk.say(Role::System, "Be kind.").say(Role::User, said).call("", &["a"]).answer("a", "Found.");
        talk.say(Role::Assistant, said);
        let instructions = Some(given).filter(|given| !given.is_empty()).map(Into::into);
        let request = Request { format: Format::Text, instructions, ..Request::default() };
        let refused = build(&talk.0, &[], &Request { budget: Some(1), ..request.clone() }, o200k());
        let least = needed(&refused.unwrap_err());
        let context = talk.context(&Request { budget: Some(least), ..request });
        let takes = render(&context, o200k()).tokens;
        assert!(takes <= least && least <= takes + 12, "{said}: {least} for {takes}");
    }
}

#[test]
fn openai_chat() {
    let rendered = rendered(&talk(), Format::OpenAiChat);
    let wanted = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Where is \"order 7\"?\n"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c 1", "type": "function", "function": {"name": "lookup_order", "arguments": "{\"order\": 7}"}},
        ]},
        {"role": "tool", "content": "On its way.", "tool_call_id": "c 1"},
        {"role": "assistant", "content": "It is on its way."},
        {"role": "system", "content": "The shop closes."},
        {"role": "user", "content": "Thanks.", "name": "Ada_L."},
        {"role": "assistant", "content": "Bye! "},
        {"role": "assistant", "content": "Come again. "},
    ]);
    assert_eq!(parsed(&rendered.messages_json), wanted);
    assert_eq!((rendered.stable_messages, rendered.system_json.as_str()), (9, ""));
}

#[test]
fn anthropic_messages() {
    let rendered = rendered(&talk(), Format::AnthropicMessages);
    assert_eq!(parsed(&rendered.system_json), json!([{"type": "text", "text": "Be kind."}]));
    let messages = parsed(&rendered.messages_json);
    let id = messages[1]["content"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("c_1_"), "{id}");
    let text = |text: &str| json!({"type": "text", "text": text});
    let wanted = json!([
        {"role": "user", "content": [text("Where is \"order 7\"?\n")]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "lookup_order", "input": {"order": 7}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "On its way."}]},
        {"role": "assistant", "content": [text("It is on its way.")]},
        {"role": "user", "content": [
            text("[system message]"), text("The shop closes."), text("Ada L.:"), text("Thanks."),
        ]},
        {"role": "assistant", "content": [text("Bye! "), text("Come again.")]},
    ]);
    assert_eq!(messages, wanted);
    assert_eq!(rendered.stable_messages, 5, "the last one may grow");
}

#[test]
fn text_of_seed_000() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Create a note about today's meeting");
    let content = "I've created 'Meeting Notes.md' in your Journal folder.";
    let more = More { tools_used: vec!["write_file".into()], ..More::default() };
    talk.add(Role::Assistant, content, more).call("", &["a", "b"]).answer("a", "A").answer("b", "B");
    let rendered = rendered(&talk, Format::Text);
    let wanted = "## Current Conversation\n\
        [1970-01-01T00:00:00Z]\n\
        User: Create a note about today's meeting\n\n\
        [1970-01-01T00:00:00Z]\n\
        Assistant: I've created 'Meeting Notes.md' in your Journal folder. [used: write_file]\n\n\
        [1970-01-01T00:00:00Z]\n\
        Assistant: [used: lookup_order]";
    assert_eq!(rendered.text, wanted);
    assert_eq!(rendered.tokens, o200k().count(wanted));
    assert_eq!((rendered.messages_json.as_str(), rendered.stable_messages), ("", 0));
}

/// Instructions that are not stored are written with the system messages.
#[test]
fn given_instructions_are_the_systems() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Hi");
    let rendered = |format| {
        let request = Request { format, instructions: Some("Be brief.".into()), ..Request::default() };
        render(&talk.context(&request), o200k())
    };
    let chat = parsed(&rendered(Format::OpenAiChat).messages_json);
    assert_eq!(chat[0], json!({"role": "system", "content": "Be brief."}));
    let anthropic = rendered(Format::AnthropicMessages);
    assert_eq!(parsed(&anthropic.system_json), json!([{"type": "text", "text": "Be brief."}]));
    assert_eq!(parsed(&anthropic.messages_json).as_array().map(Vec::len), Some(1));
    assert!(rendered(Format::Text).text.starts_with("Be brief.\n\n## Current Conversation\n"));
}

#[test]
fn ids_that_come_again_differ() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Hi").call("", &["a", "a"]).answer("a", "2").answer("a", "1");
    talk.call("", &["a"]).answer("a", "3");
    for format in [Format::OpenAiChat, Format::AnthropicMessages] {
        let rendered = rendered(&talk, format);
        let ids = |key: &str| -> Vec<String> {
            let mark = format!("\"{key}\":\"");
            let behind = rendered.messages_json.split(&mark).skip(1);
            behind.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
        };
        let answers = if format == Format::OpenAiChat { "tool_call_id" } else { "tool_use_id" };
        assert_eq!(ids("id"), ["a", "a_2", "a_5"]);
        assert_eq!(ids(answers), ["a", "a_2", "a_5"]);
    }
}

#[test]
fn arguments_that_are_no_object_are_put_into_one() {
    let mut talk = Talk::session();
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "find it".into(),
        arguments_json: arguments.into(),
    };
    let tool_calls = vec![call("a", ""), call("b", "[1]"), call("c", " {\"x\": [1.50]} ")];
    talk.say(Role::User, "Hi").add(Role::Assistant, " ", More { tool_calls, ..More::default() });
    talk.answer("a", "").answer("b", "B").answer("c", "C");
    let anthropic = rendered(&talk, Format::AnthropicMessages);
    let messages = parsed(&anthropic.messages_json);
    let blocks = messages[1]["content"].as_array().unwrap();
    let inputs: Vec<String> = blocks.iter().map(|block| block["input"].to_string()).collect();
    assert_eq!(inputs, ["{}", r#"{"arguments":"[1]"}"#, r#"{"x":[1.50]}"#]);
    assert!(anthropic.messages_json.contains("[1.50]"), "as the model wrote it");
    assert_eq!(messages[2]["content"][0], json!({"type": "tool_result", "tool_use_id": "a"}));
    let openai = parsed(&rendered(&talk, Format::OpenAiChat).messages_json);
    let function = |index: usize| &openai[1]["tool_calls"][index]["function"];
    assert_eq!(*function(0), json!({"name": "find_it", "arguments": "{}"}));
    assert_eq!(*function(1), json!({"name": "find_it", "arguments": "[1]"}));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn stable_messages_stay_while_nothing_is_cut(steps in steps(), anthropic: bool, budget in 200..4_000u32) {
        let format = if anthropic { Format::AnthropicMessages } else { Format::OpenAiChat };
        let unanswered = Unanswered::Placeholder;
        let request = Request { format, budget: Some(budget), unanswered, ..Request::default() };
        let mut talk = Talk::session();
        let mut before: Option<(Vec<Value>, usize, (Vec<_>, Vec<_>))> = None;
        for step in &steps {
            talk.step(step);
            let Ok(context) = build(&talk.0, &[], &request, o200k()) else { before = None; continue };
            let omitted: Vec<_> = context.omitted.iter().filter(|(omission, _)| {
                matches!(omission, Omission::Budget | Omission::MaxTurns)
            }).cloned().collect();
            // what was said is cut anew if a newer result needs the room
            let trimmed = context.messages.iter().filter(|message| message.how == How::Trimmed);
            let trimmed: Vec<_> = trimmed.map(|cut| (!cut.is_result()).then_some(cut.tokens)).collect();
            let cuts = (omitted, trimmed);
            let rendered = render(&context, o200k());
            let messages = parsed(&rendered.messages_json).as_array().unwrap().clone();
            if let Some((before, stable, old)) = before.filter(|_| !matches!(step, Step::Forget(_) | Step::Pin(_)))
                && old == cuts
            {
                prop_assert!(stable <= messages.len());
                prop_assert_eq!(&before[..stable], &messages[..stable]);
            }
            before = Some((messages, rendered.stable_messages, cuts));
        }
    }
}
