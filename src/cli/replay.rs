//! `utterd replay`: stores transcripts, each as a conversation of its own.
//!
//! Conversations are sent side by side, the messages of one after each other: the next is sent
//! when it is settled what became of the last.

mod attempt;
mod wire;

use std::collections::BTreeMap;

use futures::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tonic::Status;

use self::{
    attempt::{Attempt, attempts},
    wire::Wire,
};
use super::{
    args,
    client::Connection,
    errors::{CliError, reason, refusal},
    output::{Output, note},
    tally::Tally,
    text::counted,
    transcript::{self, Transcript},
};
use crate::proto::MemorizeResponse;

/// Conversations that are sent at the same time.
const IN_FLIGHT: usize = 16;

/// Replays the files, and tells in a closing line what was stored.
///
/// Replayed again, a transcript stores nothing twice, and one that has grown stores what is new.
pub async fn replay(args: args::Replay) -> Result<(), CliError> {
    let progress = progress();
    let mut read = transcript::read(&args.files);
    name_conversation(&args, &mut read)?;
    let messages: usize = read.iter().flatten().map(|transcript| transcript.messages.len()).sum();
    progress.set_length(messages as u64);
    let connection = Connection::open(&args.target).await?;
    let replay = Replay { connection, args, progress };
    let (tally, failed) = replay.all(read).await?;
    replay.progress.finish_and_clear();
    replay.close(&tally)?;
    if failed > 0 { Err(CliError::Incomplete(counted(failed, "transcript"))) } else { Ok(()) }
}

/// Puts a single transcript into the conversation that `--conversation` names.
fn name_conversation(args: &args::Replay, read: &mut [Result<Transcript, String>]) -> Result<(), CliError> {
    match (args.target.conversation.as_str(), read) {
        ("", _) => Ok(()),
        (id, [one]) => {
            if let Ok(transcript) = one {
                transcript.conversation_id = id.into();
            }
            Ok(())
        }
        (_, many) => {
            let transcripts = counted(many.len(), "transcript");
            let reason = format!("--conversation goes with one transcript, and there are {transcripts}");
            Err(CliError::Usage(reason))
        }
    }
}

/// A bar on stderr, drawn only on a terminal.
fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    let template = "{wide_bar} {human_pos} of {human_len} messages, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

struct Replay {
    connection: Connection,
    args: args::Replay,
    progress: ProgressBar,
}

/// Why a transcript was not replayed to its end.
enum Failure {
    /// A message was refused, or the server went away: where, and why.
    Stopped(String),
    /// The outcome could not be written.
    Output(CliError),
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Self::Output(error)
    }
}

impl Replay {
    /// Replays every transcript that could be read; returns what was stored and how many failed.
    async fn all(&self, read: Vec<Result<Transcript, String>>) -> Result<(Tally, u64), CliError> {
        let mut tally = Tally::default();
        let mut failed = 0;
        let one = |transcript: Result<Transcript, String>| async {
            let mut stored = Tally::default();
            let result = match transcript {
                Ok(transcript) => self.one(&transcript, &mut stored).await,
                Err(reason) => Ok(Some(reason)),
            };
            (stored, result)
        };
        let mut outcomes = stream::iter(read).map(one).buffer_unordered(IN_FLIGHT);
        while let Some((stored, result)) = outcomes.next().await {
            tally += stored;
            if let Some(failure) = result? {
                failed += 1;
                self.note(&format!("failed: {failure}"));
            }
        }
        Ok((tally, failed))
    }

    /// Replays one transcript into `tally`; returns what stopped it, if anything did.
    async fn one(&self, transcript: &Transcript, tally: &mut Tally) -> Result<Option<String>, CliError> {
        let mut wire = Wire::new(self.connection.memory());
        for attempt in attempts(transcript, &self.args.target.recipient, self.args.batch) {
            let settled = self.settle(&mut wire, &attempt, tally).await;
            self.progress.inc(attempt.len() as u64);
            match settled {
                Ok(()) => {}
                Err(Failure::Stopped(reason)) => return Ok(Some(reason)),
                Err(Failure::Output(error)) => return Err(error),
            }
        }
        tally.transcripts += 1;
        Ok(None)
    }

