//! `utterd stats`: what is stored, in numbers.

use std::io;

use clap::Args;

use crate::cli::{
    args::{Target, choice},
    client::Connection,
    errors::CliError,
    terminal::{
        output::{Output, bold},
        table::{Side::Left, aligned},
        text::{clipped, count, counted, role, visible, word},
    },
};
use crate::proto::{
    self, Compression, EmbeddingStats, GetStatsRequest, LlmStats, Stats, StatsScope, ToolCount,
    UtteranceCount,
};

/// Count utterances by role, time and tool
///
/// Also prints how many utterances left the window, and how many tokens the summary saves.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd stats trip --by hour
  utterd stats --recipient alice --all")]
pub struct AskStats {
    #[command(flatten)]
    pub target: Target,
    /// Count all conversations of the recipient
    #[arg(long, conflicts_with = "conversation_id")]
    pub all: bool,
    /// Count by time spans of this length
    #[arg(id = "bucket", long = "by", value_name = "SPAN", default_value = "day")]
    pub by: Span,
}

choice! {
    /// The length of the time spans of `stats`.
    pub enum Span means TimeBucket {
        /// from the full hour
        Hour = Hour,
        /// from midnight, UTC
        Day = Day,
        /// from Monday
        Week = Week,
        /// from the first
        Month = Month,
    }
}

/// Prints the numbers of a conversation, or of all of a recipient's.
pub async fn stats(args: AskStats) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let scope = if args.all { StatsScope::Recipient } else { StatsScope::Conversation };
    let request = GetStatsRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        scope: scope.into(),
        bucket: args.by.wire().into(),
        ..Default::default()
    };
    let response = connection.conversations().get_stats(request).await?.into_inner();
    args.target.json.answer("GetStatsResponse", response, |output, response| {
        tell(output, &response.stats.unwrap_or_default(), args.by)
    })
}

fn tell(output: &mut Output, stats: &Stats, by: Span) -> io::Result<()> {
    output.line(&bold(&heading(stats)))?;
    output.line(&line("in all", &stats.total))?;
    for of_role in &stats.roles {
        output.line(&line(&role(of_role.role()), &of_role.count))?;
    }
    for span in &stats.spans {
        let start = span.start_time.map(|time| time.to_string()).unwrap_or_default();
        output.line(&line(&short(&start, by), &span.total))?;
    }
    for line in tool_lines(&stats.tools) {
        output.line(&clipped(&line, output.width()))?;
    }
    output.line(&evictions(stats))?;
    if let Some(saving) = stats.compression.as_ref().and_then(saving) {
        output.line(&saving)?;
    }
    if let Some(llm) = &stats.llm {
        output.line(&model(llm))?;
    }
    stats.embedding.as_ref().map_or(Ok(()), |embedding| output.line(&embedded(embedding)))
}

