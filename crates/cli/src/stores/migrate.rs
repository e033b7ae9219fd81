//! `utterd migrate`: makes the schema of a database, or brings it up to date.

use clap::Args;

use crate::{
    errors::CliError,
    serve::{Configuration, load},
    terminal::print,
};
use utterd_server::database::{self, Migrated};

/// Create or update the schema of a PostgreSQL database
///
/// Servers of the previous version go on serving meanwhile. Several `utterd migrate` may run at the same time.
///
/// Every setting is also an option of this command, such as --database-url and --database-schema.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd migrate --database-url postgres://utterd@127.0.0.1/utterd
  utterd migrate --check --config utterd.toml")]
pub struct Migrate {
    /// Only check whether the schema is up to date: the exit code is 1 if it is not
    #[arg(long)]
    pub check: bool,
    /// The database and its schema.
    #[command(flatten)]
    pub configuration: Configuration,
}

/// Migrates, and prints the versions before and after.
pub async fn migrate(Migrate { check, configuration }: Migrate) -> Result<(), CliError> {
    let settings = load(configuration)?.settings;
    let schema = &settings.database_schema;
    if check {
        database::check(&settings).await?;
        return Ok(print(&format!("the schema {schema} is up to date"))?);
    }
    let Migrated { from, to } = database::migrate(&settings).await?;
    Ok(print(&match from == to {
        true => format!("the schema {schema} is of version {to}: nothing to do"),
        false => format!("the schema {schema} is of version {to}; it was {}", before(from)),
    })?)
}

fn before(version: i32) -> String {
    if version == 0 { "missing".to_owned() } else { format!("of version {version}") }
}
