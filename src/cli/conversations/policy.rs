//! `utterd policy`: a conversation's limits.

use std::time::Duration;

use clap::{Args, Subcommand};
use prost_types::FieldMask;

use super::stored;
use crate::cli::{
    args::{Preset, Target, choice},
    client::Connection,
    errors::CliError,
    terminal::output::Output,
};
use crate::proto::{self, Policy as Limits, UpdateConversationRequest, UpdateConversationResponse};

/// Show or change the limits of a conversation
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  utterd policy show trip
  utterd policy set trip --max-tokens 4000")]
pub enum Policy {
    /// Show the limits, each as `set` takes it
    #[command(after_help = "Example: utterd policy show trip")]
    Show(Show),
    /// Set the given limits; a smaller limit evicts immediately
    #[command(after_help = "Examples:
  utterd policy set --max-tokens 4000 --keep-tokens 3000
  utterd policy set --preset session --expire-after 30d
  utterd policy set trip --max-utterances none")]
    Set(Set),
}

/// Arguments of `policy show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    target: Target,
}

/// Arguments of `policy set`.
#[derive(Debug, Args)]
pub struct Set {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    limits: NewLimits,
}

/// The limits that change.
#[derive(Debug, Args)]
struct NewLimits {
    /// Set every limit as in a preset, before the other options apply
    #[arg(long)]
    preset: Option<Preset>,
    /// The most utterances in the window, or none for no limit
    #[arg(long, value_name = "N", value_parser = limit)]
    max_utterances: Option<i32>,
    /// The utterances that an eviction leaves in the window
    #[arg(long, value_name = "N")]
    keep_utterances: Option<i32>,
    /// The most tokens in the window, or none
    #[arg(long, value_name = "N", value_parser = limit)]
    max_tokens: Option<i32>,
    /// The tokens that an eviction leaves in the window
    #[arg(long, value_name = "N")]
    keep_tokens: Option<i32>,
    /// The most turns in the window, or none
    #[arg(long, value_name = "N", value_parser = limit)]
    max_turns: Option<i32>,
    /// The turns that an eviction leaves in the window
    #[arg(long, value_name = "N")]
    keep_turns: Option<i32>,
    /// Whether utterances that leave the window are summarised
    #[arg(id = "summarization_enabled", long = "summarize", value_name = "BOOL")]
    summarize: Option<bool>,
    /// The most tokens of the summary, or none
    #[arg(id = "summary_token_limit", long = "summary-tokens", value_name = "N", value_parser = limit)]
    summary_tokens: Option<i32>,
    /// How to treat an utterance that is larger than the window
    #[arg(long)]
    oversize: Option<Oversize>,
    /// The most utterances in the archive; 0 keeps no archive
    #[arg(long, value_name = "N")]
    archive_limit: Option<i32>,
    /// Remove the conversation this long after its last change, such as 30d, or never
    #[arg(long, value_name = "TIME", value_parser = time)]
    expire_after: Option<Duration>,
    /// Whether a model writes the summaries, if the server has one
    #[arg(long, value_name = "BOOL")]
    llm_summaries: Option<bool>,
    /// The model that writes the summaries
    #[arg(long, value_name = "NAME")]
    summary_model: Option<String>,
}

choice! {
    /// What happens to an utterance that is larger than the window.
    enum Oversize means Oversize {
        /// store it
        Keep = Keep,
        /// refuse it
        Reject = Reject,
    }
}

/// Shows or sets limits.
pub async fn policy(command: Policy) -> Result<(), CliError> {
    match command {
        Policy::Show(args) => show(args.target).await,
        Policy::Set(args) => set(args).await,
    }
}

async fn show(target: Target) -> Result<(), CliError> {
    let connection = Connection::open(&target).await?;
    let limits = stored::conversation(&connection, &target).await?.policy.unwrap_or_default();
    target.json.answer("Policy", limits, |output, limits| {
        told(&limits).iter().try_for_each(|line| output.line(line))
    })
}

async fn set(Set { target, limits }: Set) -> Result<(), CliError> {
    let limits = wanted(limits)?;
    let connection = Connection::open(&target).await?;
    let request = UpdateConversationRequest {
        conversation_id: target.conversation(),
        recipient_id: target.recipient,
        policy: Some(limits),
        update_mask: Some(FieldMask { paths: vec!["policy".into()] }),
        ..Default::default()
    };
    let response = connection.conversations().update_conversation(request).await?.into_inner();
    target.json.answer("UpdateConversationResponse", response, |output, response| tell(output, &response))
}

