//! `utterd forget`: forgets what an instruction selects.

use super::{
    args,
    client::Connection,
    errors::CliError,
    output::Output,
    text::{counted, ranges, sequences},
};
use crate::proto::{ForgetMode, ForgetRequest, ForgetResponse};

/// Forgets, and tells what and how the instruction was understood.
pub async fn forget(args: args::Forget) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let mode = if args.hard { ForgetMode::Hard } else { ForgetMode::Soft };
    let request = ForgetRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        instructions: args.instructions.join(" "),
        mode: mode.into(),
        dry_run: args.dry_run,
        ..Default::default()
    };
    let response = connection.memory().forget(request).await?.into_inner();
    let mut output = Output::new();
    if args.target.json {
        output.json("ForgetResponse", &response)?;
    } else {
        describe(&response, args.dry_run).iter().try_for_each(|line| output.line(line))?;
    }
    Ok(output.flush()?)
}

/// What was forgotten, or with `dry_run` would be, and how the instruction was understood.
pub fn describe(response: &ForgetResponse, dry_run: bool) -> Vec<String> {
    let verb = if dry_run { "would forget" } else { "forgot" };
    let forgotten = counted(response.forgotten.len(), "utterance");
    let which = match sequences(&response.forgotten) {
        none if none.is_empty() => none,
        some => format!(" ({some})"),
    };
    let hard = if response.mode() == ForgetMode::Hard { " for good" } else { "" };
    let mut lines =
        vec![format!("{verb} {forgotten}{which}{hard}, understood as {}", response.understood_as)];
    let still_told = ranges(&response.still_summarised);
    if response.rebuilt_segments() > 0 {
        let rebuilt = counted(response.rebuilt_segments(), "segment");
        lines.push(format!("{rebuilt} of the summary rebuilt"));
    }
    if !still_told.is_empty() {
        lines.push(format!(
            "the summary still tells of {still_told}, no longer stored: only --hard takes that out"
        ));
    }
    lines.extend(response.warnings.iter().map(|warning| format!("warning: {}", warning.text)));
    lines
}
