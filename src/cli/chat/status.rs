//! The text of the status: how full the window is, and the model and conversation of the chat. On a narrow
//! screen it says less.

use unicode_width::UnicodeWidthStr;

use super::{model::Chat, wrap::clipped};
use crate::{
    cli::terminal::{
        bar::cells,
        text::{count, counted, visible},
    },
    proto::Capacity,
};

/// Cells of the budget bar.
const CELLS: usize = 16;

/// `[52 messages] ████░░░░ 9,210 of 9,000 tokens`; once there is a summary, `[Summary + 15 messages]`.
///
/// Tokens are those of window and summary together. There is no bar if there is no limit, or no room for it.
pub fn budget(capacity: &Capacity, columns: usize) -> String {
    let summary = capacity.summary.unwrap_or_default();
    let messages = counted(capacity.utterance_count(), "message");
    let badge = match summary.covered_utterance_count() {
        0 => format!("[{messages}]"),
        _ => format!("[Summary + {messages}]"),
    };
    let used = capacity.total_token_count();
    let bare = format!("{badge} {}", counted(used, "token"));
    let (Some(window), Some(summary)) = (capacity.max_tokens, summary.token_limit) else {
        return clipped(&bare, columns);
    };
    let most = window.saturating_add(summary);
    let limited = format!("{} of {}", count(used), counted(most, "token"));
    let wide =
        [format!("{badge} {} {limited}", cells(used, most, CELLS)), format!("{badge} {limited}"), bare];
    first_fitting(wide, columns)
}

/// The model and the conversation.
pub fn place(chat: &Chat, columns: usize) -> String {
    let id = visible(chat.conversation_id());
    match chat.model().map(visible) {
        Some(model) => {
            first_fitting([format!("model {model} · {id}"), format!("{model} · {id}"), id], columns)
        }
        None => first_fitting(
            [
                format!("no model replies: your messages are stored · {id}"),
                format!("no model: messages are stored · {id}"),
                format!("no model · {id}"),
            ],
            columns,
        ),
    }
}

/// The first text that fits, or else the last, cut.
fn first_fitting<const N: usize>(texts: [String; N], columns: usize) -> String {
    let fitting = texts.iter().find(|text| text.width() <= columns).or(texts.last());
    fitting.map(|text| clipped(text, columns)).unwrap_or_default()
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
        assert_eq!(budget(&capacity(52, 0, None), 80), "[52 messages] 4,500 tokens");
        assert_eq!(budget(&capacity(15, 37, None), 80), "[Summary + 15 messages] 4,500 tokens");
        assert_eq!(budget(&capacity(1, 0, None), 80), "[1 message] 4,500 tokens");
    }

    #[test]
    fn a_limit_has_a_bar_where_there_is_room() {
        let limited = capacity(9, 37, Some(8_000));
        let wide = "[Summary + 9 messages] ████████░░░░░░░░ 4,500 of 9,000 tokens";
        assert_eq!(budget(&limited, 80), wide);
        assert_eq!(budget(&limited, 50), "[Summary + 9 messages] 4,500 of 9,000 tokens");
        assert_eq!(budget(&limited, 38), "[Summary + 9 messages] 4,500 tokens");
        assert_eq!(budget(&limited, 12), "[Summary +…");
    }
}
