//! What a text names.

/// Something that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity<'a> {
    /// A piece of the text, without the punctuation around it.
    pub text: &'a str,
    /// Where it starts, in bytes.
    pub start: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// `src/main.rs`, `~/notes`, `C:\Users`: a path in a file system, with a directory.
    Path,
    /// `main.rs`: the name of a file.
    File,
    /// `https://example.org/a`, `example.org`.
    Url,
    /// `ann@example.org`.
    Email,
    /// `AB12CD`, `INV-2024-001`, `8b8a0d67`, `1.2.3`: what numbers a thing, whose letters say nothing.
    Code,
    /// `snake_case`, `camelCase`, `call()`, `a::b`, `--flag`.
    Identifier,
    /// `$1,250.50`, `300 EUR`.
    Money,
    /// `42`, `3.5`, `12%`, `5kg`: of two digits at least, or with a fraction or a unit.
    Number,
    /// `2024-05-27`, `May 14, 2024`, `3. Mai`, `Friday`, `2024年5月14日`.
    Date,
    /// `11:00`, `5 p.m.`, `14h30`.
    Time,
    /// `Marta Kovalenko`, `Oslo`, `NATO`: words with capitals, within a sentence.
    Name,
}

impl Kind {
    /// The kind of this name in `entities.tsv`.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "path" => Self::Path,
            "file" => Self::File,
            "url" => Self::Url,
            "email" => Self::Email,
            "code" => Self::Code,
            "identifier" => Self::Identifier,
            "money" => Self::Money,
            "number" => Self::Number,
            "date" => Self::Date,
            "time" => Self::Time,
            _ => return None,
        })
    }
}
