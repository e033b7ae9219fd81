//! Restores to a schema that are interrupted and refused.

use std::{fs, path::Path, thread};

use libtest_mimic::Trial;
use utterd::store::{
    backup::{Backup, RestoreError},
    durable::{
        key_value::{Durability, Key, Value},
        pairs,
    },
    postgres,
    records::{self, Segments},
};

use crate::{
    copies::{
        home::{BackupFile, Home, case, files_after, opened, problems},
        trial,
    },
    support::postgres::Cluster,
};

/// Leaves forks, segments and given ids.
const LIFE: &str = "forks::a_family_changes_at_once";

pub fn trials() -> Vec<Trial> {
    vec![
        trial("an_interrupted_restore_leaves_nothing".into(), an_interrupted_restore_leaves_nothing),
        trial("a_schema_that_holds_something_is_refused".into(), a_schema_that_holds_something_is_refused),
        trial("of_two_restores_at_once_one_is_made".into(), of_two_restores_at_once_one_is_made),
        trial("a_damaged_source_is_named".into(), a_damaged_source_is_named),
    ]
}

/// What the schema holds of conversations and utterances.
fn content(home: &Home, cluster: &Cluster) -> String {
    home.sql(cluster, "SELECT (SELECT count(*) FROM conversations) + (SELECT count(*) FROM utterances)")
}

fn an_interrupted_restore_leaves_nothing(cluster: &Cluster) {
    let (_directory, source) = files_after(case(LIFE));
    let (home, file) = (Home::new(cluster), BackupFile::of(&source).unwrap());
    let (backup, bytes) = (Backup::check(&file.path()).unwrap().0, file.bytes());
    for length in [bytes.len() - 1, bytes.len() / 2] {
        fs::write(file.path(), &bytes[..length]).unwrap();
        let cut = postgres::restore(&backup, &home.options());
        assert!(matches!(cut, Err(RestoreError::Backup(_))), "{cut:?}");
        assert_eq!(content(&home, cluster), "0");
    }
    fs::write(file.path(), &bytes).unwrap();
    file.restore(&home.place).unwrap();
    assert_ne!(content(&home, cluster), "0");
    assert_eq!(problems(&home.place), [""; 0]);
}

fn a_schema_that_holds_something_is_refused(cluster: &Cluster) {
    let (_directory, source) = files_after(case(LIFE));
    let file = BackupFile::of(&source).unwrap();
    let home = Home::after(cluster, case("state::a_recipients_own_state_is_no_conversation"));
    let before = content(&home, cluster);
    let refused = file.restore(&home.place).unwrap_err().to_string();
    assert!(refused.contains("it already holds a store; choose an empty schema"), "{refused}");
    let other = Home::new(cluster);
    file.restore(&other.place).unwrap();
    let refused = file.restore(&other.place).unwrap_err().to_string();
    assert!(refused.contains("it already holds a store"), "it is finished: {refused}");
    assert_eq!(content(&home, cluster), before);
}

fn of_two_restores_at_once_one_is_made(cluster: &Cluster) {
    let (_directory, source) = files_after(case(LIFE));
    let (home, file) = (Home::new(cluster), BackupFile::of(&source).unwrap());
    let made: Vec<_> = thread::scope(|scope| {
        let restores = [(); 2].map(|()| scope.spawn(|| file.restore(&home.place).is_ok()));
        restores.into_iter().map(|restore| restore.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    assert_eq!(problems(&home.place), [""; 0]);
}

/// Writes to the files at `path`.
fn write(path: &Path, key: &Key, value: Option<Value>) {
    let writes = vec![(key.clone(), value)];
    opened(path).pairs().apply(writes, Durability::Disk).unwrap();
}

fn a_damaged_source_is_named(cluster: &Cluster) {
    let (directory, source) = files_after(case(LIFE));
    let path = directory.path();
    let segments = records::all_of::<Segments>();
    let (key, value) = pairs::within(opened(path).pairs(), &segments).next().unwrap().unwrap();
    let name = records::name::<Segments>(&records::decode_key::<Segments>(&key).unwrap());
    write(path, &key, Some(value[..value.len() - 1].to_vec()));
    let refused = BackupFile::of(&source).err().unwrap().to_string();
    assert!(refused.contains(&format!("a record is damaged: {name}: ")), "{refused}");
    write(path, &key, Some(value));
    BackupFile::of(&source).unwrap().restore(&Home::new(cluster).place).unwrap();
}
