//! Wrong records and columns are named.

use libtest_mimic::Trial;

use crate::{
    copies::{
        home::{BackupFile, Home, case, files_after, problems},
        trial,
    },
    support::postgres::Cluster,
};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_column_that_calls_depend_on_is_named".into(), a_column_that_calls_depend_on_is_named),
        trial("a_record_that_is_damaged_is_named".into(), a_record_that_is_damaged_is_named),
        trial("what_does_not_fit_together_is_named".into(), what_does_not_fit_together_is_named),
    ]
}

/// A schema with a family of forks, and a conversation to damage in it.
fn family(cluster: &Cluster) -> (Home, String) {
    let (_directory, source) = files_after(case("forks::a_family_changes_at_once"));
    let home = Home::new(cluster);
    BackupFile::of(&source).unwrap().restore(&home.place).unwrap();
    assert_eq!(problems(&home.place), [""; 0]);
    let id = home.sql(cluster, "SELECT id FROM conversations WHERE cardinality(lineages) > 1 LIMIT 1");
    (home, id)
}

/// The problems while `table` is changed by `change` where `which` holds.
fn damaged(home: &Home, cluster: &Cluster, table: &str, change: &str, which: &str) -> Vec<String> {
    home.sql(cluster, &format!("CREATE TABLE kept AS SELECT * FROM {table}"));
    home.sql(cluster, &format!("UPDATE {table} SET {change} WHERE {which}"));
    let found = problems(&home.place);
    home.sql(
        cluster,
        &format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept; DROP TABLE kept"),
    );
    found
}

fn a_column_that_calls_depend_on_is_named(cluster: &Cluster) {
    let (home, id) = family(cluster);
    let which = format!("id = '{id}'");
    for (column, value, expected) in [
        ("recipient", "recipient || 'x'", "it is not in the list by start"),
        ("listed", "NOT listed", "it is not in the list by start"),
        ("live", "'{}'", "instead of"),
        ("archived", "'{}'", "utterances are missing"),
        ("lineages", "'{}'", "instead of"),
        ("through", "array_fill(0::bigint, ARRAY[cardinality(through)])", "instead of"),
    ] {
        let found = damaged(&home, cluster, "conversations", &format!("{column} = {value}"), &which);
        let names =
            |it: &String| it.starts_with(&format!("conversation default/{id}: ")) && it.contains(expected);
        assert!(found.iter().any(names), "{column}: {found:?}");
    }
    assert_eq!(problems(&home.place), [""; 0]);
}

fn a_record_that_is_damaged_is_named(cluster: &Cluster) {
    let (home, id) = family(cluster);
    let cut = |column: &str| format!("{column} = set_byte({column}, 3, 255 - get_byte({column}, 3))");
    for (table, column, which, kind) in [
        ("utterances", "record", "sequence = 2".to_owned(), "utterance "),
        ("conversations", "head", format!("id = '{id}'"), "head "),
        ("conversations", "identity", format!("id = '{id}'"), "conversation "),
    ] {
        let found = damaged(&home, cluster, table, &cut(column), &which);
        let names = |problem: &String| problem.starts_with(kind) && problem.contains("the checksum is wrong");
        assert!(found.iter().any(names), "{table} {column}: {found:?}");
    }
}

fn what_does_not_fit_together_is_named(cluster: &Cluster) {
    let (home, _) = family(cluster);
    let found = damaged(&home, cluster, "readers", "through = through + 1", "true");
    assert!(found.iter().any(|it| it.contains("but its head says")), "{found:?}");
    home.sql(cluster, "INSERT INTO active VALUES ('default', 'bob', 'nobody')");
    assert_eq!(
        problems(&home.place),
        ["active conversation of default/bob: there is no conversation nobody"]
    );
    home.sql(cluster, "DELETE FROM active; DELETE FROM readers");
    let found = problems(&home.place);
    assert!(found.iter().any(|it| it.contains("it is not among the readers of lineage")), "{found:?}");
}
