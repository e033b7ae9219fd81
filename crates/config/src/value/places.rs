//! Files, directories and addresses.

use toml::Value;

/// A directory, which need not exist yet.
pub mod directory {
    use super::*;
    use std::path::{Path, PathBuf};

    pub fn parse(text: &str) -> Result<PathBuf, String> {
        // A variable that is not UTF-8 arrives with replacement characters.
        match text {
            "" => Err("a directory's path, such as utterd-data or /var/lib/utterd".into()),
            _ if text.contains(['\0', '\u{fffd}']) => Err("a directory's path in UTF-8".into()),
            // the text would be shown, and may hold a password
            _ if text.contains("://") || text.starts_with("postgres:") => {
                Err("a directory's path, not the address of a database".into())
            }
            _ => Ok(text.into()),
        }
    }

    pub fn show(value: &Path) -> Value {
        Value::String(value.display().to_string())
    }
}

/// A file, or none.
pub mod file {
    use super::*;
    use std::path::PathBuf;

    pub fn parse(text: &str) -> Result<Option<PathBuf>, String> {
        match text {
            "" => Ok(None),
            _ if text.contains(['\0', '\u{fffd}']) => Err("a file's path in UTF-8, or nothing".into()),
            _ => Ok(Some(text.into())),
        }
    }

    pub fn show(value: &Option<PathBuf>) -> Value {
        Value::String(value.as_ref().map_or_else(String::new, |path| path.display().to_string()))
    }
}

/// The URL of a database, or nothing.
pub mod database {
    use super::*;
    use crate::DatabaseUrl;

    pub fn parse(text: &str) -> Result<Option<DatabaseUrl>, String> {
        if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
    }

    pub fn show(value: &Option<DatabaseUrl>) -> Value {
        Value::String(value.as_ref().map_or_else(String::new, |url| url.to_string()))
    }
}

/// An address to listen on.
pub mod address {
    use super::*;
    use crate::Listen;

    pub fn parse(text: &str) -> Result<Listen, String> {
        let accepted = "an IP address and a port, such as 127.0.0.1:50051, 0.0.0.0:50051 or [::]:50051, or a Unix \
                        socket by its path, such as unix:/run/utterd.sock";
        Listen::parse(text.trim()).ok_or_else(|| accepted.into())
    }

    pub fn show(value: &Listen) -> Value {
        Value::String(value.to_string())
    }
}

/// Another address to listen on, or none.
pub mod other_address {
    use super::*;
    use crate::Listen;

    pub fn parse(text: &str) -> Result<Option<Listen>, String> {
        match text.trim() {
            "" => Ok(None),
            text => address::parse(text).map(Some).map_err(|accepted| format!("{accepted}; or nothing")),
        }
    }

    pub fn show(value: &Option<Listen>) -> Value {
        Value::String(value.as_ref().map_or_else(String::new, Listen::to_string))
    }
}

/// The permissions of a file, in octal.
pub mod file_mode {
    use super::*;

    /// All permissions of a file: to read, write and execute it.
    const MAX: u32 = 0o777;

    pub fn parse(text: &str) -> Result<u32, String> {
        let accepted =
            "permissions in octal, such as 600 (its owner), 660 (its group too) or 666 (everybody)";
        let mode = u32::from_str_radix(text.trim(), 8).ok().filter(|mode| *mode <= MAX);
        mode.ok_or_else(|| accepted.into())
    }

    pub fn show(value: &u32) -> Value {
        Value::String(format!("{value:03o}"))
    }
}

/// The address of a model server, or nothing.
pub mod address_of_models {
    use super::*;
    use http::Uri;

    pub fn parse(text: &str) -> Result<Option<Uri>, String> {
        let accepted = "an address that begins with http:// or https://, without a user, a password, a query \
                        or a fragment, such as http://127.0.0.1:11434/v1; or nothing";
        match text.trim() {
            "" => Ok(None),
            // a parsed address has no fragment
            text if text.contains('#') => Err(accepted.into()),
            text => text.parse().ok().filter(is_plain).map(Some).ok_or_else(|| accepted.into()),
        }
    }

    pub fn show(value: &Option<Uri>) -> Value {
        Value::String(value.as_ref().map_or_else(String::new, Uri::to_string))
    }

    /// Whether the address can be shown because it has no user and no password, and can be extended with a path.
    fn is_plain(address: &Uri) -> bool {
        let authority = address.authority();
        matches!(address.scheme_str(), Some("http" | "https"))
            && authority.is_some_and(|it| !it.host().is_empty() && !it.as_str().contains('@'))
            && address.query().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_asked_over_http_at_an_address_that_holds_no_secret() {
        for (text, shown) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            (" https://llm.example.com ", "https://llm.example.com/"),
            ("", ""),
        ] {
            let url = address_of_models::parse(text).unwrap();
            assert_eq!(address_of_models::show(&url), Value::String(shown.into()), "{text}");
            assert_eq!(address_of_models::parse(shown), Ok(url));
        }
        for wrong in [
            "127.0.0.1:11434",
            "ftp://x/",
            "unix:/x",
            "http://",
            "https://me:key@x/",
            "https://x/?key=1",
            "http://x/#1",
        ] {
            assert!(address_of_models::parse(wrong).unwrap_err().contains("http://"), "{wrong}");
        }
    }

    #[test]
    fn the_rights_of_a_file_are_octal() {
        for (text, mode) in [("600", 0o600), ("0660", 0o660), (" 777 ", 0o777), ("0", 0)] {
            assert_eq!(file_mode::parse(text), Ok(mode), "{text}");
        }
        assert_eq!(file_mode::show(&0o60), Value::String("060".into()));
        for wrong in ["", "rw", "680", "1777", "-1"] {
            assert!(file_mode::parse(wrong).unwrap_err().contains("octal"), "{wrong:?}");
        }
    }

    #[test]
    fn a_directory_is_a_path_that_can_be_written_down() {
        for text in ["utterd-data", "/var/lib/utterd", "with space", "C:\\data"] {
            let path = directory::parse(text).unwrap();
            assert_eq!(directory::show(&path), Value::String(text.into()));
        }
        for wrong in ["", "a\0b", "caf\u{fffd}", "mysql://u:PW@h", "postgres:/u:PW@h"] {
            assert!(directory::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
