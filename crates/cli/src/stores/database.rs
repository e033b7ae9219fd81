//! The options of commands that work on a database without a server.

use std::path::PathBuf;

use clap::Args;

use utterd_config::{ConfigError, Place, Settings, Sources};

/// How a database is reached.
#[derive(Debug, Default, Args)]
pub struct DatabaseOptions {
    /// The certificate authorities to trust for the database, in PEM [env: UTTERD_DATABASE_CA] [default: those of the
    /// system]
    #[arg(long, value_name = "FILE")]
    pub database_ca: Option<String>,
    /// The TOML file with the settings of the database [env: UTTERD_CONFIG] [default: utterd.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl DatabaseOptions {
    /// The settings; the defaults, if the place is not a database.
    pub fn settings(self, place: &Place) -> Result<Settings, ConfigError> {
        if !matches!(place, Place::Database(_)) {
            return Ok(Settings::default());
        }
        let flags = self.database_ca.into_iter().map(|file| ("database_ca", file)).collect();
        Ok(Sources::of_process(flags, self.config).load()?.settings)
    }
}
