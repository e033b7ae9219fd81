//! `utterd forget`: forgets what an instruction selects.

use std::io;

use super::{
    args,
    client::Connection,
    errors::CliError,
    output::Output,
    text::{counted, sequences},
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
        tell(&mut output, &response, args.dry_run)?;
    }
    Ok(output.flush()?)
}

fn tell(output: &mut Output, response: &ForgetResponse, dry_run: bool) -> io::Result<()> {
    let verb = if dry_run { "would forget" } else { "forgot" };
    let forgotten = counted(response.forgotten.len(), "utterance");
    let which = match sequences(&response.forgotten) {
        none if none.is_empty() => none,
        some => format!(" ({some})"),
    };
    output.line(&format!("{verb} {forgotten}{which}, understood as {}", response.understood_as))?;
    match response.rebuilt_segments() {
        0 => Ok(()),
        rebuilt => output.line(&format!("{} of the summary rebuilt", counted(rebuilt, "segment"))),
    }
}
