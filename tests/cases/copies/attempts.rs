//! Copies that are interrupted, continued and refused.

use std::{
    ops::Bound,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use libtest_mimic::Trial;
use utterd::{
    config::DurableEngine,
    server::{
        database,
        upkeep::{Report, UpkeepError},
    },
    store::{
        durable::{
            Copied, CopyError,
            key_value::{Ascending, Batch, Durability, Key, KeyValueError, Ordered, Value},
            records::{self, Kind, Segments, Utterances},
        },
        postgres,
    },
};

use crate::{
    copies::{
        home::{Home, case, copy, files, files_after, opened, problems},
        trial,
    },
    support::postgres::Cluster,
};

/// Leaves forks, segments and given ids.
const LIFE: &str = "forks::a_family_changes_at_once";

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_copy_goes_on_wherever_it_was_interrupted".into(),
            a_copy_goes_on_wherever_it_was_interrupted,
        ),
        trial(
            "an_unfinished_copy_is_used_by_nothing_else".into(),
            an_unfinished_copy_is_used_by_nothing_else,
        ),
        trial("a_source_that_has_changed_is_noticed".into(), a_source_that_has_changed_is_noticed),
        trial("a_schema_that_holds_something_is_refused".into(), a_schema_that_holds_something_is_refused),
        trial("one_copy_at_a_time_is_made".into(), one_copy_at_a_time_is_made),
        trial("a_damaged_source_is_named".into(), a_damaged_source_is_named),
        trial("a_copy_of_itself_is_refused".into(), a_copy_of_itself_is_refused),
    ]
}

/// Records of which only so many can be read.
struct Failing<'a> {
    records: &'a dyn Ordered,
    left: AtomicUsize,
}

impl Ordered for Failing<'_> {
    fn ascending(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Ascending<'_> {
        let less = |left: usize| left.checked_sub(1);
        let read = move |pair: Result<(Key, Value), KeyValueError>| {
            let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
            left.map_err(|_| KeyValueError("the disk is gone".to_owned())).and(pair)
        };
        Box::new(self.records.ascending(from, to).map(read))
    }
}

/// Copies the files at `path`, of which only `left` records can be read.
fn attempt(path: &Path, left: usize, home: &Home) -> Result<Copied, CopyError> {
    let directory = opened(path);
    let source = Failing { records: &directory.pairs(), left: AtomicUsize::new(left) };
    postgres::copy(&source, "fjall:data", &home.options(), &mut |_| {})
}

fn is_unread(attempted: &Result<Copied, CopyError>) -> bool {
    matches!(attempted, Err(CopyError::Read(error)) if error.0 == "the disk is gone")
}

fn a_copy_goes_on_wherever_it_was_interrupted(cluster: &Cluster) {
    let (directory, source) = files_after(case(LIFE));
    let home = Home::new(cluster);
    let expected = copy(&source, &Home::new(cluster).place).unwrap().0;
    let (mut resumed, mut left) = (Vec::new(), 10);
    let copied = loop {
        match attempt(directory.path(), left, &home) {
            Ok(copied) => break copied,
            failed => assert!(is_unread(&failed), "{failed:?}"),
        }
        resumed.push(home.sql(cluster, "SELECT count(*) FROM utterances"));
        left += 60;
    };
    resumed.dedup();
    assert!(resumed.len() > 1, "{resumed:?}");
    assert_eq!(copied, Copied { resumed: copied.records, ..expected });
    assert_eq!(problems(&home.place), [""; 0]);
}

/// The beginning of a copy of the files at `path`.
fn begun(path: &Path, cluster: &Cluster) -> Home {
    let home = Home::new(cluster);
    let all = postgres::copy(&opened(path).pairs(), "fjall:data", &home.options(), &mut |_| {}).unwrap();
    let mark = "DELETE FROM segments; DELETE FROM compactions; INSERT INTO copying VALUES ('fjall:data')";
    home.sql(cluster, mark);
    assert!(all.records > 0);
    home
}