fn tell(output: &mut Output, response: &UpdateConversationResponse) -> Result<(), CliError> {
    let conversation = response.conversation.clone().unwrap_or_default();
    for line in told(&conversation.policy.unwrap_or_default()) {
        output.line(&line)?;
    }
    Ok(output.evicted(&response.evicted)?)
}

fn wanted(limits: NewLimits) -> Result<Limits, CliError> {
    let expire_after = limits.expire_after.map(prost_types::Duration::try_from).transpose();
    let (preset, oversize) = (limits.preset.map_or(0, |preset| preset.wire().into()), limits.oversize);
    let oversize = oversize.map_or(proto::Oversize::Unspecified, Oversize::wire);
    let wanted = Limits {
        preset,
        max_utterances: limits.max_utterances,
        keep_utterances: limits.keep_utterances,
        max_tokens: limits.max_tokens,
        keep_tokens: limits.keep_tokens,
        max_turns: limits.max_turns,
        keep_turns: limits.keep_turns,
        summarization_enabled: limits.summarize,
        summary_token_limit: limits.summary_tokens,
        oversize: oversize.into(),
        archive_limit: limits.archive_limit,
        expire_after: expire_after.map_err(|_| CliError::Usage("--expire-after is too long".into()))?,
        llm_summaries: limits.llm_summaries,
        summary_model: limits.summary_model,
    };
    match wanted == Limits::default() {
        true => Err(CliError::Usage("no limit is named; `utterd policy set --help` lists them".into())),
        false => Ok(wanted),
    }
}

/// One line per limit, named like its flag. Limits left to the server have no line.
fn told(limits: &Limits) -> Vec<String> {
    let most = |most: Option<i32>| Some(most.map_or("none".to_owned(), |most| most.to_string()));
    let number = |number: Option<i32>| number.map(|number| number.to_string());
    let yes = |yes: Option<bool>| yes.map(|yes| yes.to_string());
    let expires = match limits.expire_after.and_then(|time| Duration::try_from(time).ok()) {
        None | Some(Duration::ZERO) => "never".to_owned(),
        Some(time) => humantime::format_duration(time).to_string().replace(' ', ""),
    };
    let oversize = if limits.oversize() == proto::Oversize::Reject { "reject" } else { "keep" };
    let lines = [
        ("max-utterances", most(limits.max_utterances)),
        ("keep-utterances", number(limits.keep_utterances)),
        ("max-tokens", most(limits.max_tokens)),
        ("keep-tokens", number(limits.keep_tokens)),
        ("max-turns", most(limits.max_turns)),
        ("keep-turns", number(limits.keep_turns)),
        ("summarize", yes(limits.summarization_enabled)),
        ("summary-tokens", most(limits.summary_token_limit)),
        ("oversize", Some(oversize.to_owned())),
        ("archive-limit", number(limits.archive_limit)),
        ("expire-after", Some(expires)),
        ("llm-summaries", yes(limits.llm_summaries)),
        ("summary-model", limits.summary_model.clone().filter(|model| !model.is_empty())),
    ];
    let line = |(name, value): (&str, Option<String>)| value.map(|value| format!("{name:<16}{value}"));
    lines.into_iter().filter_map(line).collect()
}

/// A number, or `none` for no limit, which is 0 on the wire.
fn limit(text: &str) -> Result<i32, String> {
    match text {
        "none" => Ok(0),
        text => match text.parse() {
            Ok(limit) if limit > 0 => Ok(limit),
            _ => Err("must be a number from 1, or none".into()),
        },
    }
}

/// A time, or `never`, which is 0 on the wire.
fn time(text: &str) -> Result<Duration, String> {
    match text {
        "never" => Ok(Duration::ZERO),
        text => humantime::parse_duration(text)
            .map_err(|_| "must be a time, such as 30d or 12h, or never".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_set() {
        let limits = Limits {
            max_utterances: Some(20),
            keep_utterances: Some(16),
            summarization_enabled: Some(true),
            expire_after: Some(prost_types::Duration { seconds: 90_000, nanos: 0 }),
            ..Default::default()
        };
        let told = told(&limits);
        assert_eq!(told[0], "max-utterances  20");
        assert!(told.contains(&"max-tokens      none".to_owned()));
        assert!(told.contains(&"expire-after    1day1h".to_owned()));
        assert_eq!(time("1day1h"), Ok(Duration::from_secs(90_000)));
        assert_eq!((limit("none"), limit("20")), (Ok(0), Ok(20)));
        assert!(limit("0").is_err() && limit("x").is_err());
    }
}
