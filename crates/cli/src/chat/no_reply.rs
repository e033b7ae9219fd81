//! Stands for the model behind a chat in a build without models: the chat only stores messages.

use std::convert::Infallible;

use super::args;
use crate::errors::CliError;
use utterd_config::{Part, Unbuilt};

/// A model behind a chat; there is none in this build.
pub struct Model(Infallible);

impl Model {
    /// Refuses a model.
    pub fn of(args: &args::Chat) -> Result<Option<Self>, CliError> {
        if args.model.is_some() { Err(Unbuilt(Part::Llm).into()) } else { Ok(None) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// Asks for no reply.
    pub async fn reply(&self, _messages: &str, _piece: impl FnMut(&str)) -> Result<String, CliError> {
        match self.0 {}
    }
}
