-- Version 1 of the schema. Once released, this file never changes: a later version is another file.
--
-- What an operator queries is in columns. `identity`, `head`, `description` and `record` hold what the
-- durable stores write to their files: versioned, and with a checksum. The other columns are derived from
-- them.
--
-- A conversation's utterances are stored under its lineage. A fork has lineages of its own, and reads
-- those of its parent too.

CREATE TABLE conversations (
    namespace   text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    lineage     uuid NOT NULL,               -- names this life of the conversation
    recipient   text COLLATE "C" NOT NULL,
    listed      boolean NOT NULL,            -- false: it holds a recipient's own state
    change      uuid NOT NULL,               -- names the state; each commit gives another
    revision    bigint NOT NULL,
    start_time  timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    update_span timestamptz NOT NULL,        -- update_time, rounded down so that the index rarely changes
    end_time    timestamptz,
    expire_time timestamptz,
    waits_since timestamptz,                 -- a segment or the closing waits for a model
    erased_at   bigint NOT NULL,             -- the last revision that erased or replaced text
    bytes       bigint NOT NULL,             -- what counts for the namespace's quota
    live        int8multirange NOT NULL,     -- sequences in the window
    archived    int8multirange NOT NULL,     -- sequences in the archive
    lineages    uuid[] NOT NULL,             -- where its utterances are stored, newest first
    through     bigint[] NOT NULL,           -- the last sequence that it reads in each
    identity    bytea NOT NULL,
    head        bytea NOT NULL,
    description bytea,
    PRIMARY KEY (namespace, id)
) WITH (fillfactor = 70);                    -- room for the next version of a row beside it

CREATE INDEX conversations_by_start ON conversations (namespace, start_time, id) WHERE listed;
CREATE INDEX conversations_by_update ON conversations (namespace, update_span) WHERE listed;
CREATE INDEX recipients_by_start ON conversations (namespace, recipient, start_time, id) WHERE listed;
CREATE INDEX recipients_by_update ON conversations (namespace, recipient, update_span) WHERE listed;
CREATE INDEX recipients_by_end ON conversations (namespace, recipient, end_time, id)
    WHERE listed AND end_time IS NOT NULL;
CREATE INDEX conversations_due ON conversations (expire_time) WHERE listed AND expire_time IS NOT NULL;
CREATE INDEX conversations_waiting ON conversations (waits_since, namespace, id)
    WHERE listed AND waits_since IS NOT NULL;

-- Which conversation of a recipient is active.
CREATE TABLE active (
    namespace    text COLLATE "C" NOT NULL,
    recipient    text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, recipient)
);

CREATE TABLE utterances (
    lineage  uuid NOT NULL,
    sequence bigint NOT NULL,
    given_id text COLLATE "C",               -- the id that a client gave
    record   bytea NOT NULL,
    PRIMARY KEY (lineage, sequence)
);

CREATE UNIQUE INDEX utterances_by_given_id ON utterances (lineage, given_id) WHERE given_id IS NOT NULL;

-- Other records of conversations, under the keys that they have in the files of durable stores: segments,
-- compactions, and values that callers keep. A key begins with the number of the kind and the lineage.
CREATE TABLE records (
    key    bytea PRIMARY KEY,
    record bytea NOT NULL
);

-- The conversations that read a lineage that was frozen by a fork, and how far.
CREATE TABLE readers (
    lineage   uuid NOT NULL,
    reader    uuid NOT NULL,                 -- the lineage of the conversation that reads it
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    through   bigint NOT NULL,
    PRIMARY KEY (lineage, reader)
);

-- Data derived from a block of utterances: indexes and embeddings.
CREATE TABLE derived (
    lineage uuid NOT NULL,
    kind    smallint NOT NULL,
    block   bigint NOT NULL,
    record  bytea NOT NULL,
    PRIMARY KEY (lineage, kind, block)
);

-- The outcomes of calls with a request_id.
CREATE TABLE outcomes (
    namespace text COLLATE "C" NOT NULL,
    request   text COLLATE "C" NOT NULL,
    rpc       text COLLATE "C" NOT NULL,
    time      timestamptz NOT NULL,
    record    bytea NOT NULL,
    PRIMARY KEY (namespace, request, rpc)
);

CREATE INDEX outcomes_by_time ON outcomes (time);

-- The workers that have a model process what waits.
CREATE TABLE claims (
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    worker    uuid NOT NULL,
    until     timestamptz NOT NULL,
    PRIMARY KEY (namespace, id)
);

-- Every commit of the last day, one row for each conversation that it changed. It tells a server whose
-- connection broke whether its commit took effect, and servers what others did.
CREATE TABLE changes (
    change    uuid NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,     -- empty if the commit changed no conversation
    never     boolean NOT NULL DEFAULT false, -- the commit did not take effect, and never will
    commit    xid8 NOT NULL DEFAULT pg_current_xact_id(),
    events    text[],                        -- the events of the whole commit, in its first row
    PRIMARY KEY (change, namespace, id)
);

CREATE INDEX changes_with_events ON changes (namespace, commit) WHERE events IS NOT NULL;

-- The last commit whose events were removed, and the key with which places in the trace are encrypted before callers
-- see them.
CREATE TABLE horizon (commit xid8 NOT NULL, key uuid NOT NULL DEFAULT gen_random_uuid());
INSERT INTO horizon VALUES ('0');

-- What namespaces store, counted only while servers have quotas.
CREATE TABLE usage (
    namespace     text COLLATE "C" NOT NULL PRIMARY KEY,
    conversations bigint NOT NULL,
    bytes         bigint NOT NULL
);

-- Fails unless what a commit requires holds.
CREATE FUNCTION expect(held boolean, what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT held THEN
        RAISE EXCEPTION 'conflict: %', what USING ERRCODE = 'UT001';
    END IF;
    RETURN true;
END
$$;
