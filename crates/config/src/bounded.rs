//! Files, read up to a limit.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Reads a whole file of at most `most` bytes. A larger or endless file is an error, and is not read further.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut content)?;
    match content.len() > most {
        true => Err(io::Error::other(format!("it is larger than {most} bytes, the most that is read"))),
        false => Ok(content),
    }
}

/// Reads a whole text file of at most `most` bytes.
pub fn read_text(path: &Path, most: usize) -> io::Result<String> {
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(read_file(path, most)?).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_an_error() {
        let error = read_text(Path::new("/dev/zero"), 9).unwrap_err().to_string();
        assert_eq!(error, "it is larger than 9 bytes, the most that is read");
        assert_eq!(read_file(Path::new("/dev/null"), 0).unwrap(), b"");
    }
}
