//! Reads files and stdin, up to a limit.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal, Read},
    path::Path,
};

use super::{output::note, text::bytes};
use crate::errors::CliError;
use utterd_config::read_text;
use utterd_domain::limits::MAX_SETTINGS_BYTES;
use utterd_telemetry::blocking;

/// The name of a file in messages; `-` is stdin.
pub fn label(file: &Path) -> String {
    if is_stdin(file) { "stdin".into() } else { file.display().to_string() }
}

/// Whether a name stands for stdin.
pub fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Opens a file, or stdin for `-`; prints a note if stdin is a terminal.
pub fn open(file: &Path) -> Result<Box<dyn BufRead + Send>, CliError> {
    if !is_stdin(file) {
        return Ok(Box::new(BufReader::new(File::open(file).map_err(about(file))?)));
    }
    if io::stdin().is_terminal() {
        note("reading from the terminal; end with Ctrl-D");
    }
    Ok(Box::new(BufReader::new(io::stdin())))
}

/// Reads a whole file of at most `limit` bytes. A larger one is an error, and is not read further.
fn read(file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    let mut content = Vec::new();
    open(file)?.take(limit as u64 + 1).read_to_end(&mut content).map_err(about(file))?;
    bounded(content, file, limit)
}

/// Reads a file of settings or secrets, which not everybody may write to.
pub fn trusted(file: &Path) -> io::Result<String> {
    read_text(file, MAX_SETTINGS_BYTES).map_err(about(file))
}

/// Reads the next line with its line end, of at most `limit` bytes; empty at the end of the file.
pub fn line(reader: &mut impl BufRead, file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    let mut line = Vec::new();
    reader.take(limit as u64 + 1).read_until(b'\n', &mut line).map_err(about(file))?;
    bounded(line, file, limit)
}

/// Reads stdin, or a slow file, without blocking anything else.
pub async fn behind<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, CliError> + Send + 'static,
) -> Result<T, CliError> {
    blocking(read).await.unwrap_or_else(|| Err(io::Error::other("the program is ending").into()))
}

/// Reads the text on stdin, without its last line end.
pub async fn said(limit: usize) -> Result<String, CliError> {
    let said = behind(move || read(Path::new("-"), limit)).await?;
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, format!("stdin: {error}"));
    let said = String::from_utf8(said).map_err(wrong)?;
    let without_end = said.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    Ok(without_end.unwrap_or(&said).to_owned())
}

/// Refuses more bytes than the limit.
pub fn bounded(content: Vec<u8>, file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    match content.len() > limit {
        true => {
            let limit = bytes(limit as u64);
            Err(CliError::Failed(format!("{}: is larger than {limit}, the limit", label(file))))
        }
        false => Ok(content),
    }
}

/// Adds a file's name to an error.
pub fn about(file: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", label(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_limit() {
        let endless = Path::new("/dev/zero");
        let error = read(endless, 9).unwrap_err().to_string();
        assert_eq!(error, "/dev/zero: is larger than 9 B, the limit");
        assert!(line(&mut open(endless).unwrap(), endless, 9).is_err());
    }

    #[test]
    fn lines_are_read_with_their_ends() {
        let file = Path::new("x");
        let mut lines = &b"12\n345"[..];
        let mut next = || line(&mut lines, file, 3).unwrap();
        assert_eq!([next(), next(), next()], [&b"12\n"[..], b"345", b""]);
    }
}
