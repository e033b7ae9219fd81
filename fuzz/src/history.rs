//! Caller-held histories: for any JSON, PrepareHistory either refuses it or produces what the format's own
//! rules accept.
#![no_main]

#[allow(dead_code)] // the contexts' tests use the rest
#[path = "../../tests/it/contexts/validator/mod.rs"]
mod validator;

use libfuzzer_sys::fuzz_target;
use utterd::{
    domain::{
        Encoding,
        history::{Limits, alternation::Alternation},
    },
    formats::history::{Format, Request, prepare, prompt, read::read},
    tokenizer,
};
use validator::{anthropic, openai};

fuzz_target!(|bytes: &[u8]| {
    let Some((&[choice, most], json)) = bytes.split_first_chunk() else { return };
    let Ok(json) = str::from_utf8(json) else { return };
    let Ok(history) = read(json) else { return };
    let request = Request {
        limits: Limits {
            messages: usize::from(most % 16) + 1,
            bytes: 1 << (most / 16),
            tokens: (choice & 1 == 0).then_some(u32::from(most) * 8 + 1),
        },
        alternation: match choice / 2 % 3 {
            0 => Alternation::Merge,
            1 => Alternation::Drop,
            _ => Alternation::Reject,
        },
        format: if choice & 0x80 == 0 { Format::OpenAiChat } else { Format::AnthropicMessages },
        ..Request::default()
    };
    let asked = (choice & 0x40 == 0).then(|| prompt("and then?"));
    let Ok(prepared) = prepare(history, asked, &request, tokenizer::counter(Encoding::O200kBase)) else {
        return;
    };
    if prepared.messages_json == "[]" {
        return;
    }
    let faults = match request.format {
        Format::OpenAiChat | Format::Text => openai::faults(&prepared.messages_json),
        Format::AnthropicMessages => anthropic::faults(&prepared.messages_json),
    };
    assert!(faults.is_empty(), "{faults:?} in {}", prepared.messages_json);
});
