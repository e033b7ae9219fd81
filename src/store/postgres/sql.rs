//! The statements of commits.
//!
//! A change of one conversation is one statement, so that it is one round trip and needs no transaction
//! around it: `held` is empty unless the conversation was in the expected state, and everything else is
//! written only then.

/// The parts that changing and creating a conversation have in common. `$5` is the lineage that utterances
/// are written to.
///
/// Utterances are removed before others are written: a new one may have the id of one that is removed.
macro_rules! records {
    () => {
        "gone AS (
            DELETE FROM utterances u USING unnest($23::int8multirange) AS r
            WHERE u.lineage = $5 AND u.sequence >= lower(r) AND u.sequence < upper(r)
                AND EXISTS (SELECT FROM held)
            RETURNING 1
        ), said AS (
            INSERT INTO utterances (lineage, sequence, given_id, record)
            SELECT $5::uuid, s.* FROM unnest($24::int8[], $25::text[], $26::bytea[]) AS s
            WHERE EXISTS (SELECT FROM held) AND (SELECT count(*) FROM gone) >= 0
            ON CONFLICT (lineage, sequence)
                DO UPDATE SET given_id = excluded.given_id, record = excluded.record
        ), folded AS (
            DELETE FROM segments
            WHERE lineage = $4 AND number = ANY ($27::int8[]) AND EXISTS (SELECT FROM held)
        ), told AS (
            INSERT INTO segments (lineage, number, record)
            SELECT $4::uuid, s.* FROM unnest($28::int8[], $29::bytea[]) AS s WHERE EXISTS (SELECT FROM held)
            ON CONFLICT (lineage, number) DO UPDATE SET record = excluded.record
        ), kept AS (
            INSERT INTO outcomes (namespace, request, rpc, time, record)
            SELECT o.* FROM unnest($30::text[], $31::text[], $32::text[], $33::timestamptz[], $34::bytea[]) AS o
            WHERE EXISTS (SELECT FROM held)
        ), logged AS (
            INSERT INTO changes (change, namespace, id, events)
            SELECT $3::uuid, $1::text, $2::text, $39::text[] WHERE EXISTS (SELECT FROM held)
        )
        SELECT count(*) > 0,
            CASE WHEN $38::bool AND count(*) = 0 THEN expect(false, 'the state') END,
            (SELECT count(*) FROM pointed) = cardinality($35::text[])
        FROM held"
    };
}

/// The pointers that must be as they are.
macro_rules! pointed {
    () => {
        "WITH pointed AS (
            SELECT 1 FROM unnest($35::text[], $36::text[], $37::text[]) AS p(namespace, recipient, conversation)
            JOIN active a USING (namespace, recipient, conversation)
        ), "
    };
}

/// Changes a conversation.
pub(super) const CHANGE: &str = concat!(
    pointed!(),
    "held AS (
        UPDATE conversations SET change = $3, revision = $6, update_time = $7, update_span = $8,
            end_time = $9, expire_time = $10, waits_since = $11, erased_at = $12, bytes = $13,
            live = $14, archived = $15, lineages = coalesce($16, lineages),
            through = coalesce($17, through), head = $18, policy = coalesce($19, policy),
            description = CASE WHEN $20 THEN $21 ELSE description END, ending = coalesce($22, ending)
        WHERE namespace = $1 AND id = $2 AND change = $40
            AND (SELECT count(*) FROM pointed) = cardinality($35::text[])
        RETURNING 1
    ), ",
    records!()
);

/// Creates a conversation.
pub(super) const CREATE: &str = concat!(
    pointed!(),
    "held AS (
        INSERT INTO conversations (namespace, id, change, lineage, revision, update_time, update_span,
            end_time, expire_time, waits_since, erased_at, bytes, live, archived, lineages, through,
            head, policy, description, ending, recipient, listed, start_time, identity)
        SELECT $1, $2, $3, $4, $6::int8, $7::timestamptz, $8::timestamptz, $9::timestamptz,
            $10::timestamptz, $11::timestamptz, $12::int8, $13::int8, $14::int8multirange,
            $15::int8multirange, $16::uuid[], $17::int8[], $18::bytea, $19::bytea,
            CASE WHEN $20::bool THEN $21::bytea END, $22::bytea, $40::text, $41::bool, $42::timestamptz,
            $43::bytea
        WHERE (SELECT count(*) FROM pointed) = cardinality($35::text[])
        ON CONFLICT (namespace, id) DO NOTHING
        RETURNING 1
    ), ",
    records!()
);

/// Deletes a conversation, and all that belongs to it alone.
pub(super) const DELETE: &str = "WITH held AS (
        DELETE FROM conversations WHERE namespace = $1 AND id = $2 AND change = $3 RETURNING 1
    ), u AS (DELETE FROM utterances WHERE lineage = $5 AND EXISTS (SELECT FROM held)
    ), s AS (DELETE FROM segments WHERE lineage = $4 AND EXISTS (SELECT FROM held)
    ), c AS (DELETE FROM compactions WHERE lineage = $4 AND EXISTS (SELECT FROM held)
    ), v AS (DELETE FROM state_values WHERE lineage = $4 AND EXISTS (SELECT FROM held)
    ), r AS (DELETE FROM readers WHERE lineage = ANY ($6) AND reader = $4 AND EXISTS (SELECT FROM held)
    ), l AS (
        INSERT INTO changes (change, namespace, id, events)
        SELECT $7::uuid, $1::text, $2::text, $8::text[] WHERE EXISTS (SELECT FROM held)
    )
    SELECT expect(count(*) > 0, 'the state') FROM held";

