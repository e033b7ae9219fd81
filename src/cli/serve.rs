//! The server's own commands: serving, and showing its configuration.

use std::io;

use tokio::runtime::Builder;
use tracing_subscriber::{Layer, layer::SubscriberExt, util::SubscriberInitExt};

use super::{
    args::{Configuration, Serve},
    errors::CliError,
    output::{Output, note},
};
use crate::{
    config::{ConfigError, Effective, Sources},
    server::{self, Owner, log_filter},
};

/// Serves until the process is told to end.
pub fn serve(Serve { configuration, start }: Serve) -> Result<(), CliError> {
    let Effective { settings, warnings, .. } = load(configuration)?;
    let owner = start.exit_with_parent.then(Owner::on_stdin).transpose().map_err(no_owner)?;
    log(&settings.log);
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    // This thread only accepts connections: the workers have runtimes of their own.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let start = server::Start { migrate: start.migrate, announce: start.announce, owner };
    Ok(runtime.block_on(server::serve(settings, start))?)
}

/// Prints the settings that hold, and where each came from.
pub fn show_configuration(configuration: Configuration) -> Result<(), CliError> {
    let effective = load(configuration)?;
    let mut output = Output::new();
    effective.warnings.iter().for_each(|warning| note(&warning.to_string()));
    output.text(&effective.to_string())?;
    Ok(output.flush()?)
}

fn no_owner(error: io::Error) -> CliError {
    CliError::Usage(format!("--exit-with-parent: {error}"))
}

fn load(configuration: Configuration) -> Result<Effective, ConfigError> {
    Sources::of_process(configuration.flags.0, configuration.config).load()
}

/// Logs on stderr what `directives` let pass.
pub fn log(directives: &str) {
    let lines =
        tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(console::colors_enabled_stderr());
    tracing_subscriber::registry().with(lines.with_filter(log_filter(directives))).init();
}
