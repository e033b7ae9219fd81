//! `utterd forget`: forgets what an instruction selects.

use clap::Args;

use crate::{
    args::Target,
    client::Connection,
    conversations::stored,
    errors::CliError,
    terminal::{Output, counted, ranges, sequences},
};
use utterd_rpc::proto::{ForgetMode, ForgetRequest, ForgetResponse, SequenceRange, UtteranceRef};

/// Forget the utterances that an instruction selects
///
/// `restore` brings them back, unless they were forgotten with --hard.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Instructions:
  oldest  newest  first:N  last:N  nth:N  position:N  in the window
  turn:N  before:turn_N  after:turn_N  last:N_turns  in everything stored, like all below
  speaker:ROLE  name:NAME  sequence:N  id:ID         a role is system, user, assistant or tool
  since:TIME  before:TIME                            2026-11-20 or 2026-11-20T10:00:00Z, in UTC
  about:TEXT  about:'\"A\",\"B\"'                        with all words of TEXT; of A or of B
  all
  For turns, positions and sequences, N can also be 3-7, 3- or 2,5-7. Combine instructions in one
  text: `A B` selects what meets both, `A or B` what meets either, `A except B` what meets only A.

utterd understands a sentence in plain English as a whole, or refuses it with suggestions. Days are
those of the server, in UTC. A sentence that selects more than half of the window is refused, with
the number of utterances and the short form to use instead, unless it names what to keep.

Examples:
  utterd forget last:2
  utterd forget trip 'what I said yesterday about my salary and my address'
  utterd forget trip 'everything but the last three messages'
  utterd forget trip --hard --dry-run 'everything the user said before turn 5'",
    override_usage = "utterd forget [OPTIONS] [CONVERSATION] <INSTRUCTION>"
)]
pub struct Forget {
    #[command(flatten)]
    pub target: Target,
    /// Remove the utterances for good, from the summary too
    #[arg(long)]
    pub hard: bool,
    /// Show the utterances that would be forgotten, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What to forget, such as last:3, turn:2 or about:TEXT, or a sentence in plain English
    #[arg(value_name = "INSTRUCTION")]
    pub instructions: Option<String>,
}

/// Forgets, and prints what was forgotten and how the instruction was understood.
pub async fn forget(mut args: Forget) -> Result<(), CliError> {
    let instructions = args.target.own(args.instructions, "INSTRUCTION")?;
    let connection = Connection::to(&args.target.remote).await?;
    let mode = if args.hard { ForgetMode::Hard } else { ForgetMode::Soft };
    let request = ForgetRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        instructions,
        mode: mode.into(),
        dry_run: args.dry_run,
        ..Default::default()
    };
    let response = connection.memory().forget(request).await?.into_inner();
    let mut output = Output::new();
    if args.target.json.json {
        output.json(&response)?;
        return Ok(output.flush()?);
    }
    output.prose(&describe(&response, args.dry_run))?;
    if args.dry_run && !response.forgotten.is_empty() {
        let one = |it: &UtteranceRef| SequenceRange { first: it.sequence, last: it.sequence };
        let forgotten: Vec<_> = response.forgotten.iter().map(one).collect();
        output.line("")?;
        stored::tell(&mut output, &connection, &response.conversation_id, &forgotten).await?;
    }
    Ok(output.flush()?)
}

/// What was forgotten, or with `dry_run` would be, and how the instruction was understood.
pub fn describe(response: &ForgetResponse, dry_run: bool) -> String {
    let verb = if dry_run { "would forget" } else { "forgot" };
    let forgotten = counted(response.forgotten.len(), "utterance");
    let which = match sequences(&response.forgotten) {
        none if none.is_empty() => none,
        some => format!(" ({some})"),
    };
    let hard = if response.mode() == ForgetMode::Hard { " for good" } else { "" };
    let mut lines =
        vec![format!("{verb} {forgotten}{which}{hard}, understood as {}", response.understood_as)];
    if let Some(in_forks) = response.in_forks.filter(|it| it.conversation_count() > 0) {
        let utterances = counted(in_forks.utterance_count(), "utterance");
        let conversations = counted(in_forks.conversation_count(), "other conversation");
        lines.push(format!("{utterances} in {conversations}, forks or parents"));
    }
    let still_told = ranges(&response.still_summarised);
    if response.rebuilt_segments() > 0 {
        let rebuilt = counted(response.rebuilt_segments(), "segment");
        lines.push(format!("{rebuilt} of the summary rebuilt"));
    }
    if !still_told.is_empty() {
        lines.push(format!(
            "the summary still covers {still_told}, no longer stored: only --hard removes that"
        ));
    }
    lines.extend(response.warnings.iter().map(|warning| format!("warning: {}", warning.text)));
    lines.join("\n")
}