fn embedded(embedding: &EmbeddingStats) -> String {
    let some = |number: i32, what: &str| (number > 0).then(|| format!("{} {what}", count(number)));
    let parts = [
        Some(format!("embeddings: of {}", counted(embedding.embedded_count(), "utterance"))),
        some(embedding.dropped_count(), "dropped"),
        some(embedding.failed_count(), "failed"),
        some(embedding.hybrid_search_count(), "hybrid searches"),
        some(embedding.lexical_search_count(), "lexical searches"),
        some(embedding.waiting_conversation_count(), "conversations waiting"),
        embedding.held_back.then(|| "held back: its server does not answer".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn model(llm: &LlmStats) -> String {
    let mut parts = vec![
        format!("model: {} written", counted(llm.stored_count(), "segment")),
        format!("{} in flight", count(llm.in_flight_count())),
    ];
    let dropped = (llm.dropped_count() > 0).then(|| format!("{} dropped", count(llm.dropped_count())));
    let failed = (llm.failed_count() > 0).then(|| format!("{} failed", count(llm.failed_count())));
    let held_back = llm.held_back.then(|| "held back: its server does not answer".to_owned());
    let waiting = llm.waiting_since.map(|since| format!("waiting since {since}"));
    parts.extend([dropped, failed, held_back, waiting].into_iter().flatten());
    parts.join(" · ")
}

fn heading(stats: &Stats) -> String {
    let status = |of: &proto::StatusCount| {
        let word = word(of.status().as_str_name(), "CONVERSATION_STATUS_");
        format!("{} {word}", count(of.conversation_count()))
    };
    match stats.conversation_id.as_str() {
        "" => {
            let conversations: i32 = stats.conversations.iter().map(|of| of.conversation_count()).sum();
            let statuses: Vec<_> = stats.conversations.iter().map(status).collect();
            let mut parts = vec![stats.recipient_id.clone(), counted(conversations, "conversation")];
            parts.extend((!statuses.is_empty()).then(|| statuses.join(", ")));
            parts.join(" · ")
        }
        id => format!("{id} · revision {}", stats.revision()),
    }
}

fn line(what: &str, numbers: &Option<UtteranceCount>) -> String {
    let numbers = numbers.unwrap_or_default();
    format!(
        "{what:<16} {} · {} · {}",
        counted(numbers.utterance_count(), "utterance"),
        counted(numbers.token_count(), "token"),
        counted(numbers.turn_count(), "turn"),
    )
}

/// The part of a time such as `2026-03-01T17:00:00Z` that identifies the span.
fn short(time: &str, by: Span) -> String {
    let part = |length| time.get(..length).unwrap_or(time);
    match by {
        Span::Hour => part("2026-03-01T17:00".len()).replace('T', " "),
        Span::Day | Span::Week => part("2026-03-01".len()).to_owned(),
        Span::Month => part("2026-03".len()).to_owned(),
    }
}

/// One line per tool, with the numbers below each other.
fn tool_lines(tools: &[ToolCount]) -> Vec<String> {
    let rows: Vec<_> = tools.iter().map(|tool| [format!("→ {}", visible(&tool.name)), calls(tool)]).collect();
    aligned(&rows, [Left, Left])
}

fn calls(tool: &ToolCount) -> String {
    let mut parts = vec![counted(tool.call_count(), "call")];
    if tool.unanswered_count() > 0 {
        parts.push(format!("{} unanswered", count(tool.unanswered_count())));
    }
    parts.push(format!("{} of results", counted(tool.result_token_count(), "token")));
    if tool.mention_count() > 0 {
        parts.push(counted(tool.mention_count(), "mention"));
    }
    parts.join(" · ")
}

fn evictions(stats: &Stats) -> String {
    let evictions = stats.evictions.unwrap_or_default();
    format!(
        "{} left the window: {} archived, {} dropped",
        counted(evictions.evicted_utterance_count(), "utterance"),
        count(evictions.archived_utterance_count()),
        count(evictions.dropped_utterance_count()),
    )
}

fn saving(compression: &Compression) -> Option<String> {
    let ratio = compression.ratio?;
    Some(format!(
        "summary of {} for {}: {ratio:.1} to 1, in {}",
        counted(compression.summary_token_count(), "token"),
        counted(compression.source_token_count(), "token"),
        counted(compression.segment_count(), "segment"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_as_far_as_it_goes() {
        let time = "2026-03-01T17:00:00Z";
        let told = [Span::Hour, Span::Day, Span::Week, Span::Month].map(|by| short(time, by));
        assert_eq!(told, ["2026-03-01 17:00", "2026-03-01", "2026-03-01", "2026-03"]);
        assert_eq!(short("", Span::Day), "");
    }

    #[test]
    fn embeddings_are_told_with_what_is_not_zero() {
        let embedding = EmbeddingStats {
            embedded_count: Some(1_200),
            dropped_count: Some(0),
            hybrid_search_count: Some(7),
            lexical_search_count: Some(2),
            held_back: true,
            ..Default::default()
        };
        let told = "embeddings: of 1,200 utterances · 7 hybrid searches · 2 lexical searches · held back: its server does not answer";
        assert_eq!(embedded(&embedding), told);
    }

    #[test]
    fn a_tool_is_told_with_what_is_unusual() {
        let tool = |name: &str| ToolCount {
            name: name.into(),
            call_count: Some(3),
            unanswered_count: Some(1),
            result_token_count: Some(1_200),
            ..Default::default()
        };
        let told = tool_lines(&[tool("find"), tool("find_trains")]);
        assert_eq!(told[0], "→ find         3 calls · 1 unanswered · 1,200 tokens of results");
        assert!(told[1].starts_with("→ find_trains  3 calls"), "{told:?}");
    }
}
