//! Summarises conversations: reads JSON lines of `{"key", "messages", "budgets"}`, whose messages are OpenAI's,
//! with a `time` in seconds since 1970 if it is known, and writes `{"key", "budget", "title", "text"}` for each budget.

use std::{collections::HashMap, error::Error, io};

use serde_json::{Value, json};
use utterd_summary::{
    analysis::analyse,
    compose::{Wanted, summarise},
    message::{Answer, Call, Message, Role},
    title::title,
};

fn main() -> Result<(), Box<dyn Error>> {
    let encoding = tiktoken_rs::o200k_base()?;
    let count = |text: &str| encoding.encode_ordinary(text).len() as u32;
    for line in io::stdin().lines() {
        let given: Value = serde_json::from_str(&line?)?;
        let said = given["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let items = analyse(&messages(said));
        for budget in given["budgets"].as_array().into_iter().flatten().filter_map(Value::as_u64) {
            let wanted = Wanted { budget: budget as u32, ..Wanted::default() };
            let summary = summarise(items.clone(), &wanted, &count);
            println!(
                "{}",
                json!({"key": given["key"], "budget": budget, "title": title(&items), "text": summary.text()})
            );
        }
    }
    Ok(())
}

fn messages(said: &[Value]) -> Vec<Message<'_>> {
    let mut results: HashMap<&str, Vec<(u64, &str)>> = HashMap::new();
    for (at, message) in said.iter().enumerate().rev() {
        if let Some(id) = message["tool_call_id"].as_str() {
            results
                .entry(id)
                .or_default()
                .push((at as u64 + 1, message["content"].as_str().unwrap_or_default()));
        }
    }
    let mut messages = Vec::new();
    for (at, message) in said.iter().enumerate() {
        let role = match message["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            _ => Role::Tool,
        };
        let mut calls = Vec::new();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default();
            let result = results.get_mut(id).and_then(Vec::pop);
            calls.push(Call {
                id,
                tool: call["function"]["name"].as_str().unwrap_or_default(),
                arguments: call["function"]["arguments"].as_str().unwrap_or_default(),
                result: result.map(|(sequence, text)| Answer { sequence, text, is_error: None }),
            });
        }
        messages.push(Message {
            sequence: at as u64 + 1,
            role,
            name: message["name"].as_str(),
            time: message["time"].as_i64(),
            text: message["content"].as_str().unwrap_or_default(),
            calls,
        });
    }
    messages
}
