//! The texts in a test: no text occurs twice.

use crate::support::{prelude::*, random::Random};

const WORDS: [&str; 16] = [
    "train", "platform", "nine", "order", "refund", "ticket", "blue", "invoice", "Lisbon", "error", "retry",
    "deploy", "window", "seven", "because", "tomorrow",
];

/// Plain text of a user or an assistant.
pub fn plain(id: &str, random: &mut Random) -> NewUtterance {
    let role = if random.percent(50) { Role::User } else { Role::Assistant };
    said(id, role, random)
}

/// A text of almost a megabyte that no engine can compress.
pub fn long(id: &str, random: &mut Random) -> NewUtterance {
    let lines = (0..14_000)
        .map(|_| format!("{:016x} {:016x} {:016x}\n", random.next(), random.next(), random.next()));
    let content = format!("The text of {id} is\n{}", lines.collect::<String>());
    NewUtterance { content, ..said(id, Role::User, random) }
}

/// An assistant's tool calls, whose ids begin with the utterance's.
pub fn calls(id: &str, random: &mut Random) -> NewUtterance {
    let call = |number| ToolCall {
        id: format!("{id}-call{number}"),
        name: "look_up".into(),
        arguments_json: format!("{{\"key\":{number}}}"),
    };
    let tool_calls = (0..random.between(1, 3)).map(call).collect();
    NewUtterance { tool_calls, ..said(id, Role::Assistant, random) }
}

/// The result of `call`.
pub fn result(id: &str, call: &str, random: &mut Random) -> NewUtterance {
    NewUtterance { tool_call_id: call.into(), ..said(id, Role::Tool, random) }
}

fn said(id: &str, role: Role, random: &mut Random) -> NewUtterance {
    let words = match random.below(20) {
        0 => random.between(400, 2_000),
        _ => random.between(3, 40),
    };
    let mut content = format!("The text of {id} is");
    for _ in 0..words {
        content.push(' ');
        content.push_str(WORDS[random.below(WORDS.len())]);
    }
    content.push('.');
    NewUtterance { utterance_id: id.into(), role: role.into(), content, ..NewUtterance::default() }
}
