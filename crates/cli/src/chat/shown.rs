//! What a chat prints.

use crate::terminal::{
    bold, count, counted, dim, said,
    text::{self},
};
use utterd_rpc::proto::{Capacity, CompactionAdvice, CompactionAnswer, Utterance, UtteranceState};

/// The key in the metadata of a reply that was broken off.
pub const BROKEN_OFF: &str = "broken_off";
/// The mark after such a reply.
pub const BROKEN_OFF_MARK: &str = "(broken off)";
/// The most characters of an utterance that are shown.
const SHOWN_CHARACTERS: usize = 2_000;

/// `[52 messages] 4,500 of 9,000 tokens (50 %)`; once there is a summary, `[Summary + 15 messages]`.
///
/// Tokens are those of window and summary together.
pub fn status(capacity: &Capacity) -> String {
    let summary = capacity.summary.unwrap_or_default();
    let messages = counted(capacity.utterance_count(), "message");
    let badge = match summary.covered_utterance_count() {
        0 => format!("[{messages}]"),
        _ => format!("[Summary + {messages}]"),
    };
    let used = capacity.total_token_count();
    match (capacity.max_tokens, summary.token_limit) {
        (Some(window), Some(summary)) => {
            let most = i64::from(window) + i64::from(summary);
            let share = 100 * i64::from(used) / most.max(1);
            format!("{badge} {} of {} ({share} %)", count(used), counted(most, "token"))
        }
        _ => format!("{badge} {}", counted(used, "token")),
    }
}

/// The question whether to compact, and how it is answered. `replies`: whether a model reads the conversation for each
/// reply, so that its length has a price.
pub fn question(advice: CompactionAdvice, capacity: &Capacity, replies: bool) -> [String; 2] {
    [
        format!(
            "📦 The conversation has {}, {} in all{}. Compact the older ones into a summary, as /compact does?",
            counted(advice.utterance_count(), "message"),
            counted(capacity.total_token_count(), "token"),
            if replies { ", and a model reads them for each reply" } else { "" },
        ),
        format!(
            "[Y] Yes, keep the last {}  [N] Not now  [V] Never in this session",
            count(advice.keep_recent())
        ),
    ]
}

/// Parses a line as an answer.
pub fn answer(line: &str) -> Option<CompactionAnswer> {
    match line.trim() {
        "y" | "Y" => Some(CompactionAnswer::CompactNow),
        "n" | "N" => Some(CompactionAnswer::NotNow),
        "v" | "V" => Some(CompactionAnswer::NeverThisSession),
        _ => None,
    }
}

/// What was said, by whom.
pub fn utterance(utterance: &Utterance) -> String {
    let speaker = bold(&format!("{}:", text::speaker(utterance)));
    if utterance.state() == UtteranceState::Forgotten {
        let place = utterance.sequence;
        return format!("{speaker} {}", dim(&format!("(forgotten; /restore {place} brings it back)")));
    }
    let mut text = said(utterance).join("\n").replace('⏎', "\n");
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARACTERS) {
        text.truncate(end);
        text.push('…');
    }
    if utterance.metadata.contains_key(BROKEN_OFF) {
        text = format!("{text}\n{BROKEN_OFF_MARK}");
    }
    format!("{speaker} {text}")
}

/// A piece of a reply, made harmless to a terminal.
pub fn piece(text: &str) -> String {
    let shown = |character: char| match character {
        '\n' | '\t' | '\u{fffd}' => Some(character),
        '\r' => None,
        _ if character.is_control() => Some('\u{fffd}'),
        _ => Some(character),
    };
    text.chars().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto::{Role, SummaryCapacity, ToolCall};

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
        assert_eq!(status(&capacity(52, 0, None)), "[52 messages] 4,500 tokens");
        assert_eq!(status(&capacity(15, 37, None)), "[Summary + 15 messages] 4,500 tokens");
        let limited = "[Summary + 1 message] 4,500 of 9,000 tokens (50 %)";
        assert_eq!(status(&capacity(1, 37, Some(8_000))), limited);
    }

    #[test]
    fn the_question_tells_what_a_reply_costs_and_what_stays() {
        let advice =
            CompactionAdvice { threshold: Some(50), utterance_count: Some(52), keep_recent: Some(15) };
        let [asked, answers] = question(advice, &capacity(52, 0, None), true);
        assert_eq!(
            asked,
            "📦 The conversation has 52 messages, 4,500 tokens in all, and a model reads them for each reply. \
             Compact the older ones into a summary, as /compact does?"
        );
        assert_eq!(answers, "[Y] Yes, keep the last 15  [N] Not now  [V] Never in this session");
        assert!(question(advice, &capacity(52, 0, None), false)[0].contains("tokens in all. Compact"));
    }

    #[test]
    fn only_a_letter_alone_is_an_answer() {
        assert_eq!(answer(" v "), Some(CompactionAnswer::NeverThisSession));
        assert_eq!(answer("yes, do"), None);
    }

    #[test]
    fn what_was_said_is_shown_harmless_and_within_bounds() {
        let said = |content: &str| Utterance {
            sequence: 7,
            role: Role::Assistant.into(),
            content: content.into(),
            ..Default::default()
        };
        // on a terminal, the speaker is in bold
        let shown = |one: &Utterance| console::strip_ansi_codes(&utterance(one)).into_owned();
        let mut broken = said("Half\na\u{1b}[2J");
        broken.metadata.insert(BROKEN_OFF.into(), "true".into());
        assert_eq!(shown(&broken), "assistant: Half\na\u{fffd}[2J\n(broken off)");
        let call = ToolCall { id: "c".into(), name: "look_up".into(), arguments_json: "{}".into() };
        let calling = Utterance { tool_calls: vec![call], ..said("") };
        assert_eq!(shown(&calling), "assistant: → look_up({})");
        let forgotten = Utterance { state: UtteranceState::Forgotten.into(), ..said("secret") };
        assert_eq!(shown(&forgotten), "assistant: (forgotten; /restore 7 brings it back)");
        assert_eq!(shown(&said(&"ä".repeat(9_999))).chars().count(), "assistant: …".len() - 2 + 2_000);
        assert_eq!(piece("a\r\nb\u{1b}[2J"), "a\nb\u{fffd}[2J");
    }
}
