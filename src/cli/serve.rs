//! The server's own commands: serving, and showing its configuration.

use std::{io, path::Path};

use tokio::runtime::Builder;
use tracing_subscriber::{Layer, layer::SubscriberExt, util::SubscriberInitExt};

use super::{
    args::Configuration,
    errors::CliError,
    output::{Output, note},
};
use crate::{
    config::{ConfigError, Effective, Sources},
    server::{self, log_filter},
};

/// Serves until the process is told to end; what `migrate` holds is imported first.
pub fn serve(configuration: Configuration, migrate: Option<&Path>) -> Result<(), CliError> {
    let Effective { settings, warnings, .. } = load(configuration)?;
    log(&settings.log);
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    // This thread only accepts connections: the workers have runtimes of their own.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(server::serve(settings, migrate))?)
}

/// Prints the settings that hold, and where each came from.
pub fn show_configuration(configuration: Configuration) -> Result<(), CliError> {
    let effective = load(configuration)?;
    let mut output = Output::new();
    effective.warnings.iter().for_each(|warning| note(&warning.to_string()));
    output.text(&effective.to_string())?;
    Ok(output.flush()?)
}

fn load(configuration: Configuration) -> Result<Effective, ConfigError> {
    Sources::of_process(configuration.flags.0, configuration.config).load()
}

/// Logs on stderr what `directives` let pass.
fn log(directives: &str) {
    let lines =
        tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(console::colors_enabled_stderr());
    tracing_subscriber::registry().with(lines.with_filter(log_filter(directives))).init();
}
