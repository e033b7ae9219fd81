//! Reads from the tables. Each read is one statement, so its result is from one moment.

use std::{collections::BTreeMap, sync::Arc};

use tokio_postgres::Row;

use super::{
    batches::Batches,
    checks::{Checks, Question},
    connection::database::Database,
    types::Uuid,
};
use crate::{
    RecipientKey, Result, StoreError,
    records::{
        self, BadRecord, ConversationName, Description, Descriptions, HeadRecord, Heads, Kind, Record,
        Utterances,
    },
};
use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, LineageId, Namespace, Sequence, Utterance,
};

/// A conversation's row, the records of its segments and compactions, and the utterances of its window. If several
/// lineages hold an utterance, the one with the lowest `rank` counts.
const LOAD: &str = "WITH c AS MATERIALIZED (
        SELECT * FROM conversations WHERE namespace = $1
            AND id = coalesce($2, (SELECT conversation FROM active WHERE namespace = $1 AND recipient = $3))
    )
    SELECT 0::int2 AS part, c.lineage, 0::int8 AS number, 0::int8 AS rank, NULL::bytea AS key, c.head AS record,
        c.id, c.identity, c.description FROM c
    UNION ALL SELECT 1::int2, c.lineage, 0, 0, r.key, r.record, NULL, NULL, NULL
        FROM c, unnest(ARRAY['\\x06', '\\x12']::bytea[]) AS k(kind),
            LATERAL (
                SELECT * FROM records r WHERE r.key >= k.kind || uuid_send(c.lineage)
                    AND r.key < k.kind || uuid_send(c.lineage) || '\\xffffffffff'::bytea OFFSET 0
            ) r
    UNION ALL SELECT 2::int2, u.lineage, u.sequence, l.rank, NULL, u.record, NULL, NULL, NULL
        FROM c, unnest(c.lineages, c.through) WITH ORDINALITY AS l(lineage, through, rank),
            unnest(c.live) AS w,
            LATERAL (
                SELECT * FROM utterances u WHERE u.lineage = l.lineage AND u.sequence >= lower(w)
                    AND u.sequence < upper(w) AND u.sequence <= l.through OFFSET 0
            ) u";

pub(super) const OUTCOME: &str =
    "SELECT time, record FROM outcomes WHERE namespace = $1 AND request = $2 AND rpc = $3";

pub(super) const REMOVE_OUTCOME: &str =
    "DELETE FROM outcomes WHERE namespace = $1 AND request = $2 AND rpc = $3 AND time < $4";

pub(super) const ARCHIVED: &str = "SELECT u.lineage, u.sequence AS number, l.rank, u.record
    FROM conversations c, unnest(c.lineages, c.through) WITH ORDINALITY AS l(lineage, through, rank),
        unnest(c.archived * $3::int8multirange) AS w,
        LATERAL (
            SELECT * FROM utterances u WHERE u.lineage = l.lineage AND u.sequence >= lower(w)
                AND u.sequence < upper(w) AND u.sequence <= l.through OFFSET 0
        ) u
    WHERE c.namespace = $1 AND c.id = $2";

pub(super) const ARCHIVED_IDS: &str = "SELECT u.given_id, u.sequence, l.rank
    FROM conversations c, unnest(c.lineages, c.through) WITH ORDINALITY AS l(lineage, through, rank),
        unnest($3::text[]) AS wanted(id), utterances u
    WHERE c.namespace = $1 AND c.id = $2 AND u.lineage = l.lineage AND u.given_id = wanted.id
        AND u.sequence <= l.through AND c.archived @> u.sequence
    ORDER BY l.rank DESC";

/// The values of a state with these names, or all. In a key, the name follows the kind and the lineage.
pub(super) const STATE: &str = "SELECT r.key, r.record
    FROM conversations c, LATERAL (
        SELECT * FROM records r WHERE r.key >= '\\x19'::bytea || uuid_send(c.lineage)
            AND r.key < '\\x19'::bytea || uuid_send(c.lineage) || '\\xff'::bytea OFFSET 0
    ) r
    WHERE c.namespace = $1 AND c.id = $2 AND (
        cardinality($3::text[]) = 0
            OR substr(r.key, 18) = ANY (SELECT convert_to(name, 'UTF8') FROM unnest($3::text[]) AS name)
    )
    ORDER BY r.key";

pub(super) const SHARING: &str = "SELECT r.namespace, r.id, max(least(r.through, l.through)) AS through
    FROM conversations c, unnest(c.lineages, c.through) AS l(lineage, through), readers r
    WHERE c.namespace = $1 AND c.id = $2 AND r.lineage = l.lineage AND r.reader <> c.lineage
    GROUP BY r.namespace, r.id ORDER BY r.namespace, r.id";

