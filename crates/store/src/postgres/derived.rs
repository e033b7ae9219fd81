//! Data derived from blocks of utterances.

use std::ops::RangeInclusive;

use tokio_postgres::types::ToSql;

use super::{
    PostgresStore,
    read::{decoded, lineage},
    types::{Sequences, Uuid, number},
};
use crate::{
    Derived, DerivedBlock, DerivedBytes, DerivedData, Result, async_trait,
    records::{self, BlockBytes, BlockName, Blocks},
};
use utterd_domain::{Block, ConversationKey, LineageId, Sequence};

const DERIVED: &str = "SELECT d.lineage, d.block, d.record
    FROM conversations c JOIN derived d ON d.lineage = c.lineage
    WHERE c.namespace = $1 AND c.id = $2 AND d.kind = $3 AND d.block BETWEEN $4 AND $5
    ORDER BY d.block";

/// Stores data derived from a block, unless the conversation was deleted, has erased or replaced text since, or
/// has no utterance of the block.
const KEEP_DERIVED: &str = "INSERT INTO derived (lineage, kind, block, record)
    SELECT c.lineage, $4, $5, $6 FROM (
        SELECT lineage FROM conversations WHERE namespace = $1 AND id = $2 AND lineage = $3
            AND erased_at = $7 AND (live && $8 OR archived && $8) FOR SHARE
    ) c
    ON CONFLICT (lineage, kind, block) DO UPDATE SET record = excluded.record
    RETURNING 1";

const LINEAGE: &str = "SELECT lineage FROM conversations WHERE namespace = $1 AND id = $2";

#[async_trait]
impl DerivedData for PostgresStore {
    /// Unreadable data counts as missing.
    async fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        let [from, to] = [blocks.start(), blocks.end()].map(|block| number(Sequence(block.0)));
        let (namespace, id) = (key.namespace.as_str(), key.id.as_str());
        let params: [&(dyn ToSql + Sync); 5] = [&namespace, &id, &(kind as i16), &from, &to];
        let rows = self.database.query(DERIVED, &params).await?;
        let found = rows.iter().filter_map(|row| {
            let block = Block(row.get::<_, i64>(1) as u64);
            let bytes = decoded::<Blocks>(&(lineage(row.get(0)), BlockName { kind, block }), row.get(2));
            Some((block, bytes.ok()?.0))
        });
        Ok(found.collect())
    }

    async fn keep_derived(&self, derived: DerivedBlock) -> Result<bool> {
        if self.database.is_busy() {
            return Ok(false);
        }
        let DerivedBlock { conversation, kind, block, erased_at, bytes } = derived;
        let (namespace, id) = (conversation.namespace.as_str(), conversation.id.as_str());
        let mut connection = self.database.connection().await?;
        let rows = connection.query(LINEAGE, &[&namespace, &id]).await?;
        let Some(lineage) = rows.first().map(|row| row.get::<_, Uuid>(0)) else { return Ok(false) };
        let name = (LineageId(lineage.0), BlockName { kind, block });
        let record = records::pair::<Blocks>(&name, &BlockBytes(bytes)).1;
        let (number, erased_at) = (block.0 as i64, erased_at.0 as i64);
        let params: [&(dyn ToSql + Sync); 8] = [
            &namespace,
            &id,
            &lineage,
            &(kind as i16),
            &number,
            &record,
            &erased_at,
            &Sequences(block.ranges()),
        ];
        Ok(!connection.query(KEEP_DERIVED, &params).await?.is_empty())
    }
}
