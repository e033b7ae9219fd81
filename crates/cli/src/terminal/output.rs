//! Output to stdout.

use std::io::{self, BufWriter, Stdout, Write};

use console::{Style, Term};
use prost::Message;

use super::{
    json, pager,
    text::{clipped, sequences},
    wrap::wrap,
};
use crate::errors::CliError;
use utterd_rpc::proto::UtteranceRef;

/// Stdout, with its width when it is a terminal.
pub struct Output {
    writer: BufWriter<Stdout>,
    width: Option<usize>,
    held: Option<Held>,
}

/// Output that is held back until its length is known.
struct Held {
    text: Vec<u8>,
    rows: usize,
}

impl Output {
    /// Stdout of this process.
    pub fn new() -> Self {
        let terminal = Term::stdout();
        let size = if terminal.is_term() { terminal.size_checked() } else { None };
        let width = size.map(|(_, columns)| columns.into());
        Self { writer: BufWriter::new(io::stdout()), width, held: None }
    }

    /// Stdout of this process; on a terminal, output longer than the screen goes through a pager.
    pub fn paged() -> Self {
        let rows = Term::stdout().size().0.into();
        let output = Self::new();
        let held = output.width.map(|_| Held { text: Vec::new(), rows });
        Self { held, ..output }
    }

    /// The columns of the terminal; `None` if stdout is not a terminal, and nothing needs to be clipped.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Writes text of any number of lines, and ends the last one.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.write_all(text.as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.line("") }
    }

    /// Writes text and ends the line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self, "{text}")
    }

    /// Writes a line, on a terminal cut to its width.
    pub fn row(&mut self, text: &str) -> io::Result<()> {
        self.line(&clipped(text, self.width))
    }

    /// Writes a line, on a terminal broken between words.
    pub fn prose(&mut self, text: &str) -> io::Result<()> {
        match self.width {
            Some(width) => wrap(text, width).iter().try_for_each(|line| self.line(line)),
            None => self.line(text),
        }
    }

    /// Writes which utterances have left the window, if any have.
    pub fn evicted(&mut self, evicted: &[UtteranceRef]) -> io::Result<()> {
        if evicted.is_empty() { Ok(()) } else { self.line(&format!("evicted {}", sequences(evicted))) }
    }

    /// Writes `message`, of the type `name`, as indented JSON.
    pub fn json(&mut self, name: &str, message: &impl Message) -> Result<(), CliError> {
        self.json_value(&json::reflect(name, message)?)
    }

    /// Writes `value` as indented JSON.
    pub fn json_value(&mut self, value: &impl serde::Serialize) -> Result<(), CliError> {
        serde_json::to_writer_pretty(&mut *self, value).map_err(io::Error::from)?;
        Ok(self.line("")?)
    }

    /// Writes `message`, of the type `name`, as JSON on one line.
    pub fn json_line(&mut self, name: &str, message: &impl Message) -> Result<(), CliError> {
        serde_json::to_writer(&mut *self, &json::reflect(name, message)?).map_err(io::Error::from)?;
        Ok(self.line("")?)
    }

    /// Writes out everything, through the pager if it is too long for the screen.
    pub fn flush(&mut self) -> io::Result<()> {
        match self.held.take() {
            Some(held) if held.is_long() => return pager::page(&held.text),
            Some(held) => self.writer.write_all(&held.text)?,
            None => {}
        }
        self.writer.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.text.write(bytes),
            None => self.writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }
}

impl Held {
    /// Whether the screen has no room for it and the prompt.
    fn is_long(&self) -> bool {
        self.text.iter().filter(|byte| **byte == b'\n').count() >= self.rows
    }
}

/// Text that matters less. Like every style, it is plain unless stdout is a terminal and
/// `NO_COLOR` is not set.
pub fn dim(text: &str) -> String {
    Style::new().dim().apply_to(text).to_string()
}

/// Text that stands out.
pub fn bold(text: &str) -> String {
    Style::new().bold().apply_to(text).to_string()
}

/// Prints something that is not a result, on stderr.
pub fn note(text: &str) {
    // If stderr is closed, there is nobody to tell.
    let _ = writeln!(io::stderr(), "{text}");
}
