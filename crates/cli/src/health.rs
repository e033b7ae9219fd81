//! `utterd health`: asks whether a server is serving.

use clap::Args;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus};

use super::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::{Output, word},
};

/// Ask whether a server is serving
///
/// The exit code is 0 if the server is serving, 1 if it is not, and 4 if no server answers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd health
  utterd health --server https://memory.example.org:50051 --json")]
pub struct Health {
    #[command(flatten)]
    remote: Remote,
    /// Ask only whether the process answers, even if its store accepts no writes
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    json: Json,
}

/// Asks, and prints the answer in one word.
pub async fn health(args: Health) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let service = if args.live { "liveness" } else { "" }.to_owned();
    let response = connection.health().check(HealthCheckRequest { service }).await?.into_inner();
    let status = response.status();
    let mut output = Output::new();
    match args.json.json {
        true => output.json_value(&serde_json::json!({ "status": status.as_str_name() }))?,
        false => output.line(&word(status.as_str_name(), ""))?,
    }
    output.flush()?;
    match status {
        ServingStatus::Serving => Ok(()),
        _ => Err(CliError::Failed(format!("{} is not serving", args.remote.address()))),
    }
}
