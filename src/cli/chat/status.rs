//! The words of the status: how full the window is, and with what the chat goes on.

use super::model::Chat;
use crate::{
    cli::{
        bar::cells,
        text::{count, counted, visible},
    },
    proto::Capacity,
};

/// Cells of the budget bar.
const CELLS: usize = 16;

/// `[52 messages] ████░░░░ 9,210 of 9,000 tokens`; once there is a summary, `[Summary + 15 messages]`.
///
/// Tokens are those of window and summary together. Without a limit there is no bar.
pub fn budget(capacity: &Capacity) -> String {
    let summary = capacity.summary.unwrap_or_default();
    let messages = counted(capacity.utterance_count(), "message");
    let badge = match summary.covered_utterance_count() {
        0 => format!("[{messages}]"),
        _ => format!("[Summary + {messages}]"),
    };
    let used = capacity.total_token_count();
    match (capacity.max_tokens, summary.token_limit) {
        (Some(window), Some(summary)) => {
            let most = window.saturating_add(summary);
            let cells = cells(used, most, CELLS);
            format!("{badge} {cells} {} of {}", count(used), counted(most, "token"))
        }
        _ => format!("{badge} {}", counted(used, "token")),
    }
}

/// The model and the conversation.
pub fn place(chat: &Chat) -> String {
    let model = match chat.model() {
        Some(model) => format!("model {}", visible(model)),
        None => "no model is attached: what you say is kept".into(),
    };
    format!("{model} · {}", visible(chat.conversation_id()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::SummaryCapacity;

    fn capacity(messages: i32, covered: i32, max_tokens: Option<i32>) -> Capacity {
        let summary = SummaryCapacity {
            token_limit: Some(1_000),
            covered_utterance_count: Some(covered),
            ..Default::default()
        };
        Capacity {
            utterance_count: Some(messages),
            total_token_count: Some(4_500),
            max_tokens,
            summary: Some(summary),
            ..Default::default()
        }
    }

    #[test]
    fn the_badge_tells_whether_there_is_a_summary() {
        assert_eq!(budget(&capacity(52, 0, None)), "[52 messages] 4,500 tokens");
        assert_eq!(budget(&capacity(15, 37, None)), "[Summary + 15 messages] 4,500 tokens");
        assert_eq!(budget(&capacity(1, 0, None)), "[1 message] 4,500 tokens");
    }

    #[test]
    fn a_limit_has_a_bar() {
        assert_eq!(
            budget(&capacity(9, 0, Some(8_000))),
            "[9 messages] ████████░░░░░░░░ 4,500 of 9,000 tokens"
        );
    }
}
