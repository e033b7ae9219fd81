//! Wrong records and columns are named.

use libtest_mimic::Trial;
use crate::{
    home::{Home, case, copy, files_after, problems},
    support::{postgres::Cluster, schema::trial},
};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("each_column_that_is_wrong_is_named".into(), each_column_that_is_wrong_is_named),
        trial("a_record_that_is_damaged_is_named".into(), a_record_that_is_damaged_is_named),
        trial("what_does_not_fit_together_is_named".into(), what_does_not_fit_together_is_named),
    ]
}

/// A schema with a family of forks, and a conversation to damage in it.
fn family(cluster: &Cluster) -> (Home, String) {
    let (_directory, source) = files_after(case("forks::a_family_changes_at_once"));
    let home = Home::new(cluster);
    copy(&source, &home.place).unwrap();
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

fn each_column_that_is_wrong_is_named(cluster: &Cluster) {
    let (home, id) = family(cluster);
    let which = format!("id = '{id}'");
    for (column, value) in [
        ("recipient", "recipient || 'x'"),
        ("listed", "NOT listed"),
        ("change", "gen_random_uuid()"),
        ("revision", "revision + 1"),
        ("start_time", "start_time + interval '1 second'"),
        ("update_time", "update_time + interval '1 second'"),
        ("update_span", "update_span + interval '64 seconds'"),
        ("end_time", "now()"),
        ("expire_time", "now()"),
        ("waits_since", "now()"),
        ("erased_at", "erased_at + 1"),
        ("bytes", "bytes - 1"),
        ("live", "live + '{[1000,1001)}'"),
        ("archived", "archived + '{[1000,1001)}'"),
        ("lineages", "lineages || gen_random_uuid()"),
        ("through", "through || 7::bigint"),
    ] {
        let found = damaged(&home, cluster, "conversations", &format!("{column} = {value}"), &which);
        let expected =
            format!("conversation default/{id}: its column {column} does not agree with its records");
        assert_eq!(found, [expected]);
    }
    let found = damaged(&home, cluster, "utterances", "given_id = 'x'", "sequence = 1");
    assert!(found.iter().all(|it| it.contains(": its column given_id does not agree")), "{found:?}");
    assert!(!found.is_empty());
    assert_eq!(problems(&home.place), [""; 0]);
}

fn a_record_that_is_damaged_is_named(cluster: &Cluster) {
    let (home, id) = family(cluster);
    let cut = |column: &str| format!("{column} = set_byte({column}, 3, 255 - get_byte({column}, 3))");
    for (table, column, which, kind) in [
        ("utterances", "record", "sequence = 2".to_owned(), "utterance "),
        ("conversations", "head", format!("id = '{id}'"), "head "),
        ("conversations", "policy", format!("id = '{id}'"), "policy "),
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
