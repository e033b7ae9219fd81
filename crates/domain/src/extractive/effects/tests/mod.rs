//! The effects of calls, by their names, arguments and results.

mod commands;
mod keys;
mod names;

use super::*;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "1".into(), name: name.into(), arguments_json: arguments.into() }
}

fn effect_of(call: &ToolCall, success: Option<&str>, after: &str) -> Effect {
    effects(&[Made { call, success, after, told: told(call) }])[0]
}
