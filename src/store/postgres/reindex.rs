//! Sets right what is derived from the records of a schema.

use tokio_postgres::types::ToSql;

use super::{
    Options,
    computed::Computed,
    conversations::ConversationRow,
    mismatches::{self, Mismatch},
    parameters::borrowed,
    session::Session,
    snapshot,
    types::{Time, Uuid, number},
};
use crate::store::{StoreError, durable::Scope};

/// Removes index blocks: of a namespace's recipient `$2` or conversation `$3`, or of all.
const REMOVE: &str = "WITH removed AS (
        DELETE FROM derived d USING conversations c WHERE d.kind = 1 AND c.lineage = d.lineage
            AND ($1::text IS NULL OR c.namespace = $1)
            AND ($2::text IS NULL OR c.recipient = $2) AND ($3::text IS NULL OR c.id = $3)
        RETURNING d.lineage
    )
    SELECT count(DISTINCT lineage), count(*) FROM removed";

/// How many conversations there are of them.
const NAMED: &str = "SELECT count(*) FROM conversations WHERE listed
    AND ($1::text IS NULL OR namespace = $1) AND ($2::text IS NULL OR recipient = $2)
    AND ($3::text IS NULL OR id = $3)";

const SET_GIVEN_ID: &str =
    "UPDATE utterances SET given_id = $1 WHERE lineage = $2 AND sequence = $3 AND record = $4";

const SET_TIME: &str = "UPDATE outcomes SET time = $1
    WHERE namespace = $2 AND request = $3 AND rpc = $4 AND record = $5";

/// What a reindex of a schema did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reset {
    /// Conversations of the scope; with [`Scope::All`], only those whose index blocks were removed.
    pub conversations: u64,
    /// Index blocks that were removed.
    pub removed: u64,
    /// Rows whose columns were set right.
    pub mended: u64,
}

/// Removes the stored search index of conversations, which the next search makes again, while servers go on. With
/// [`Scope::All`], also sets columns right that do not agree with the records they are derived from.
///
/// - A row is changed only if its records are still the ones that were read.
/// - Blocks: not for threads of a runtime.
pub fn reindex(options: &Options, scope: &Scope) -> Result<Reset, StoreError> {
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
    Ok(Reset { conversations: conversations as u64, removed: removed.get::<_, i64>(1) as u64, mended })
}

/// Sets columns right; returns of how many rows.
fn mend(session: &Session, options: &Options) -> Result<u64, StoreError> {
    let mut mended = 0;
    let found = snapshot::read(options, |snapshot| {
        mismatches::find(snapshot, &mut |mismatch| {
            mended += set_right(session, mismatch)?;
            Ok(())
        })
    });
    found?.map(|()| mended)
}

fn set_right(session: &Session, mismatch: Mismatch) -> Result<u64, StoreError> {
    let client = &session.client;
    match mismatch {
        Mismatch::Conversation(row, _) => set_columns(session, *row),
        Mismatch::GivenId((lineage, sequence), id, record) => {
            let (id, lineage, sequence) = (id.as_deref(), Uuid(lineage.0), number(sequence));
            session.wait(client.execute(SET_GIVEN_ID, &[&id, &lineage, &sequence, &record]))
        }
        Mismatch::Time(name, time, record) => {
            let (time, namespace, request) = (Time(time), name.namespace.as_str(), name.request.as_str());
            session.wait(client.execute(SET_TIME, &[&time, &namespace, &request, &name.rpc, &record]))
        }
    }
}

/// Sets the columns of a conversation, unless it has changed since.
fn set_columns(session: &Session, row: ConversationRow) -> Result<u64, StoreError> {
    let ConversationRow { key, columns, identity, head, policy, description, ending } = row;
    let (namespace, id) = (key.namespace.as_str(), key.id.as_str());
    let mut params: Vec<&(dyn ToSql + Sync)> =
        vec![&namespace, &id, &identity, &head, &policy, &description, &ending];
    let first = params.len() + 1;
    let values = columns.into_values();
    params.extend(borrowed(&values));
    let set = (first..).zip(Computed::ALL).map(|(place, (name, _))| format!("{name} = ${place}"));
    let sql = format!(
        "UPDATE conversations SET {} WHERE namespace = $1 AND id = $2 AND identity = $3 AND head = $4
            AND policy = $5 AND description IS NOT DISTINCT FROM $6 AND ending IS NOT DISTINCT FROM $7",
        set.collect::<Vec<_>>().join(", ")
    );
    session.wait(session.client.execute(&sql, &params))
}
