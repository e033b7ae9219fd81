//! The lines of a chat: typed in a terminal, with editing, or written into a pipe.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
    path::Path,
};

use console::style;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler,
    Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::{Hint, Hinter},
    history::MemHistory,
    validate::Validator,
};

use super::command;
use crate::{
    errors::CliError,
    terminal::read::{behind, line},
};
use utterd_domain::limits::MOST_CONTENT_BYTES;
use utterd_telemetry::terminal::escaped;

/// Lines that can be brought back.
const REMEMBERED: usize = 500;
/// Ends the mode in which a terminal marks what is pasted.
const PASTE_UNMARKED: &str = "\x1b[?2004l";

/// Where the lines come from.
pub enum Lines {
    /// A terminal; `None` while it is read.
    Typed(Option<Box<Editor<Commands, MemHistory>>>),
    /// A pipe or a file.
    Piped,
}

impl Lines {
    /// The lines on stdin.
    pub fn new() -> Result<Self, CliError> {
        if !io::stdin().is_terminal() {
            return Ok(Self::Piped);
        }
        let config = Config::builder()
            .max_history_size(REMEMBERED)
            .map_err(io::Error::other)?
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).map_err(io::Error::other)?;
        editor.set_helper(Some(Commands));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(ClearOrLeave)));
        Ok(Self::Typed(Some(Box::new(editor))))
    }

    /// Whether somebody types them.
    pub fn are_typed(&self) -> bool {
        matches!(self, Self::Typed(_))
    }

    /// The next line; `None` if the user leaves, or at the end. A typed one starts as `begun`.
    pub async fn next(&mut self, prompt: &'static str, begun: String) -> Result<Option<String>, CliError> {
        let Self::Typed(place) = self else { return behind(piped).await };
        let Some(mut editor) = place.take() else { return Ok(None) };
        let (read, editor) = behind(move || {
            let read = editor.readline_with_initial(prompt, (&begun, ""));
            Ok((read, editor))
        })
        .await?;
        let editor = place.insert(editor);
        match read {
            Ok(line) => {
                editor.add_history_entry(line.as_str()).map_err(io::Error::other)?;
                Ok(Some(line))
            }
            Err(ReadlineError::Io(error)) => Err(error.into()),
            Err(ReadlineError::Errno(error)) => Err(io::Error::from(error).into()),
            // Ctrl-D, Ctrl-C on an empty line, or SIGINT
            Err(_) => Ok(None),
        }
    }

    /// Makes these, and no others, the lines that can be brought back. Those that a terminal would obey are left out.
    pub fn recall<'a>(&mut self, lines: impl Iterator<Item = &'a str>) -> Result<(), CliError> {
        let Self::Typed(Some(editor)) = self else { return Ok(()) };
        editor.clear_history().map_err(io::Error::other)?;
        for line in lines.filter(|line| *escaped(line) == **line) {
            editor.add_history_entry(line).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

fn piped() -> Result<Option<String>, CliError> {
    let line = line(&mut io::stdin().lock(), Path::new("-"), MOST_CONTENT_BYTES)?;
    let text = String::from_utf8(line).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("a line on stdin is not UTF-8: {error}"))
    })?;
    Ok((!text.is_empty()).then_some(text))
}

/// Completes commands, and hints at their arguments.
pub struct Commands;

impl Completer for Commands {
    type Candidate = Pair;

    fn complete(&self, line: &str, end: usize, _: &Context) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..end).unwrap_or_default();
        let pair = |(usage, replacement): (&str, String)| Pair { display: usage.to_owned(), replacement };
        Ok((0, command::completions(typed).into_iter().map(pair).collect()))
    }
}

/// What a command still takes. It is only shown: it names arguments, and is none.
pub struct Usage(String);

impl Hint for Usage {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for Commands {
    type Hint = Usage;

    fn hint(&self, line: &str, _: usize, _: &Context) -> Option<Usage> {
        command::hint(line).map(Usage)
    }
}

impl Highlighter for Commands {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        style(hint).dim().to_string().into()
    }
}

impl Validator for Commands {}

impl Helper for Commands {}

/// Ctrl-C clears the line, or leaves if there is nothing to clear.
struct ClearOrLeave;

impl ConditionalEventHandler for ClearOrLeave {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        Some(if context.line().is_empty() { Cmd::Interrupt } else { Cmd::Kill(Movement::WholeBuffer) })
    }
}

/// The modes of the terminal before the chat, for a program that ends while a line is typed.
pub struct Modes(Option<Termios>);

impl Modes {
    /// Those of the terminal on stdin, if it is one.
    pub fn of_terminal() -> Self {
        Self(tcgetattr(io::stdin()).ok())
    }

    /// Gives the terminal back as it was.
    pub fn restore(&self) {
        let Some(modes) = &self.0 else { return };
        // A terminal that was closed needs no restoring.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        let _ = writeln!(io::stdout(), "{PASTE_UNMARKED}");
    }
}
