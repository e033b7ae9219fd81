//! Output to stdout and stderr.

use std::{
    fmt,
    io::{self, BufWriter, Stdout, Write},
};

use console::Term;
use prost::{Message, Name};
use prost_reflect::DynamicMessage;

use super::text::{clipped, folded, sequences};
use crate::errors::CliError;
use utterd_rpc::proto::{UtteranceRef, descriptors};
use utterd_telemetry::terminal::{Escaping, escaped, stderr, stdout};

/// Stdout, with its width when it is a terminal.
pub struct Output {
    writer: BufWriter<Escaping<Stdout>>,
    /// The columns of the terminal; `None` if it is none, and nothing needs to be clipped.
    width: Option<usize>,
}

impl Output {
    /// Stdout of this process.
    pub fn new() -> Self {
        let terminal = Term::stdout();
        let size = if terminal.is_term() { terminal.size_checked() } else { None };
        Self { writer: BufWriter::new(stdout()), width: size.map(|(_, columns)| columns.into()) }
    }

    /// Writes text of any number of lines, and ends the last one.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.line("") }
    }

    /// Writes text and ends the line.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.writer, "{text}")
    }

    /// Writes a line, on a terminal cut to its width.
    pub fn row(&mut self, text: &str) -> io::Result<()> {
        match self.width {
            Some(width) => self.line(&clipped(&escaped(text), width)),
            None => self.line(text),
        }
    }

    /// Writes lines, on a terminal broken between words.
    pub fn prose(&mut self, text: &str) -> io::Result<()> {
        match self.width {
            Some(_) => self.hanging("", text),
            None => self.line(text),
        }
    }

    /// Writes a text behind `head`: on a terminal broken between words and indented, elsewhere on one line.
    pub fn hanging(&mut self, head: &str, text: &str) -> io::Result<()> {
        let Some(width) = self.width else { return self.line(format!("{head}{}", folded(text)).trim_end()) };
        let (head, text) = (escaped(head), escaped(text));
        let indent = " ".repeat(console::measure_text_width(&head));
        let columns = textwrap::Options::new(width).initial_indent(&head).subsequent_indent(&indent);
        textwrap::wrap(&text, columns).iter().try_for_each(|row| self.line(row))
    }

    /// Writes which utterances have left the window, if any have.
    pub fn evicted(&mut self, evicted: &[UtteranceRef]) -> io::Result<()> {
        if evicted.is_empty() { Ok(()) } else { self.line(&format!("evicted {}", sequences(evicted))) }
    }

    /// Writes a message as indented JSON.
    pub fn json<M: Message + Name>(&mut self, message: &M) -> Result<(), CliError> {
        self.json_value(&reflect(message)?)
    }

    /// Writes `value` as indented JSON.
    pub fn json_value(&mut self, value: &impl serde::Serialize) -> Result<(), CliError> {
        serde_json::to_writer_pretty(&mut self.writer, value).map_err(io::Error::from)?;
        Ok(self.line("")?)
    }

    /// Writes a message as JSON on one line.
    pub fn json_line<M: Message + Name>(&mut self, message: &M) -> Result<(), CliError> {
        serde_json::to_writer(&mut self.writer, &reflect(message)?).map_err(io::Error::from)?;
        Ok(self.line("")?)
    }

    /// Writes out everything.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Prints lines, on a terminal broken between words.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = Output::new();
    output.prose(text)?;
    output.flush()
}

/// A message in a form that serialises to protobuf's canonical JSON.
pub fn reflect<M: Message + Name>(message: &M) -> Result<DynamicMessage, CliError> {
    let name = M::full_name();
    let failed =
        |error: &dyn fmt::Display| CliError::Failed(format!("{name} cannot be shown as JSON: {error}"));
    let descriptor = descriptors().and_then(|pool| pool.get_message_by_name(&name));
    let descriptor = descriptor.ok_or_else(|| failed(&"there is no such message"))?;
    DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).map_err(|error| failed(&error))
}

/// Prints something that is not a result, on stderr.
pub fn note(text: &str) {
    // If stderr is closed, there is nobody to tell.
    let _ = writeln!(stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto::Role;

    #[test]
    fn json_is_protobufs_own() {
        let reference =
            UtteranceRef { sequence: 7, role: Role::User.into(), turn_number: Some(0), ..Default::default() };
        let json = serde_json::to_string(&reflect(&reference).unwrap()).unwrap();
        assert_eq!(json, r#"{"sequence":"7","role":"ROLE_USER","turnNumber":0}"#);
        assert!(descriptors().unwrap().get_message_by_name("google.rpc.BadRequest").is_some());
    }
}
