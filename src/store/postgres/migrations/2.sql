-- Version 2 of the schema. Never change this file: a later version is another file.
--
-- The key with which places in the trace are encrypted before callers see them.
ALTER TABLE horizon ADD COLUMN key uuid NOT NULL DEFAULT gen_random_uuid();
