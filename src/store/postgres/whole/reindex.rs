//! Corrects the data that is derived from the records of a schema.

use tokio_postgres::types::ToSql;

use super::{
    mismatches::{self, Mismatch},
    session::Session,
    snapshot,
};
use crate::store::postgres::{Options, types::borrowed};
use crate::store::{
    Result,
    durable::{Reindexed, Scope},
};

/// Removes index blocks: those of recipient `$2` or conversation `$3` in namespace `$1`, or all.
const REMOVE: &str = "WITH removed AS (
        DELETE FROM derived d USING conversations c WHERE d.kind = 1 AND c.lineage = d.lineage
            AND ($1::text IS NULL OR c.namespace = $1)
            AND ($2::text IS NULL OR c.recipient = $2) AND ($3::text IS NULL OR c.id = $3)
        RETURNING d.lineage
    )
    SELECT count(DISTINCT lineage), count(*) FROM removed";

/// Counts the conversations that the same parameters select.
const NAMED: &str = "SELECT count(*) FROM conversations WHERE listed
    AND ($1::text IS NULL OR namespace = $1) AND ($2::text IS NULL OR recipient = $2)
    AND ($3::text IS NULL OR id = $3)";

/// Removes the stored search index of conversations, which the next search rebuilds. With [`Scope::All`], also
/// corrects columns that do not agree with the records from which they are derived.
///
/// - Servers can keep running: a row is changed only if its records are still the ones that were read.
/// - Blocks: must not be called on a thread of a runtime.
pub fn reindex(options: &Options, scope: &Scope) -> Result<Reindexed> {
    let session = Session::open(options)?;
    let mended = if *scope == Scope::All { mend(&session, options)? } else { 0 };
    let (namespace, recipient, id) = match scope {
        Scope::All => (None, None, None),
        Scope::Recipient(key) => (Some(&key.namespace), Some(key.id.as_str()), None),
        Scope::Conversation(key) => (Some(&key.namespace), None, Some(key.id.as_str())),
    };
    let namespace = namespace.map(|namespace| namespace.as_str());
    let params: [&(dyn ToSql + Sync); 3] = [&namespace, &recipient, &id];
    let removed = session.wait(session.client.query_one(REMOVE, &params))?;
    let conversations = match scope {
        Scope::All => removed.get::<_, i64>(0),
        _ => session.wait(session.client.query_one(NAMED, &params))?.get(0),
    };
    Ok(Reindexed { conversations: conversations as u64, removed: removed.get::<_, i64>(1) as u64, mended })
}

/// Corrects columns; returns the number of corrected rows.
fn mend(session: &Session, options: &Options) -> Result<u64> {
    let mut mended = 0;
    let found = snapshot::read(options, |snapshot| {
        mismatches::find(snapshot, &mut |Mismatch { sql, params, .. }| {
            mended += session.wait(session.client.execute(&sql, &borrowed(&params)))?;
            Ok(())
        })
    });
    found?.map(|()| mended)
}
