//! What pgbench does of a Memorize: on tables like the servers', filled with their rows.

use std::cell::Cell;

use crate::{
    database::Database,
    pgbench::{self, Script},
    rounds::Round,
};

/// In the names of conversations and changes. Numbers that begin here all have sixteen digits, so that they
/// make ids as long as the servers'.
const FIRST: u64 = 1_000_000_000_000_000;
/// More changes than a conversation has in a round.
const CHANGES: u64 = 1_000_000;

/// A transaction changes the row of one of the client's conversations and writes an utterance and a change.
const SCRIPT: &str = r"
\set conversation :first + :client_id * :each + :n % :each
\set before :base + :n / :each
\set after :before + 1
\set n :n + 1
BEGIN;
UPDATE yardstick.conversations
    SET change = ('0000000000000000' || :after::text)::uuid, revision = revision + 1, update_time = now(),
        bytes = bytes + 120, live = :live, archived = :archived, head = :head
    WHERE namespace = :namespace AND id = '01J0000000' || :conversation::text
        AND change = ('0000000000000000' || :before::text)::uuid;
INSERT INTO yardstick.utterances (lineage, sequence, record)
    VALUES (('0000000000000000' || :conversation::text)::uuid, :after, :record);
INSERT INTO yardstick.changes (change, namespace, id)
    VALUES (('0000000000000000' || :after::text)::uuid, :namespace, '01J0000000' || :conversation::text);
COMMIT;
";

/// The tables, the script, and its variables.
pub struct Yardstick<'a> {
    database: &'a Database,
    script: Script,
    variables: Vec<(&'static str, String)>,
    rounds: Cell<u64>,
}

impl<'a> Yardstick<'a> {
    /// Copies the conversations that servers have, the first `count` at most.
    pub fn of(database: &'a Database, count: usize) -> Self {
        let psql = |sql: &str| database.cluster().psql(sql);
        psql("CREATE SCHEMA yardstick");
        for table in ["conversations", "utterances", "changes"] {
            psql(&format!("CREATE TABLE yardstick.{table} (LIKE utterd.{table} INCLUDING ALL)"));
            let options = format!(
                "SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = 'utterd.{table}'::regclass"
            );
            let options = psql(&options);
            if !options.is_empty() {
                psql(&format!("ALTER TABLE yardstick.{table} SET ({options})"));
            }
        }
        let each = count / pgbench::clients();
        psql(&format!(
            "CREATE TABLE yardstick.numbers AS
                SELECT namespace, id, lineage, {FIRST} + row_number() OVER () - 1 AS number
                FROM utterd.conversations WHERE listed LIMIT {};
            INSERT INTO yardstick.conversations
                SELECT (jsonb_populate_record(c, jsonb_build_object(
                    'id', '01J0000000' || number, 'lineage', ('0000000000000000' || number)::uuid
                ))).*
                FROM utterd.conversations c JOIN yardstick.numbers USING (namespace, id);
            INSERT INTO yardstick.utterances
                SELECT ('0000000000000000' || number)::uuid, sequence, given_id, record
                FROM utterd.utterances JOIN yardstick.numbers USING (lineage);
            VACUUM ANALYZE yardstick.conversations, yardstick.utterances",
            each * pgbench::clients()
        ));
        let value = |sql: &str| psql(&format!("{sql} LIMIT 1"));
        let of_conversation = |column: &str| value(&format!("SELECT {column} FROM yardstick.conversations"));
        let variables = vec![
            ("n", "0".to_owned()),
            ("first", FIRST.to_string()),
            ("each", each.to_string()),
            ("namespace", of_conversation("namespace")),
            ("live", of_conversation("live")),
            ("archived", of_conversation("archived")),
            ("head", of_conversation("head")),
            (
                "record",
                value("SELECT record FROM yardstick.utterances ORDER BY length(record) DESC OFFSET 100"),
            ),
        ];
        Self { database, script: Script::new(SCRIPT), variables, rounds: Cell::new(0) }
    }

    /// Runs a round.
    pub fn round(&self) -> Round {
        let base = FIRST + self.rounds.get() * CHANGES;
        self.rounds.set(self.rounds.get() + 1);
        let psql = |sql: &str| self.database.cluster().psql(sql);
        psql(&format!("UPDATE yardstick.conversations SET change = ('0000000000000000' || {base})::uuid"));
        let written = || {
            let of = "SELECT (SELECT sum(revision) FROM yardstick.conversations),
                (SELECT count(*) FROM yardstick.changes), (SELECT count(*) FROM yardstick.utterances)";
            let counts: Vec<u64> = psql(of).split('|').map(|count| count.parse().expect("a count")).collect();
            counts
        };
        let before = written();
        let mut variables = self.variables.clone();
        variables.push(("base", base.to_string()));
        let round = self.script.round(self.database, &variables);
        let added: Vec<_> = written().iter().zip(before).map(|(after, before)| after - before).collect();
        assert!(added[0] > 0 && added.iter().all(|count| *count == added[0]), "unequal work: {added:?}");
        round
    }
}
