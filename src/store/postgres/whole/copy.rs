//! Copies the records of a store into an empty schema.

use std::{iter::Peekable, ops::Bound};

use tokio_postgres::types::ToSql;

use super::{
    conversations::Conversations,
    session::Session,
    snapshot::{self, Snapshot},
    writer::Writer,
};
use crate::store::postgres::{
    Options,
    connection::{
        connect::{connected, quoted},
        fault::unavailable,
    },
    migrate,
};
use crate::{
    domain::LineageId,
    store::{
        StoreError,
        durable::{
            Copied, CopyError, CopyPlace, compare, contents,
            key_value::{Ascending, Key, KeyValueError, Ordered, Value},
            records::{self, Heads, Record},
        },
    },
};

/// Records between two progress reports while nothing is written.
const STEP: u64 = 1_000;

/// Takes the advisory lock by which only one process at a time copies into a schema. The second key is a hash
/// of the schema's name.
const LOCK: &str = "SELECT pg_try_advisory_lock(30068, hashtext($1))";

/// The source of an unfinished copy, if the schema is one, and whether the schema holds any rows.
const STATE: &str = "SELECT (SELECT source FROM copying LIMIT 1), EXISTS (SELECT FROM conversations)
    OR EXISTS (SELECT FROM utterances) OR EXISTS (SELECT FROM segments) OR EXISTS (SELECT FROM compactions)
    OR EXISTS (SELECT FROM state_values) OR EXISTS (SELECT FROM readers) OR EXISTS (SELECT FROM active)
    OR EXISTS (SELECT FROM outcomes)";

/// Copies all records of the store `name` to a schema, which must be empty, be missing, or hold the beginning of
/// the same copy.
///
/// - Creates the schema, or brings it to the newest version.
/// - [Derived](crate::store::DerivedData::derived) data is left out: its users rebuild it.
/// - Resumes an earlier attempt: records that are already there are compared instead of written.
/// - Until the copy is finished, the schema is marked as an [`unfinished`] one.
/// - At the end, both stores are read and compared record by record. The copy's index records come from columns
///   that are computed from other records, so the copy differs if the source's index records do not agree with
///   those.
/// - Takes memory in proportion to the number of conversations.
/// - Blocks: must not be called on a thread of a runtime.
pub fn copy(
    source: &dyn Ordered,
    name: &str,
    options: &Options,
    progress: &mut dyn FnMut(Copied),
) -> Result<Copied, CopyError> {
    let place = CopyPlace::Schema(options.schema.clone(), options.url.to_string());
    let session = Session::open(options).map_err(refused)?;
    session.runtime.block_on(migrate(options)).map_err(refused)?;
    begin(&session, name, options, &place)?;
    let mut copying = Copying { source, options, place, session, progress, copied: Copied::default() };
    copying.write()?;
    copying.compare()?;
    copying.session.run("DELETE FROM copying").map_err(failed)?;
    Ok(copying.copied)
}

/// Returns the name of the store that the schema is an unfinished copy of, if it is one. The schema must be of
/// the newest version.
pub async fn unfinished(options: &Options) -> Result<Option<String>, StoreError> {
    let client = connected(options).await?;
    let sql = format!("SELECT source FROM {}.copying", quoted(&options.schema));
    let row = client.query_opt(&sql, &[]).await.map_err(|error| unavailable(&error))?;
    Ok(row.map(|row| row.get(0)))
}

/// Marks the schema as an unfinished copy. Fails unless it is empty or already marked.
fn begin(session: &Session, name: &str, options: &Options, place: &CopyPlace) -> Result<(), CopyError> {
    let client = &session.client;
    let locked = session.wait(client.query_one(LOCK, &[&options.schema])).map_err(failed)?;
    if !locked.get::<_, bool>(0) {
        return Err(CopyError::InUse(place.clone()));
    }
    let state = session.wait(client.query_one(STATE, &[])).map_err(failed)?;
    match (state.get::<_, Option<&str>>(0), state.get(1)) {
        (Some(_), _) => Ok(()),
        (None, true) => Err(CopyError::Taken(place.clone())),
        (None, false) => {
            let name: [&(dyn ToSql + Sync); 1] = [&name];
            let mark = client.execute("INSERT INTO copying (source) VALUES ($1)", &name);
            session.wait(mark).map(drop).map_err(failed)
        }
    }
}

