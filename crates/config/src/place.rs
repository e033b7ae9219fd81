//! How the command line names a store.

use std::{fmt, path::PathBuf, str::FromStr};

use super::{Backend, DatabaseUrl, DurableEngine, Part, shown, word::Word};

/// A store: files, or a schema of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The files of a durable store.
    Files(Files),
    /// A schema of a database.
    Database(Database),
}

/// The files of a durable store: `fjall:/var/lib/utterd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The engine that keeps the files.
    pub engine: DurableEngine,
    /// The directory of the files.
    pub directory: PathBuf,
}

/// A schema of a database: `postgres://user@host/database?schema=talk`, or `postgres` for the one that the
/// settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// The database; `None` for the one that the settings name.
    pub url: Option<DatabaseUrl>,
    /// The schema; `None` for the one that the settings name.
    pub schema: Option<String>,
}

/// The accepted form of [`Files`], as a text for people.
const FILES: &str =
    "must be fjall or sled, a colon and a directory, such as fjall:utterd-data or sled:/var/lib/utterd";

/// The accepted forms of a [`Place`], as a text for people.
const PLACE: &str = "must be fjall or sled, a colon and a directory, such as fjall:utterd-data; or the URL of a database, such as postgres://user@host/database?schema=utterd; or postgres, for the database that the settings name";

impl FromStr for Files {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        files(text, FILES)
    }
}

fn files(text: &str, accepted: &str) -> Result<Files, String> {
    let Some((word, directory)) = text.split_once(':') else {
        return Err(format!("it does not say which backend the files belong to; {accepted}"));
    };
    let engine = match Backend::named(word) {
        Some(backend @ Backend::Durable(engine)) => {
            let built = backend.part().map_or(Ok(()), Part::built);
            built.map_err(|unbuilt| format!("this program is {unbuilt}"))?;
            engine
        }
        Some(Backend::Memory) => return Err(format!("the in-memory backend keeps no files; {accepted}")),
        Some(Backend::Postgres) => return Err(format!("the postgres backend keeps no files; {accepted}")),
        // a part of a secret might not look like a secret
        None if shown(text) != text => return Err(accepted.to_owned()),
        None => return Err(format!("there is no backend `{word}`; {accepted}")),
    };
    match directory {
        "" => Err(format!("it names no directory; {accepted}")),
        _ if directory.starts_with("//") => Err(format!("it is a URL, not a directory; {accepted}")),
        directory => Ok(Files { engine, directory: directory.into() }),
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const NAME: &str = "postgres";
        if text == NAME {
            return Ok(Self::Database(Database { url: None, schema: None }));
        }
        let url = text.strip_prefix("postgres:").filter(|rest| !rest.starts_with("//")).unwrap_or(text);
        match url != text || url.starts_with("postgres://") || url.starts_with("postgresql://") {
            true => database(url).map(Self::Database),
            false => files(text, PLACE).map(Self::Files),
        }
    }
}

/// Takes the schema out of the URL, because PostgreSQL has no such parameter.
fn database(url: &str) -> Result<Database, String> {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (mut schema, mut others) = (None, Vec::new());
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.strip_prefix("schema=") {
            Some("") => return Err(format!("its schema is empty; {PLACE}")),
            Some(name) => schema = Some(name.to_owned()),
            None => others.push(parameter),
        }
    }
    let mark = if others.is_empty() { "" } else { "?" };
    let url = format!("{address}{mark}{}", others.join("&"));
    let url = url.parse().map_err(|wrong| format!("it is not {wrong}; it {PLACE}"))?;
    Ok(Database { url: Some(url), schema })
}

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Backend::Durable(self.engine).name(), self.directory.display())
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(url) = &self.url else { return f.write_str("postgres") };
        let url = url.to_string();
        match &self.schema {
            Some(schema) if url.contains('?') => write!(f, "{url}&schema={schema}"),
            Some(schema) => write!(f, "{url}?schema={schema}"),
            None => f.write_str(&url),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(files) => files.fmt(f),
            Self::Database(database) => database.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_a_durable_backend_and_a_directory() {
        for (text, engine, directory, shown) in [
            ("fjall:data", DurableEngine::Fjall, "data", "fjall:data"),
            ("durable:/var/lib/utterd", DurableEngine::Fjall, "/var/lib/utterd", "fjall:/var/lib/utterd"),
            ("sled:a:b", DurableEngine::Sled, "a:b", "sled:a:b"),
        ] {
            let files: Files = text.parse().unwrap();
            assert_eq!(files, Files { engine, directory: directory.into() });
            assert_eq!(files.to_string(), shown);
            assert_eq!(text.parse(), Ok(Place::Files(files)));
        }
        for (wrong, why) in [
            ("data", "does not say which backend"),
            ("rocks:data", "there is no backend `rocks`"),
            ("memory:data", "the in-memory backend keeps no files"),
            ("fjall:", "it names no directory"),
            ("", "does not say which backend"),
        ] {
            for error in [wrong.parse::<Files>().unwrap_err(), wrong.parse::<Place>().unwrap_err()] {
                assert!(error.contains(why) && error.contains("such as fjall:utterd-data"), "{error}");
            }
        }
        for database in ["postgres", "postgres://ann@db/talk", "postgres:postgres://ann@db/talk"] {
            assert!(database.parse::<Files>().is_err(), "{database}");
        }
    }

    #[test]
    fn a_database_is_named_by_its_url_or_the_settings() {
        for (text, schema, shown) in [
            ("postgres", None, "postgres"),
            ("postgres://ann:secret@db/talk", None, "postgres://ann@db/talk"),
            ("postgres:postgresql://ann@db/talk", None, "postgresql://ann@db/talk"),
            ("postgres://ann@db/talk?schema=a", Some("a"), "postgres://ann@db/talk?schema=a"),
            (
                "postgres://ann@db/talk?schema=a&sslmode=require",
                Some("a"),
                "postgres://ann@db/talk?sslmode=require&schema=a",
            ),
        ] {
            let Ok(Place::Database(database)) = text.parse() else { panic!("{text}") };
            assert_eq!((database.schema.as_deref(), &*database.to_string()), (schema, shown));
        }
        for wrong in ["postgres:", "postgres:talk", "postgres:data/x", "postgres://ann@db/talk?schema="] {
            let error = wrong.parse::<Place>().unwrap_err();
            assert!(error.contains("such as postgres://user@host/database"), "{wrong}: {error}");
        }
    }
}
