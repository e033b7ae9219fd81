//! The server's own commands: serving, and showing its configuration.

use std::{io, path::Path};

use tokio::runtime::Builder;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use super::{
    args::Configuration,
    errors::CliError,
    output::{Output, note},
};
use crate::{
    config::{ConfigError, Effective, Sources},
    server,
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

/// What the engines of durable stores tell of their work is logged only where it is asked for.
const QUIET: &str = "fjall=warn,lsm_tree=warn,sled=warn";

/// Logs on stderr what `filter`, which the configuration has checked, lets pass.
fn log(filter: &str) {
    let mut chosen = EnvFilter::new(filter);
    if chosen.max_level_hint() > Some(LevelFilter::WARN) {
        chosen = EnvFilter::new(format!("{QUIET},{filter}"));
    }
    tracing_subscriber::fmt()
        .with_env_filter(chosen)
        .with_writer(io::stderr)
        .with_ansi(console::colors_enabled_stderr())
        .init();
}
