//! The question whether to compact. It is shown above the status and captures no keys: a line of a single
//! letter answers it.

use super::wrap::{flow, wrap};
use crate::{
    cli::terminal::text::{count, counted},
    proto::{Capacity, CompactionAdvice, CompactionAnswer},
};

/// The most rows of the question; on a small screen, the possible answers take precedence.
const ROWS: usize = 6;

/// The rows of the question, if the transcript and the question have `room` rows together. `replies`: whether
/// a model reads the conversation for each reply, so that its length has a price.
pub fn rows(
    advice: CompactionAdvice,
    capacity: &Capacity,
    replies: bool,
    columns: usize,
    room: usize,
) -> Vec<String> {
    let question = format!(
        "📦 The conversation has {}, {} in all{}. Compact the older ones into a summary, as /compact does?",
        counted(advice.utterance_count(), "message"),
        counted(capacity.total_token_count(), "token"),
        if replies { ", and a model reads them for each reply" } else { "" },
    );
    let answers = [
        format!("[Y] Yes, keep the last {}", count(advice.keep_recent())),
        "[N] Not now".into(),
        "[V] Never in this session".into(),
    ];
    let answers = flow(&answers, "  ", columns);
    let mut rows = wrap(&question, columns);
    rows.truncate(ROWS.min(room).saturating_sub(answers.len()));
    rows.extend(answers);
    rows
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(columns: usize, room: usize) -> Vec<String> {
        asked_of(true, columns, room)
    }

    fn asked_of(replies: bool, columns: usize, room: usize) -> Vec<String> {
        let advice =
            CompactionAdvice { threshold: Some(50), utterance_count: Some(52), keep_recent: Some(15) };
        let capacity = Capacity { total_token_count: Some(2_310), ..Default::default() };
        rows(advice, &capacity, replies, columns, room)
    }

    #[test]
    fn it_tells_what_a_reply_costs_and_what_stays() {
        let expected = [
            "📦 The conversation has 52 messages, 2,310 tokens in all, and a model reads them",
            "for each reply. Compact the older ones into a summary, as /compact does?",
            "[Y] Yes, keep the last 15  [N] Not now  [V] Never in this session",
        ];
        assert_eq!(asked(80, 20), expected);
    }

    #[test]
    fn without_a_model_it_speaks_of_none() {
        let expected = [
            "📦 The conversation has 52 messages, 2,310 tokens in all. Compact the older ones",
            "into a summary, as /compact does?",
            "[Y] Yes, keep the last 15  [N] Not now  [V] Never in this session",
        ];
        assert_eq!(asked_of(false, 80, 20), expected);
    }

    #[test]
    fn answers_stay_whole_on_any_screen() {
        let expected = [
            "📦 The conversation has 52 messages,",
            "2,310 tokens in all, and a model reads",
            "them for each reply. Compact the older",
            "ones into a summary, as /compact does?",
            "[Y] Yes, keep the last 15  [N] Not now",
            "[V] Never in this session",
        ];
        assert_eq!(asked(40, 20), expected);
        assert_eq!(asked(30, 3).len(), 3);
        assert_eq!(asked(80, 1), expected[4..].join("  ").split('\n').collect::<Vec<_>>());
    }

    #[test]
    fn only_a_letter_alone_is_an_answer() {
        assert_eq!(answer(" v "), Some(CompactionAnswer::NeverThisSession));
        assert_eq!(answer("yes, do"), None);
    }
}
