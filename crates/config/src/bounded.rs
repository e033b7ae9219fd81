//! Files, read up to a limit.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

/// The variable that admits files of settings and secrets that everybody can write to, if it is `true`.
pub const ALLOW_WORLD_WRITABLE: &str = "UTTERD_ALLOW_WORLD_WRITABLE";
/// The permission of everybody to write to a file.
const WRITABLE: u32 = 0o002;

/// Reads a whole file of at most `most` bytes. A larger or endless file is an error, and is not read further.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    read(&File::open(path)?, most)
}

/// Reads a text file of settings or secrets, of at most `most` bytes. One that everybody can write to is refused, unless
/// `UTTERD_ALLOW_WORLD_WRITABLE` is `true`.
pub fn read_text(path: &Path, most: usize) -> io::Result<String> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.mode() & WRITABLE != 0 && !is_writable_allowed() {
        let text =
            format!("everybody can write to it: run `chmod o-w` on it, or set {ALLOW_WORLD_WRITABLE}=true");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    String::from_utf8(read(&file, most)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn is_writable_allowed() -> bool {
    std::env::var_os(ALLOW_WORLD_WRITABLE).is_some_and(|value| value == "true")
}

fn read(file: &File, most: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut content)?;
    match content.len() > most {
        true => Err(io::Error::other(format!("it is larger than {most} bytes, the most that is read"))),
        false => Ok(content),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt,
    };

    use super::*;

    #[test]
    fn what_has_no_end_is_an_error() {
        let error = read_text(Path::new("/dev/zero"), 9).unwrap_err().to_string();
        assert_eq!(error, "it is larger than 9 bytes, the most that is read");
        assert_eq!(read_file(Path::new("/dev/null"), 0).unwrap(), b"");
    }

    #[test]
    fn what_everybody_can_write_to_is_not_trusted() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, is_trusted) in [(0o600, true), (0o664, true), (0o666, false), (0o602, false)] {
            fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_text(file.path(), 9).is_ok(), is_trusted, "{mode:o}");
            assert!(read_file(file.path(), 9).is_ok());
        }
    }
}