    /// Sends an attempt, strictly first, until it is stored or finally refused.
    async fn settle(&self, wire: &mut Wire, attempt: &Attempt<'_>, tally: &mut Tally) -> Result<(), Failure> {
        if let Some((number, description)) = attempt.irregularities().next().filter(|_| self.args.strict) {
            return Err(Failure::Stopped(format!("{} message {number}: {description}", attempt.label())));
        }
        let status = match wire.exchange(attempt.request(false)).await {
            Ok(response) => return self.take(attempt, &response, tally),
            Err(status) => status,
        };
        if !settles_apart(&status) {
            return Err(refused(attempt, &status));
        }
        match attempt.apart() {
            Some(each) => {
                for one in each {
                    Box::pin(self.settle(wire, &one, tally)).await?;
                }
                Ok(())
            }
            None => self.settle_leniently(wire, attempt, status, tally).await,
        }
    }

    /// Settles one utterance that was refused with `status`.
    ///
    /// A reused request id means that an earlier replay stored the utterance leniently, with another
    /// body: sent leniently again, it gives that outcome.
    async fn settle_leniently(
        &self,
        wire: &mut Wire,
        attempt: &Attempt<'_>,
        status: Status,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let status = match reason(&status).as_str() {
            EXISTS => status,
            _ if self.args.strict => return Err(refused(attempt, &status)),
            _ => match wire.exchange(attempt.request(true)).await {
                Ok(response) => return self.take(attempt, &response, tally),
                Err(status) => status,
            },
        };
        if reason(&status) != EXISTS {
            return Err(refused(attempt, &status));
        }
        tally.already += 1;
        Ok(())
    }

    fn take(&self, attempt: &Attempt, response: &MemorizeResponse, tally: &mut Tally) -> Result<(), Failure> {
        self.show(response)?;
        let memorized = response.memorized.len() as u64;
        if response.replayed {
            tally.already += memorized;
            return Ok(());
        }
        let tokens =
            response.memorized.iter().map(|reference| u64::try_from(reference.token_count).unwrap_or(0));
        tally.tokens += tokens.sum::<u64>();
        tally.utterances += memorized;
        let irregular = irregular(attempt, response);
        tally.lenient += irregular.len() as u64;
        for (number, descriptions) in irregular {
            self.note(&format!("{} message {number}: {}", attempt.label(), descriptions.join("; ")));
        }
        Ok(())
    }

    fn show(&self, response: &MemorizeResponse) -> Result<(), CliError> {
        if !self.args.target.json {
            return Ok(());
        }
        let mut output = Output::new();
        output.json_line("MemorizeResponse", response)?;
        Ok(output.flush()?)
    }

    /// The closing line: on stdout, unless JSON is there.
    fn close(&self, tally: &Tally) -> Result<(), CliError> {
        let line = tally.line(self.progress.elapsed());
        if self.args.target.json {
            note(&line);
            return Ok(());
        }
        let mut output = Output::new();
        output.line(&line)?;
        Ok(output.flush()?)
    }

    /// Tells something above the bar.
    fn note(&self, text: &str) {
        self.progress.suspend(|| note(text));
    }
}

fn refused(attempt: &Attempt, status: &Status) -> Failure {
    Failure::Stopped(format!("{} {}: {}", attempt.label(), attempt.place(), refusal(status)))
}

/// What is irregular in what was stored, by the message's number: what the transcript's reader found,
/// and what the server let pass.
fn irregular<'a>(attempt: &Attempt<'a>, response: &'a MemorizeResponse) -> BTreeMap<usize, Vec<&'a str>> {
    let mut irregular: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (number, description) in attempt.irregularities() {
        irregular.entry(number).or_default().push(description);
    }
    for irregularity in &response.irregularities {
        let index = usize::try_from(irregularity.index()).unwrap_or(0);
        irregular.entry(attempt.number(index)).or_default().push(&irregularity.description);
    }
    irregular
}

/// The utterance is stored under its id.
const EXISTS: &str = "UTTERANCE_EXISTS";
/// What a lenient call lets pass, and what an earlier replay leaves behind.
const SETTLED_APART: [&str; 4] = ["NO_OPEN_CALL", "EMPTY_UTTERANCE", "REQUEST_ID_REUSED", EXISTS];

/// Whether a refusal concerns single utterances, each of which can be settled by itself.
fn settles_apart(status: &Status) -> bool {
    SETTLED_APART.contains(&reason(status).as_str())
}
