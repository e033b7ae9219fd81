//! The statements of commits.
//!
//! One statement changes or creates any number of conversations, so it takes one round trip and needs no
//! transaction around it. `held` contains the conversations that were in the expected state, and everything
//! else is written only for those. [`parameters`](super::row::parameters) returns the parameters.

/// The given rows, and the numbers of refused rows: those whose recipient has another active conversation than
/// expected.
macro_rules! given {
    ($refused:expr) => {
        concat!(
            "WITH given AS MATERIALIZED (
                SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bytea[], $5::bytea[], $6::bool[],
                    $7::bytea[], $8::text[], $9::text[], $10::text[], $11::uuid[], $12::text[], $13::bool[],
                    $14::uuid[], $15::int8[], $16::timestamptz[], $17::timestamptz[], $18::timestamptz[],
                    $19::timestamptz[], $20::timestamptz[], $21::timestamptz[], $22::int8[], $23::int8[],
                    $24::int8multirange[], $25::int8multirange[]
                ) WITH ORDINALITY AS g(namespace, id, state, identity, head, is_described, description, events,
                    lineages, through, lineage, recipient, is_listed, change, revision, start_time, update_time,
                    update_span, end_time, expire_time, waits_since, erased_at, bytes, live, archived, n)
            ), refused AS MATERIALIZED (
                SELECT p.n FROM unnest($46::int8[], $47::text[], $48::text[], $49::text[])
                    AS p(n, namespace, recipient, conversation)
                WHERE NOT EXISTS (
                    SELECT FROM active a WHERE a.namespace = p.namespace AND a.recipient = p.recipient
                        AND a.conversation = p.conversation
                )",
            $refused,
            "), "
        )
    };
}

/// Writes everything else for the conversations in `held`.
///
/// Removes utterances before it writes others: a new utterance may have the id of a removed one.
macro_rules! records {
    () => {
        "removed AS (
            DELETE FROM utterances u USING unnest($26::int8[], $27::uuid[], $28::int8[], $29::int8[])
                AS r(n, lineage, first, behind)
            WHERE u.lineage = r.lineage AND u.sequence >= r.first AND u.sequence < r.behind
                AND r.n = ANY (ARRAY(SELECT n FROM held))
            RETURNING 1
        ), said AS (
            INSERT INTO utterances (lineage, sequence, given_id, record)
            SELECT s.lineage, s.sequence, s.given_id, s.record
            FROM unnest($30::int8[], $31::uuid[], $32::int8[], $33::text[], $34::bytea[])
                AS s(n, lineage, sequence, given_id, record)
            WHERE s.n = ANY (ARRAY(SELECT n FROM held)) AND (SELECT count(*) FROM removed) >= 0
            ON CONFLICT (lineage, sequence)
                DO UPDATE SET given_id = excluded.given_id, record = excluded.record
        ), removed_records AS (
            DELETE FROM records r USING unnest($35::int8[], $36::bytea[]) AS k(n, key)
            WHERE r.key = k.key AND k.n = ANY (ARRAY(SELECT n FROM held))
        ), recorded AS (
            INSERT INTO records (key, record)
            SELECT k.key, k.record FROM unnest($37::int8[], $38::bytea[], $39::bytea[]) AS k(n, key, record)
            WHERE k.n = ANY (ARRAY(SELECT n FROM held))
            ON CONFLICT (key) DO UPDATE SET record = excluded.record
        ), answered AS (
            INSERT INTO outcomes (namespace, request, rpc, time, record)
            SELECT o.namespace, o.request, o.rpc, o.time, o.record
            FROM unnest($40::int8[], $41::text[], $42::text[], $43::text[], $44::timestamptz[], $45::bytea[])
                AS o(n, namespace, request, rpc, time, record)
            WHERE o.n = ANY (ARRAY(SELECT n FROM held))
        ), logged AS (
            INSERT INTO changes (change, namespace, id, events)
            SELECT g.change, g.namespace, g.id, string_to_array(g.events, E'\\n')
            FROM given g WHERE g.n = ANY (ARRAY(SELECT n FROM held))
        ) "
    };
}

