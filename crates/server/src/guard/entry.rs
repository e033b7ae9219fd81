//! The entries of a TOML file of secrets, read so that no error repeats the file's content.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::fault::Fault;

/// The key of the list of entries.
const LIST: &str = "credentials";
/// The fields that an entry can have.
const FIELDS: [&str; 7] =
    ["name", "namespace", "role", "sha256", "certificate", "expires", "calls_per_second"];

/// An entry of the file.
pub struct Entry<'a> {
    file: &'a str,
    at: usize,
    fields: DeTable<'a>,
}

/// Parses the entries of the file with the text `file`.
pub fn entries(file: &str) -> Result<Vec<Entry<'_>>, Fault> {
    let table = DeTable::parse(file).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::at(file, at, format!("is not TOML: {}", error.message()))
    })?;
    let mut entries = Vec::new();
    for (key, value) in table.into_inner() {
        if key.get_ref() != LIST {
            let accepted = "there is no such key; accepted: entries that begin with [[credentials]]";
            return Err(Fault::at(file, key.span().start, accepted));
        }
        let at = value.span().start;
        let accepted =
            || Fault::at(file, at, format!("{LIST}: is not a list; an entry begins with [[{LIST}]]"));
        let DeValue::Array(list) = value.into_inner() else { return Err(accepted()) };
        for entry in list {
            let at = entry.span().start;
            let DeValue::Table(fields) = entry.into_inner() else { return Err(accepted()) };
            entries.push(Entry::new(file, at, fields)?);
        }
    }
    Ok(entries)
}

impl<'a> Entry<'a> {
    fn new(file: &'a str, at: usize, fields: DeTable<'a>) -> Result<Self, Fault> {
        match fields.keys().find(|key| !FIELDS.contains(&key.get_ref().as_ref())) {
            Some(unknown) => {
                let text = format!("there is no such field; an entry has {}", FIELDS.join(", "));
                Err(Fault::at(file, unknown.span().start, text))
            }
            None => Ok(Self { file, at, fields }),
        }
    }

    /// Returns the text of a field.
    pub fn text(&self, field: &str) -> Result<Option<&str>, Fault> {
        self.value(field, "text", |value| match value {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        })
    }

    /// Returns the text of a required field; `what` describes it.
    pub fn required(&self, field: &str, what: &str) -> Result<&str, Fault> {
        self.text(field)?.ok_or_else(|| self.missing(field, what))
    }

    /// Returns the whole number of a field.
    pub fn number(&self, field: &str) -> Result<Option<i64>, Fault> {
        self.value(field, "a number", |value| match value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        })
    }

    /// Returns the time of a field, as text.
    pub fn time(&self, field: &str) -> Result<Option<String>, Fault> {
        self.value(field, "a time", |value| match value {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Datetime(time) => Some(time.to_string()),
            _ => None,
        })
    }

    fn value<'b, T>(
        &'b self,
        field: &str,
        kind: &str,
        read: impl Fn(&'b DeValue<'a>) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some((_, value)) = self.field(field) else { return Ok(None) };
        let wrong = || self.fault(field, &format!("must be {kind}"));
        read(value.get_ref()).map(Some).ok_or_else(wrong)
    }

    fn field(&self, field: &str) -> Option<(usize, &Spanned<DeValue<'a>>)> {
        let (key, value) = self.fields.iter().find(|(key, _)| key.get_ref() == field)?;
        Some((key.span().start, value))
    }

    /// Returns a fault of a field.
    pub fn fault(&self, field: &str, text: &str) -> Fault {
        let at = self.field(field).map_or(self.at, |(at, _)| at);
        Fault::at(self.file, at, format!("{field}: {text}"))
    }

    /// Returns the fault that a field is missing; `what` describes the field.
    pub fn missing(&self, field: &str, what: &str) -> Fault {
        Fault::at(self.file, self.at, format!("{field}: is missing; accepted: {what}"))
    }
}
