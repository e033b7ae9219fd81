//! `utterd capacity`: how full the window is.

use clap::Args;

use crate::{
    args::Target,
    client::Connection,
    errors::CliError,
    terminal::{bar, count, counted, word},
};
use utterd_rpc::proto::{Capacity, GetCapacityInfoRequest, OverLimitCause};

/// Show how full the window is
///
/// Prints the tokens, utterances and turns of the window and their limits, and the size of the summary and the archive.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd capacity trip
  utterd capacity --recipient alice")]
pub struct AskCapacity {
    #[command(flatten)]
    pub target: Target,
}

/// Prints how full the window is.
pub async fn capacity(AskCapacity { target }: AskCapacity) -> Result<(), CliError> {
    let connection = Connection::to(&target.remote).await?;
    let request = GetCapacityInfoRequest {
        conversation_id: target.conversation(),
        recipient_id: target.recipient,
        ..Default::default()
    };
    let response = connection.memory().get_capacity_info(request).await?.into_inner();
    target
        .json
        .answer(response, |output, response| output.prose(&describe(&response.capacity.unwrap_or_default())))
}

/// The output of `capacity` for people: the conversation, the bar, and what the bar leaves out.
pub fn describe(capacity: &Capacity) -> String {
    let mut lines = vec![heading(capacity), bar(capacity)];
    lines.extend(over_limit(capacity));
    let summary = capacity.summary.unwrap_or_default();
    let limit = summary.token_limit.map(|limit| format!(" of {}", count(limit))).unwrap_or_default();
    lines.extend([
        format!(
            "summary: {}{limit} tokens, for {}",
            count(summary.token_count()),
            counted(summary.covered_utterance_count(), "utterance"),
        ),
        format!("archive: {}", counted(capacity.archived_utterance_count(), "utterance")),
        format!("summary and window: {}", counted(capacity.total_token_count(), "token")),
    ]);
    lines.join("\n")
}

/// The conversation, its status and its revision; or a note that there is none yet.
pub fn heading(capacity: &Capacity) -> String {
    let status = word(capacity.status().as_str_name(), "CONVERSATION_STATUS_");
    let forgotten = match capacity.soft_deleted_count() {
        0 => String::new(),
        forgotten => format!(" · {} forgotten", count(forgotten)),
    };
    match capacity.conversation_id.as_str() {
        "" => format!("{} has no conversation yet (limits of the next one)", capacity.recipient_id),
        id => format!("{id} · {status} · revision {}{forgotten}", capacity.revision),
    }
}

fn over_limit(capacity: &Capacity) -> Option<String> {
    let cause = |cause: OverLimitCause| word(cause.as_str_name(), "OVER_LIMIT_CAUSE_");
    let causes: Vec<_> = capacity.over_limit_causes().map(cause).collect();
    capacity
        .over_limit()
        .then(|| format!("over the limit, because these cannot leave the window: {}", causes.join(", ")))
}