/// Changes the conversations.
macro_rules! change {
    ($refused:expr, $before:literal, $free:literal) => {
        concat!(
            given!($refused),
            $before,
            "held AS (
                UPDATE conversations c SET change = g.change, revision = g.revision,
                    update_time = g.update_time, update_span = g.update_span, end_time = g.end_time,
                    expire_time = g.expire_time, waits_since = g.waits_since, erased_at = g.erased_at,
                    bytes = g.bytes, live = g.live, archived = g.archived,
                    lineages = coalesce(g.lineages::uuid[], c.lineages),
                    through = coalesce(g.through::int8[], c.through), head = g.head,
                    description = CASE WHEN g.is_described THEN g.description ELSE c.description END
                FROM given g",
            $free,
            " WHERE c.namespace = g.namespace AND c.id = g.id AND c.change = g.state
                    AND g.n <> ALL (ARRAY(SELECT n FROM refused))
                RETURNING g.n
            ), ",
            records!()
        )
    };
}

/// Creates the conversations.
macro_rules! create {
    ($refused:expr) => {
        concat!(
            given!($refused),
            "made AS (
                INSERT INTO conversations (namespace, id, change, lineage, revision, update_time, update_span,
                    end_time, expire_time, waits_since, erased_at, bytes, live, archived, lineages, through,
                    head, description, recipient, listed, start_time, identity)
                SELECT g.namespace, g.id, g.change, g.lineage, g.revision, g.update_time, g.update_span,
                    g.end_time, g.expire_time, g.waits_since, g.erased_at, g.bytes, g.live, g.archived,
                    g.lineages::uuid[], g.through::int8[], g.head, g.description,
                    g.recipient, g.is_listed, g.start_time, g.identity
                FROM given g WHERE g.n <> ALL (ARRAY(SELECT n FROM refused))
                ON CONFLICT (namespace, id) DO NOTHING
                RETURNING change
            ), held AS MATERIALIZED (SELECT g.n FROM given g JOIN made USING (change)), ",
            records!()
        )
    };
}

/// Returns whether the statement's only row was written, and whether the pointers are as expected. If `$50` is true, the
/// statement fails unless the row was written.
macro_rules! one {
    () => {
        "SELECT count(*) > 0, NOT EXISTS (SELECT FROM refused),
            CASE WHEN $50::bool AND count(*) = 0 THEN expect(false, 'the state') END
        FROM held"
    };
}

/// Also refuses rows with an outcome that is already stored.
macro_rules! answered {
    () => {
        " UNION ALL
            SELECT k.n FROM unnest($40::int8[], $41::text[], $42::text[], $43::text[])
                AS k(n, namespace, request, rpc)
            JOIN outcomes o ON o.namespace = k.namespace AND o.request = k.request AND o.rpc = k.rpc"
    };
}

/// Changes one conversation. Waits while another transaction has its row locked.
pub const CHANGE: &str = concat!(change!("", "", ""), one!());

/// Changes those of several conversations that are in the expected state and not locked by another transaction.
/// For each that was not locked, returns its number, whether it was changed, and whether it was in another
/// state.
pub const CHANGE_EACH: &str = concat!(
    change!(
        answered!(),
        "free AS MATERIALIZED (
            SELECT g.n, f.change FROM given g, LATERAL (
                SELECT c.change FROM conversations c WHERE c.namespace = g.namespace AND c.id = g.id
                FOR UPDATE SKIP LOCKED
            ) f
        ), ",
        " JOIN free f ON f.n = g.n AND f.change = g.state"
    ),
    "SELECT f.n, f.n = ANY (ARRAY(SELECT n FROM held)), f.change <> g.state FROM free f JOIN given g USING (n)"
);

/// Creates one conversation.
pub const CREATE: &str = concat!(create!(""), one!());

/// Creates those of several conversations that do not exist. Returns the numbers of those created.
pub const CREATE_EACH: &str = concat!(create!(answered!()), "SELECT n, true, false FROM held");