fn an_unfinished_copy_is_used_by_nothing_else(cluster: &Cluster) {
    let (directory, source) = files_after(case(LIFE));
    let home = begun(directory.path(), cluster);
    let (_files, other) = files(DurableEngine::Sled);
    let refused = copy(&home.place, &other).unwrap_err().to_string();
    assert!(refused.contains(" is an unfinished copy of fjall:data; finish it: utterd copy"), "{refused}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime.block_on(database::check_finished(&home.settings)).unwrap_err().to_string();
    assert_eq!(served, refused);
    let (copied, report) = copy(&source, &home.place).unwrap();
    assert!(0 < copied.resumed && copied.resumed < copied.records, "{copied:?}");
    assert_eq!(report.problems, []);
    runtime.block_on(database::check_finished(&home.settings)).unwrap();
}

/// Writes to the files at `path`.
fn write(path: &Path, key: &Key, value: Option<Value>) {
    let writes = vec![(key.clone(), value)];
    opened(path).pairs().apply(Batch { writes }, Durability::Disk).unwrap();
}

/// A record of the files at `path`.
fn first<K: Kind>(path: &Path) -> (Key, Value) {
    records::within(opened(path).pairs(), &records::all_of::<K>()).next().unwrap().unwrap()
}

#[track_caller]
fn assert_differs(result: Result<(Copied, Report), UpkeepError>, record: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(&format!("does not match the source: {record} differs")), "{error}");
    assert!(error.contains("remove the schema and copy again"), "{error}");
}

fn a_source_that_has_changed_is_noticed(cluster: &Cluster) {
    let (directory, source) = files_after(case(LIFE));
    let path = directory.path();
    let home = begun(path, cluster);
    let (key, value) = first::<Utterances>(path);
    let name = records::name::<Utterances>(&records::decode_key::<Utterances>(&key).unwrap());
    let (_, utterance) = records::decode::<Utterances>(&key, &value).unwrap();
    let changed = utterd::domain::Utterance { content: "Something else.".into(), ..utterance };
    let changed = records::pair::<Utterances>(&records::decode_key::<Utterances>(&key).unwrap(), &changed).1;
    write(path, &key, Some(changed));
    assert_differs(copy(&source, &home.place), &name);
    write(path, &key, None);
    assert_differs(copy(&source, &home.place), &name);
    write(path, &key, Some(value));
    copy(&source, &home.place).unwrap();
}

fn a_schema_that_holds_something_is_refused(cluster: &Cluster) {
    let (_directory, source) = files_after(case(LIFE));
    let home = Home::after(cluster, case("state::a_recipients_own_state_is_no_conversation"));
    let before = home.sql(cluster, "SELECT count(*) FROM utterances");
    let refused = copy(&source, &home.place).unwrap_err().to_string();
    assert!(refused.contains(" already holds a store; choose an empty schema"), "{refused}");
    let other = Home::new(cluster);
    copy(&source, &other.place).unwrap();
    let refused = copy(&source, &other.place).unwrap_err().to_string();
    assert!(refused.contains(" already holds a store"), "it is finished: {refused}");
    assert_eq!(home.sql(cluster, "SELECT count(*) FROM utterances"), before);
    assert_eq!(home.sql(cluster, "SELECT count(*) FROM copying"), "0");
}

fn one_copy_at_a_time_is_made(cluster: &Cluster) {
    let (_directory, source) = files_after(case(LIFE));
    let home = Home::new(cluster);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let other = runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(&cluster.url(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let lock = "SELECT pg_advisory_lock(30068, hashtext($1))";
        client.query(lock, &[&home.settings.database_schema]).await.unwrap();
        client
    });
    let refused = copy(&source, &home.place).unwrap_err().to_string();
    assert!(refused.contains("another process copies to the schema "), "{refused}");
    drop((other, runtime));
}

fn a_damaged_source_is_named(cluster: &Cluster) {
    let (directory, source) = files_after(case(LIFE));
    let path = directory.path();
    let (key, value) = first::<Segments>(path);
    let name = records::name::<Segments>(&records::decode_key::<Segments>(&key).unwrap());
    let home = Home::new(cluster);
    write(path, &key, Some(value[..value.len() - 1].to_vec()));
    let refused = copy(&source, &home.place).unwrap_err().to_string();
    assert!(refused.contains(&format!("is damaged, and nothing after it was copied: {name}: ")), "{refused}");
    write(path, &key, Some(value));
    copy(&source, &home.place).unwrap();
}

fn a_copy_of_itself_is_refused(cluster: &Cluster) {
    let home = Home::new(cluster);
    let refused = copy(&home.place, &home.place).unwrap_err().to_string();
    assert!(refused.contains("cannot be copied to itself; choose another schema"), "{refused}");
}