/// Loads the conversation with this id or, without an id, the recipient's active one.
pub(super) async fn load(
    database: &Database,
    namespace: &Namespace,
    id: Option<&ConversationId>,
    recipient: Option<&RecipientKey>,
) -> Result<Option<Arc<Conversation>>> {
    let id = id.map(|id| id.as_str());
    let recipient = recipient.map(|recipient| recipient.id.as_str());
    let rows = database.query(LOAD, &[&namespace.as_str(), &id, &recipient]).await?;
    let Some(first) = rows.iter().find(|row| row.get::<_, i16>("part") == 0) else { return Ok(None) };
    state(head(namespace, first)?, &rows).map(|state| Some(Arc::new(state)))
}

/// Returns the recipient's active conversation; `None` if the conversation and its state are as `known`.
pub(super) async fn active_unless(
    actives: &Batches<Checks>,
    recipient: &RecipientKey,
    known: Option<(ConversationId, ChangeId)>,
) -> Result<Option<Option<ConversationId>>> {
    let name = recipient.id.as_str().to_owned();
    let asked = Question { namespace: recipient.namespace.clone(), name, known };
    let Some(row) = actives.ask(asked).await?? else { return Ok(None) };
    Ok(Some(row.get::<_, Option<&str>>(1).map(conversation_id).transpose()?))
}

/// Decodes the head in a row that has the columns of a head.
pub(super) fn head(namespace: &Namespace, row: &Row) -> Result<HeadRecord> {
    let key = ConversationKey { namespace: namespace.clone(), id: conversation_id(row.get("id"))? };
    let identity = decoded::<ConversationName>(&key, row.get("identity"))?;
    let lineage = identity.lineage;
    let record = decoded::<Heads>(&lineage, row.get("record"))?;
    let description: Option<&[u8]> = row.get("description");
    let description = match description {
        Some(description) => decoded::<Descriptions>(&lineage, description)?,
        None => Description::default(),
    };
    Ok(record.complete(identity, description))
}

/// Assembles a state from its head and the rows of [`LOAD`].
fn state(record: HeadRecord, rows: &[Row]) -> Result<Conversation> {
    let part = |part: i16| rows.iter().filter(move |row| row.get::<_, i16>("part") == part);
    let (mut segments, mut compactions) = (Vec::new(), Vec::new());
    for row in part(1) {
        match self::record(row)? {
            Record::Segments(_, segment) => segments.push(segment),
            Record::Compactions(_, compaction) => compactions.push(compaction),
            _ => {}
        }
    }
    segments.sort_unstable_by_key(|segment| segment.number);
    compactions.sort_unstable_by_key(|compaction| compaction.number);
    let id = record.head.identity.key.id.clone();
    let made = record.conversation(utterances(part(2))?, segments, compactions);
    made.map_err(|how| StoreError::Unavailable(format!("conversation {id} is damaged: {how}")))
}

/// Decodes the utterances in rows with `lineage`, `number`, `rank` and `record`: each sequence from its lowest
/// rank, ascending.
pub(super) fn utterances<'a>(rows: impl Iterator<Item = &'a Row>) -> Result<Vec<Arc<Utterance>>> {
    let mut newest = BTreeMap::<i64, (i64, &Row)>::new();
    for row in rows {
        let (sequence, rank) = (row.get::<_, i64>("number"), row.get::<_, i64>("rank"));
        match newest.get(&sequence) {
            Some((known, _)) if *known < rank => {}
            _ => drop(newest.insert(sequence, (rank, row))),
        }
    }
    let read = newest.into_iter().map(|(sequence, (_, row))| {
        let key = (lineage(row.get("lineage")), Sequence(sequence as u64));
        decoded::<Utterances>(&key, row.get("record"))
    });
    read.collect()
}

/// Decodes the record in a row of `records`.
pub(super) fn record(row: &Row) -> Result<Record> {
    Record::read(row.get("key"), row.get("record")).map_err(damaged)
}

/// Decodes the record stored under `key`.
pub(super) fn decoded<K: Kind>(key: &K::Key, value: &[u8]) -> Result<K::Value> {
    let (_, value) = records::decode::<K>(&records::key::<K>(key), value).map_err(damaged)?;
    Ok(value)
}

fn damaged(bad: BadRecord) -> StoreError {
    StoreError::unavailable(bad)
}

/// Returns the key of the conversation in the first two columns of a row.
pub(super) fn key_of(row: &Row) -> Result<ConversationKey> {
    let namespace = Namespace::new(row.get(0)).map_err(|error| wrong("a namespace", error))?;
    Ok(ConversationKey { namespace, id: conversation_id(row.get(1))? })
}

pub(super) fn conversation_id(text: &str) -> Result<ConversationId> {
    ConversationId::kept(text).map_err(|error| wrong("a conversation's id", error))
}

pub(super) fn wrong(what: &str, error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("{what} in the database {error}"))
}

pub(super) fn lineage(uuid: Uuid) -> LineageId {
    LineageId(uuid.0)
}

pub(super) fn sequence(number: i64) -> Sequence {
    Sequence(number as u64)
}
