//! The server's own commands: serving, and showing its configuration.

use tokio::runtime::Builder;

use super::{args::Configuration, errors::CliError, output::Output};
use crate::{
    config::{ConfigError, Effective, Settings, Sources},
    server,
};

/// Serves until the process is told to end.
pub fn serve(configuration: Configuration) -> Result<(), CliError> {
    let settings = load(configuration)?.settings;
    let runtime = runtime(&settings).map_err(CliError::Io)?;
    Ok(runtime.block_on(server::serve(settings))?)
}

/// Prints the settings that hold, and where each came from.
pub fn show_configuration(configuration: Configuration) -> Result<(), CliError> {
    let effective = load(configuration)?;
    let mut output = Output::new();
    output.text(&effective.to_string())?;
    Ok(output.flush()?)
}

fn load(configuration: Configuration) -> Result<Effective, ConfigError> {
    Sources::of_process(configuration.flags.0, configuration.config).load()
}

fn runtime(settings: &Settings) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = Builder::new_multi_thread();
    if settings.workers > 0 {
        builder.worker_threads(settings.workers);
    }
    builder.enable_all().build()
}
