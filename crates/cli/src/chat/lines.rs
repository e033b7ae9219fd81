//! The lines of a chat: typed in a terminal, with editing, or written into a pipe.

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use rustyline::{DefaultEditor, error::ReadlineError};

use crate::{
    errors::CliError,
    terminal::read::{behind, line},
};
use utterd_domain::limits::MOST_CONTENT_BYTES;

/// Where the lines come from.
pub enum Lines {
    /// A terminal; `None` while it is read.
    Typed(Option<Box<DefaultEditor>>),
    /// A pipe or a file.
    Piped,
}

impl Lines {
    /// The lines on stdin.
    pub fn new() -> Result<Self, CliError> {
        if !io::stdin().is_terminal() {
            return Ok(Self::Piped);
        }
        let editor = DefaultEditor::new().map_err(io::Error::other)?;
        Ok(Self::Typed(Some(Box::new(editor))))
    }

    /// Whether somebody types them.
    pub fn are_typed(&self) -> bool {
        matches!(self, Self::Typed(_))
    }

    /// The next line; `None` if the user leaves, or at the end. Ctrl-C gives up a line, which is empty then.
    pub async fn next(&mut self, prompt: &'static str) -> Result<Option<String>, CliError> {
        let Self::Typed(place) = self else { return behind(piped).await };
        let Some(mut editor) = place.take() else { return Ok(None) };
        let (read, editor) = behind(move || {
            let read = editor.readline(prompt);
            Ok((read, editor))
        })
        .await?;
        let editor = place.insert(editor);
        match read {
            Ok(line) => {
                editor.add_history_entry(line.as_str()).map_err(io::Error::other)?;
                Ok(Some(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
            Err(ReadlineError::Eof) => Ok(None),
            Err(error) => Err(io::Error::other(error).into()),
        }
    }
}

fn piped() -> Result<Option<String>, CliError> {
    let line = line(&mut io::stdin().lock(), Path::new("-"), MOST_CONTENT_BYTES)?;
    let text = String::from_utf8(line).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("a line on stdin is not UTF-8: {error}"))
    })?;
    Ok((!text.is_empty()).then_some(text))
}