/// Removes data derived from blocks of utterances: after the conversation's row is changed, so that nothing
/// derived before the change can be added any more.
pub(super) const REMOVE_BLOCKS: &str = "DELETE FROM derived WHERE lineage = $1 AND block = ANY ($2)";

/// Removes everything derived from a conversation.
pub(super) const REMOVE_ALL_BLOCKS: &str = "DELETE FROM derived WHERE lineage = $1";

/// Writes and removes compactions.
pub(super) const COMPACTIONS: &str = "WITH removed AS (
        DELETE FROM compactions WHERE lineage = $1 AND number = ANY ($2)
    )
    INSERT INTO compactions (lineage, number, record)
    SELECT $1::uuid, c.* FROM unnest($3::int8[], $4::bytea[]) AS c
    ON CONFLICT (lineage, number) DO UPDATE SET record = excluded.record";

/// Sets and removes values of a state.
pub(super) const STATE: &str = "WITH removed AS (
        DELETE FROM state_values WHERE lineage = $1 AND name = ANY ($2)
    )
    INSERT INTO state_values (lineage, name, record)
    SELECT $1::uuid, v.* FROM unnest($3::text[], $4::bytea[]) AS v
    ON CONFLICT (lineage, name) DO UPDATE SET record = excluded.record";

/// Notes that a conversation reads a frozen lineage.
pub(super) const SHARE: &str = "INSERT INTO readers (lineage, reader, namespace, id, through)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (lineage, reader) DO UPDATE SET through = excluded.through";

/// Removes utterances of a lineage.
pub(super) const REMOVE: &str = "DELETE FROM utterances u USING unnest($2::int8multirange) AS r
    WHERE u.lineage = $1 AND u.sequence >= lower(r) AND u.sequence < upper(r)";

/// Locks the readers of a frozen lineage, so that of several that drop an utterance the last one removes it.
pub(super) const LOCK_READERS: &str =
    "SELECT FROM readers WHERE lineage = ANY ($1) ORDER BY lineage, reader FOR UPDATE";

/// Removes utterances of a frozen lineage that no reader but `$3` has any more.
pub(super) const RELEASE: &str = "DELETE FROM utterances u USING unnest($2::int8multirange) AS g
    WHERE u.lineage = $1 AND u.sequence >= lower(g) AND u.sequence < upper(g) AND NOT EXISTS (
        SELECT FROM readers r JOIN conversations c ON c.namespace = r.namespace AND c.id = r.id
            AND c.lineage = r.reader
        WHERE r.lineage = u.lineage AND r.reader <> $3 AND u.sequence <= r.through
            AND (c.live @> u.sequence OR c.archived @> u.sequence)
    )";

/// Makes a conversation active for a recipient that has none.
pub(super) const ACTIVATE: &str = "WITH set AS (
        INSERT INTO active (namespace, recipient, conversation) VALUES ($1, $2, $3)
        ON CONFLICT (namespace, recipient) DO NOTHING RETURNING 1
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Makes another conversation active.
pub(super) const MOVE: &str = "WITH set AS (
        UPDATE active SET conversation = $3
        WHERE namespace = $1 AND recipient = $2 AND conversation = $4 RETURNING 1
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Makes no conversation active.
pub(super) const DEACTIVATE: &str = "WITH set AS (
        DELETE FROM active WHERE namespace = $1 AND recipient = $2 AND conversation = $3 RETURNING 1
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Requires that a conversation stays active.
pub(super) const STAYS: &str = "WITH set AS (
        SELECT FROM active WHERE namespace = $1 AND recipient = $2 AND conversation = $3 FOR SHARE
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Requires that no conversation is active.
pub(super) const STAYS_INACTIVE: &str = "SELECT expect(
        NOT EXISTS (SELECT FROM active WHERE namespace = $1 AND recipient = $2), 'the pointer'
    )";

/// Stores an outcome.
pub(super) const KEEP: &str =
    "INSERT INTO outcomes (namespace, request, rpc, time, record) VALUES ($1, $2, $3, $4, $5)";

/// Notes a commit that changes no conversation.
pub(super) const LOG: &str = "INSERT INTO changes (change, namespace, id, events) VALUES ($1, $2, $3, $4)";

/// Settles what became of a commit: waits if it is under way, and unless it has taken effect, makes sure that
/// it never will. Returns whether it never will.
pub(super) const SETTLE: &str = "INSERT INTO changes (change, namespace, id, never) VALUES ($1, $2, $3, true)
    ON CONFLICT (change, namespace, id) DO UPDATE SET never = changes.never
    RETURNING never";
