//! What a chat prints.

use crate::terminal::{count, counted, said, speaker};
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

/// The question whether to compact, and how it is answered.
pub fn question(advice: CompactionAdvice) -> String {
    format!(
        "📦 Conversation History Compaction\n\
         Your conversation has {} messages and may be affecting performance. Compact older messages while preserving \
         the most recent context?\n\
         [Y] Yes, compact now (keep last {})\n\
         [N] Not now\n\
         [V] Never ask again this session\n\
         Tip: Use /compact anytime to compact manually",
        count(advice.utterance_count()),
        count(advice.keep_recent()),
    )
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
    let speaker = speaker(utterance);
    if utterance.state() == UtteranceState::Forgotten {
        let place = utterance.sequence;
        return format!("{speaker}: (forgotten; /restore {place} brings it back)");
    }
    let mut text = said(utterance).join("\n");
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARACTERS) {
        text.truncate(end);
        text.push('…');
    }
    if utterance.metadata.contains_key(BROKEN_OFF) {
        text = format!("{text}\n{BROKEN_OFF_MARK}");
    }
    format!("{speaker}: {text}")
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
    fn the_question_is_asked_in_the_words_of_seed_004() {
        let advice =
            CompactionAdvice { threshold: Some(50), utterance_count: Some(52), keep_recent: Some(15) };
        let lines = [
            "📦 Conversation History Compaction",
            "Your conversation has 52 messages and may be affecting performance. Compact older messages while \
             preserving the most recent context?",
            "[Y] Yes, compact now (keep last 15)",
            "[N] Not now",
            "[V] Never ask again this session",
            "Tip: Use /compact anytime to compact manually",
        ];
        assert_eq!(question(advice), lines.join("\n"));
    }

    #[test]
    fn only_a_letter_alone_is_an_answer() {
        assert_eq!(answer(" v "), Some(CompactionAnswer::NeverThisSession));
        assert_eq!(answer("yes, do"), None);
    }

    #[test]
    fn what_was_said_is_shown_within_bounds() {
        let said = |content: &str| Utterance {
            sequence: 7,
            role: Role::Assistant.into(),
            content: content.into(),
            ..Default::default()
        };
        let shown = |one: &Utterance| utterance(one);
        let mut broken = said("Half\na");
        broken.metadata.insert(BROKEN_OFF.into(), "true".into());
        assert_eq!(shown(&broken), "assistant: Half\na\n(broken off)");
        let call = ToolCall { id: "c".into(), name: "look_up".into(), arguments_json: "{}".into() };
        let calling = Utterance { tool_calls: vec![call], ..said("") };
        assert_eq!(shown(&calling), "assistant: → look_up({})");
        let forgotten = Utterance { state: UtteranceState::Forgotten.into(), ..said("secret") };
        assert_eq!(shown(&forgotten), "assistant: (forgotten; /restore 7 brings it back)");
        assert_eq!(shown(&said(&"ä".repeat(9_999))).chars().count(), "assistant: …".len() - 2 + 2_000);
    }
}
