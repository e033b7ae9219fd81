//! Places of stores, and what is done with them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use utterd::{
    config::{Database, DurableEngine, Files, Place, Settings},
    server::upkeep::{self, Held, Report, UpkeepError},
    store::{
        Store, backup,
        conformance::{self, Case},
        durable::{Directory, DurableStore, EngineKind, Options},
        postgres,
    },
};

use crate::support::{postgres::Cluster, schema::Schema};

/// A schema, and the place that names it.
pub struct Home {
    pub schema: Schema,
    pub place: Place,
    pub settings: Settings,
}

impl Home {
    /// An empty one.
    pub fn new(cluster: &Cluster) -> Self {
        let schema = Schema::new(cluster);
        let settings = schema.settings(&Settings::default());
        let (url, name) = (settings.database_url.clone(), settings.database_schema.clone());
        let place = Place::Database(Database { url, schema: Some(name) });
        Self { schema, place, settings }
    }

    /// With what a case of the conformance suite leaves.
    pub fn after(cluster: &Cluster, case: Case) -> Self {
        let home = Self::new(cluster);
        conformance::run(async { (home.schema.store(), ()) }, case.run);
        home
    }

    /// Runs SQL in the schema.
    pub fn sql(&self, cluster: &Cluster, sql: &str) -> String {
        cluster.psql(&format!("SET search_path = {}; {sql}", self.settings.database_schema))
    }

    pub fn options(&self) -> postgres::Options {
        let url = self.settings.database_url.as_ref().unwrap().with_password().parse().unwrap();
        postgres::Options { schema: self.settings.database_schema.clone(), ..postgres::Options::new(url) }
    }
}

/// A case of the conformance suite.
pub fn case(name: &str) -> Case {
    conformance::cases().into_iter().find(|case| case.name == name).expect("a case of the suite")
}

/// A durable store with what a case of the suite leaves.
pub fn files_after(case: Case) -> (TempDir, Place) {
    let (directory, place) = files(DurableEngine::Fjall);
    let store = || DurableStore::open(EngineKind::Fjall, directory.path(), &Options::default()).unwrap();
    conformance::run(async { (store(), ()) }, case.run);
    (directory, place)
}

/// A directory for files.
pub fn files(engine: DurableEngine) -> (TempDir, Place) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    (directory, Place::Files(Files { engine, directory: path }))
}

/// Opens files of fjall.
pub fn opened(path: &Path) -> Directory {
    Directory::open(EngineKind::Fjall, path).unwrap()
}

/// A backup in a directory of its own.
pub struct BackupFile(TempDir);

impl BackupFile {
    /// Of a store that no server has open, or of a schema.
    pub fn of(place: &Place) -> Result<Self, UpkeepError> {
        let mut bytes = Vec::new();
        let put = &mut |chunk: Vec<u8>| {
            bytes.extend(chunk);
            Ok(())
        };
        upkeep::backup(place, &Settings::default(), put)?;
        Ok(Self::with(&bytes))
    }

    /// Of an open store.
    pub fn of_open(store: &dyn Store) -> Self {
        let mut bytes = Vec::new();
        let put = &mut |chunk: Vec<u8>| {
            bytes.extend(chunk);
            Ok(())
        };
        backup::write(|each| store.each_record(each), put).unwrap();
        Self::with(&bytes)
    }

    fn with(bytes: &[u8]) -> Self {
        let file = Self(tempfile::tempdir().unwrap());
        fs::write(file.path(), bytes).unwrap();
        file
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("backup")
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    pub fn restore(&self, to: &Place) -> Result<(Held, Report), UpkeepError> {
        upkeep::restore(&self.path(), to, &Settings::default())
    }
}

pub fn problems(place: &Place) -> Vec<String> {
    let report = upkeep::verify(place, &Settings::default()).unwrap();
    report.problems.iter().map(ToString::to_string).collect()
}
