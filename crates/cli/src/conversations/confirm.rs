//! Asks the person at the terminal before something is removed for good.

use std::io::{self, IsTerminal, Write};

use crate::{
    errors::CliError,
    terminal::{output::note, text::visible},
};

/// Asks whether to remove `what`, such as `2 conversations of ben`; the person confirms by typing `name`.
pub fn confirmed(what: &str, name: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        let text = "stdin is not a terminal, so nobody can confirm: give --yes to remove without a question";
        return Err(CliError::Usage(text.to_owned()));
    }
    let mut terminal = io::stderr();
    write!(terminal, "Remove {what} for good? Type {} to confirm: ", visible(name))?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let is_confirmed = answer.trim_end_matches(['\r', '\n']) == name;
    if !is_confirmed {
        note("nothing was removed");
    }
    Ok(is_confirmed)
}
