//! The server's own commands: serving, and showing its configuration.

use std::{io, path::PathBuf};

use tracing_subscriber::{Layer, layer::SubscriberExt, reload, util::SubscriberInitExt};

use clap::Args;

use super::{
    errors::CliError,
    settings::SettingFlags,
    terminal::{Output, note, print},
};
use utterd_config::{ConfigError, Effective, LogFormat, Settings, Sources};
use utterd_server as server;
use utterd_server::{Announce, Owner, Passed, Reload, ServeError, log_filter, unheeded};
use utterd_telemetry::{Exporter, terminal};

/// Run the server, as `utterd` alone does
///
/// Every setting has a flag here, a variable and a key in the configuration file: --max-tokens is UTTERD_MAX_TOKENS, and
/// max_tokens in utterd.toml. A flag takes precedence over a variable, and a variable over the file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd serve --listen 127.0.0.1:50052 --buffer-size 50
  utterd serve --backend fjall --migrate data.json
  utterd serve --listen unix:agent.sock --announce json --exit-with-parent")]
pub struct Serve {
    /// Where settings come from.
    #[command(flatten)]
    pub configuration: Configuration,
    /// The options of this start.
    #[command(flatten)]
    pub start: Start,
}

/// The options of one start of the server, which are not part of the configuration.
#[derive(Debug, Args)]
pub struct Start {
    /// Import this history once, before serving: the plugin's data.json, its conversationData, or an older history
    #[arg(long, value_name = "FILE")]
    pub migrate: Option<PathBuf>,
    /// How to announce the address on stdout
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub announce: Announce,
    /// Only check the settings, the files that they name, and the store; change nothing
    #[arg(long, conflicts_with_all = ["migrate", "exit_with_parent"])]
    pub check: bool,
    /// Stop when stdin ends: with a pipe, when the process at its other end does
    #[arg(long)]
    pub exit_with_parent: bool,
}

/// Print the settings in effect, and their sources
///
/// Prints TOML that `utterd serve --config` accepts. Every setting is also an option of this command.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: utterd config --config utterd.toml > effective.toml")]
pub struct Configuration {
    /// The TOML file with the settings [env: UTTERD_CONFIG] [default: utterd.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One flag for each key.
    #[command(flatten)]
    pub flags: SettingFlags,
}

/// Serves until the process is asked to end.
pub fn serve(Serve { configuration, start }: Serve) -> Result<(), CliError> {
    if start.check {
        return check(configuration);
    }
    let socket = Passed::take().map_err(ServeError::Passed)?;
    let Effective { settings, warnings, .. } = load(configuration.clone())?;
    let owner = start.exit_with_parent.then(Owner::on_stdin).transpose().map_err(no_owner)?;
    let filter = log(&settings.log, settings.log_format);
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let reload = Some(reloaded(configuration, settings.clone(), filter));
    // This thread only accepts connections: the workers have runtimes of their own.
    let _traces = traces(&settings)?;
    let runtime = server::runtime()?;
    let start = server::Start { migrate: start.migrate, announce: start.announce, owner, socket, reload };
    Ok(runtime.block_on(server::serve(settings, start))?)
}

/// Checks whether the server would start, and changes nothing.
fn check(configuration: Configuration) -> Result<(), CliError> {
    let Effective { settings, warnings, .. } = load(configuration)?;
    warnings.iter().for_each(|warning| note(&warning.to_string()));
    let runtime = server::runtime()?;
    let silent = runtime.block_on(server::check(&settings))?;
    silent.iter().for_each(|warning| note(warning));
    Ok(print("the server can start with these settings")?)
}

/// Prints the effective settings, and where each came from.
pub fn show_configuration(configuration: Configuration) -> Result<(), CliError> {
    let effective = load(configuration)?;
    let mut output = Output::new();
    effective.warnings.iter().for_each(|warning| note(&warning.to_string()));
    output.text(&effective.to_string())?;
    Ok(output.flush()?)
}

/// Exports traces if `settings` name a collector, until this is dropped.
fn traces(settings: &Settings) -> Result<Option<Exporter>, CliError> {
    let Some(endpoint) = &settings.traces_endpoint else { return Ok(None) };
    let exporter = Exporter::to(&endpoint.to_string(), settings.traces_sampled.get());
    exporter.map(Some).map_err(|error| CliError::Usage(format!("traces_endpoint: {error}")))
}

fn no_owner(error: io::Error) -> CliError {
    CliError::Usage(format!("--exit-with-parent: {error}"))
}

/// The effective settings.
pub fn load(configuration: Configuration) -> Result<Effective, ConfigError> {
    Sources::of_process(configuration.flags.0, configuration.config).load()
}

/// Changes what is logged.
pub struct LogFilter(Box<dyn Fn(&str) + Send>);

/// Logs to stderr what `directives` allow.
pub fn log(directives: &str, format: LogFormat) -> LogFilter {
    let lines = tracing_subscriber::fmt::layer().with_writer(terminal::stderr).with_ansi(false);
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let (filter, handle) = reload::Layer::new(log_filter(directives));
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    warn_of_unheeded(directives);
    LogFilter(Box::new(move |directives| {
        // The subscriber of the process lives as long as the process.
        let _ = handle.reload(log_filter(directives));
        warn_of_unheeded(directives);
    }))
}

/// Warns that the details of other crates are not logged, for each directive that asks for them.
fn warn_of_unheeded(directives: &str) {
    for directive in unheeded(directives) {
        tracing::warn!(
            "log asks for {directive}, but only warnings and errors of other crates are logged: their details can hold \
             what was said"
        );
    }
}

/// Reads the configuration again: `log` changes at once, and everything else when the server starts next.
fn reloaded(configuration: Configuration, mut running: Settings, filter: LogFilter) -> Reload {
    Box::new(move || {
        let settings = match load(configuration.clone()) {
            Ok(effective) => effective.settings,
            Err(error) => return tracing::warn!("the settings stay as they are: {error}"),
        };
        if settings.log != running.log {
            (filter.0)(&settings.log);
            tracing::info!("log is now {}", settings.log);
            running.log.clone_from(&settings.log);
        }
        let others = settings.differences(&running);
        if !others.is_empty() {
            tracing::warn!(
                "other settings have changed, for which the server must be restarted: {}",
                others.join(", ")
            );
        }
    })
}