/// A copy in progress.
struct Copying<'a> {
    source: &'a dyn Ordered,
    options: &'a Options,
    place: CopyPlace,
    session: Session,
    progress: &'a mut dyn FnMut(Copied),
    copied: Copied,
}

impl Copying<'_> {
    /// Writes the records that an earlier attempt has not written.
    fn write(&mut self) -> Result<(), CopyError> {
        let options = self.options;
        let written = snapshot::read(options, |there| {
            self.write_conversations(there)?;
            self.write_others(there)
        });
        written.map_err(failed)?
    }

    /// Writes the rows of conversations that are still missing.
    fn write_conversations(&self, there: &Snapshot<'_>) -> Result<(), CopyError> {
        let mut conversations = Conversations::of(self.source);
        conversations.check_names()?;
        let mut writer = Writer::new(&self.session);
        let heads = records::all_of::<Heads>();
        let heads = there.ascending(Bound::Included(&heads.start), Bound::Excluded(&heads.end));
        let mut heads = Present::of(heads, &self.place);
        for row in conversations {
            let row = row?;
            let (key, head) = (records::key::<Heads>(&LineageId(row.columns.lineage.0)), row.head.clone());
            if !heads.has(&(key, head))? {
                writer.add_conversation(row).map_err(failed)?;
            }
        }
        writer.flush().map(drop).map_err(failed)
    }

    /// Writes all other records that are still missing, and compares those that are not.
    fn write_others(&mut self, there: &Snapshot<'_>) -> Result<(), CopyError> {
        let mut writer = Writer::new(&self.session);
        let mut present = Present::of(contents(there, None), &self.place);
        for pair in contents(self.source, None) {
            let pair = pair.map_err(CopyError::Read)?;
            let record = Record::read(&pair.0, &pair.1)?;
            self.copied.add(&pair);
            let is_news = match present.has(&pair)? {
                true => {
                    self.copied.resumed += 1;
                    self.copied.resumed.is_multiple_of(STEP)
                }
                false => writer.add_record(record, pair.1).map_err(failed)?,
            };
            if is_news {
                (self.progress)(self.copied);
            }
        }
        present.end()?;
        writer.flush().map(drop).map_err(failed)
    }

    /// Compares the whole copy with the source.
    fn compare(&mut self) -> Result<(), CopyError> {
        let (copied, progress) = (&mut self.copied, &mut *self.progress);
        let mut note = |_: &(Key, Value)| {
            copied.verified += 1;
            if copied.verified.is_multiple_of(STEP) {
                progress(*copied);
            }
        };
        let compared = snapshot::read(self.options, |copy| {
            compare(contents(self.source, None), contents(copy, None), true, &self.place, &mut note)
        });
        compared.map_err(failed)??;
        (self.progress)(self.copied);
        Ok(())
    }
}

/// The records that an earlier attempt has written. All of them must be in the source.
struct Present<'a> {
    pairs: Peekable<Ascending<'a>>,
    place: &'a CopyPlace,
}

impl<'a> Present<'a> {
    fn of(pairs: Ascending<'a>, place: &'a CopyPlace) -> Self {
        Self { pairs: pairs.peekable(), place }
    }

    /// Whether a record of the source is already written; fails if it differs. Call it with records in order.
    fn has(&mut self, original: &(Key, Value)) -> Result<bool, CopyError> {
        match self.pairs.next_if(|pair| pair.as_ref().map_or(true, |present| present.0 <= original.0)) {
            None => Ok(false),
            Some(present) if present.as_ref() == Ok(original) => Ok(true),
            Some(present) => Err(CopyError::differs(self.place, Some(&present.map_err(CopyError::Write)?))),
        }
    }

    /// Fails if there are records that the source does not have.
    fn end(mut self) -> Result<(), CopyError> {
        match self.pairs.next().transpose().map_err(CopyError::Write)? {
            Some(present) => Err(CopyError::differs(self.place, Some(&present))),
            None => Ok(()),
        }
    }
}

fn refused(error: StoreError) -> CopyError {
    CopyError::Target(error.to_string())
}

fn failed(error: StoreError) -> CopyError {
    CopyError::Write(KeyValueError(error.to_string()))
}