/// Deletes a conversation, and everything that belongs to it alone: also its records of the kinds `Segments`,
/// `Compactions` and `StateValues`.
pub const DELETE: &str = "WITH held AS (
        DELETE FROM conversations WHERE namespace = $1 AND id = $2 AND change = $3 RETURNING 1
    ), u AS (DELETE FROM utterances WHERE lineage = $5 AND EXISTS (SELECT FROM held)
    ), p AS (
        DELETE FROM records r USING unnest(ARRAY['\\x06', '\\x12', '\\x19']::bytea[]) AS k(kind)
        WHERE r.key >= k.kind || uuid_send($4) AND r.key < k.kind || uuid_send($4) || '\\xffffffffff'::bytea
            AND EXISTS (SELECT FROM held)
    ), r AS (DELETE FROM readers WHERE lineage = ANY ($6) AND reader = $4 AND EXISTS (SELECT FROM held)
    ), l AS (
        INSERT INTO changes (change, namespace, id, events)
        SELECT $7::uuid, $1::text, $2::text, $8::text[] WHERE EXISTS (SELECT FROM held)
    )
    SELECT expect(count(*) > 0, 'the state') FROM held";

/// Removes data derived from blocks of utterances. Runs after the conversation's row is changed, so that no
/// data derived before the change can still be added.
pub const REMOVE_BLOCKS: &str = "DELETE FROM derived WHERE lineage = $1 AND block = ANY ($2)";

/// Removes everything derived from a conversation.
pub const REMOVE_ALL_BLOCKS: &str = "DELETE FROM derived WHERE lineage = $1";

/// Adds a conversation to the readers of a frozen lineage.
pub const SHARE: &str = "INSERT INTO readers (lineage, reader, namespace, id, through)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (lineage, reader) DO UPDATE SET through = excluded.through";

/// Locks the readers of frozen lineages, so that if several drop an utterance at the same time, the last one
/// removes it.
pub const LOCK_READERS: &str =
    "SELECT FROM readers WHERE lineage = ANY ($1) ORDER BY lineage, reader FOR UPDATE";

/// Removes those utterances of a frozen lineage that no reader except `$3` still has.
pub const RELEASE: &str = "DELETE FROM utterances u USING unnest($2::int8multirange) AS g
    WHERE u.lineage = $1 AND u.sequence >= lower(g) AND u.sequence < upper(g) AND NOT EXISTS (
        SELECT FROM readers r JOIN conversations c ON c.namespace = r.namespace AND c.id = r.id
            AND c.lineage = r.reader
        WHERE r.lineage = u.lineage AND r.reader <> $3 AND u.sequence <= r.through
            AND (c.live @> u.sequence OR c.archived @> u.sequence)
    )";

/// Makes a conversation active for a recipient that has none.
pub const ACTIVATE: &str = "WITH set AS (
        INSERT INTO active (namespace, recipient, conversation) VALUES ($1, $2, $3)
        ON CONFLICT (namespace, recipient) DO NOTHING RETURNING 1
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Makes another conversation active.
pub const MOVE: &str = "WITH set AS (
        UPDATE active SET conversation = $3
        WHERE namespace = $1 AND recipient = $2 AND conversation = $4 RETURNING 1
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Clears a recipient's active conversation.
pub const DEACTIVATE: &str = "WITH set AS (
        DELETE FROM active WHERE namespace = $1 AND recipient = $2 AND conversation = $3 RETURNING 1
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Requires that a conversation stays active.
pub const STAYS: &str = "WITH set AS (
        SELECT FROM active WHERE namespace = $1 AND recipient = $2 AND conversation = $3 FOR SHARE
    )
    SELECT expect(count(*) > 0, 'the pointer') FROM set";

/// Requires that no conversation is active.
pub const STAYS_INACTIVE: &str = "SELECT expect(
        NOT EXISTS (SELECT FROM active WHERE namespace = $1 AND recipient = $2), 'the pointer'
    )";

/// Stores an outcome.
pub const KEEP: &str =
    "INSERT INTO outcomes (namespace, request, rpc, time, record) VALUES ($1, $2, $3, $4, $5)";

/// Logs a commit that changes no conversation.
pub const LOG: &str = "INSERT INTO changes (change, namespace, id, events) VALUES ($1, $2, $3, $4)";

/// Settles a commit: waits while the commit is in flight and, unless it has taken effect, ensures that it never
/// will. Returns whether it never will.
pub const SETTLE: &str = "INSERT INTO changes (change, namespace, id, never) VALUES ($1, $2, $3, true)
    ON CONFLICT (change, namespace, id) DO UPDATE SET never = changes.never
    RETURNING never";
