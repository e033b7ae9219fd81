//! Stands for `utterd mcp` in a build without it.

use super::errors::CliError;
use utterd_config::{Part, Unbuilt};

/// The arguments.
pub mod args {
    use std::ffi::OsString;

    use clap::Args;

    /// Offer the memory to models as tools; not in this build
    #[derive(Debug, Args)]
    #[command(after_help = "Example: cargo install --path . --features full")]
    pub struct Mcp {
        /// What is given; nothing is accepted.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        given: Vec<OsString>,
    }
}

/// Refuses.
pub fn mcp(_: args::Mcp) -> Result<(), CliError> {
    Err(Unbuilt(Part::Mcp).into())
}
