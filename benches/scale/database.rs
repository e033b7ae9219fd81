//! The cluster that servers and pgbench share, and its processor time.

use std::{fs, time::Duration};

use utterd::{
    config::{KEYS, Settings, Sources},
    server::database::migrate,
};

use crate::{child::ServerProcess, load::runtime, postgres::Cluster};

/// What differs from PostgreSQL's defaults; a commit waits for the disk.
const SETTINGS: [(&str, &str); 3] =
    [("shared_buffers", "512MB"), ("max_connections", "200"), ("max_wal_size", "4GB")];

/// A running cluster with the servers' schema.
pub struct Database {
    cluster: Cluster,
    postmaster: u32,
}

impl Database {
    /// Starts a cluster; the error says why there is none.
    pub fn start() -> Result<Self, String> {
        let cluster = Cluster::start(&SETTINGS)?;
        if !cluster.bin("pgbench").is_file() {
            return Err("pgbench is not installed beside PostgreSQL's other programs".to_owned());
        }
        let child = cluster.psql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
        let stat = stat(child.parse().expect("a pid")).expect("the checkpointer runs");
        let database = Self { cluster, postmaster: u32::try_from(stat[PARENT]).expect("a pid") };
        let settings = settings(&database.arguments());
        runtime().block_on(migrate(&settings)).expect("the schema");
        Ok(database)
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The settings of a server that uses it, each a `key=value`.
    fn arguments(&self) -> Vec<String> {
        through(&self.cluster.url())
    }

    /// Starts servers that use it.
    pub fn servers(&self, count: usize) -> Vec<ServerProcess> {
        (0..count).map(|_| ServerProcess::start(&self.arguments())).collect()
    }

    /// The processor time used so far by all of PostgreSQL's processes, including those that have ended.
    pub fn cpu(&self) -> Duration {
        const TICKS_A_SECOND: u64 = 100;
        let children = format!("/proc/{0}/task/{0}/children", self.postmaster);
        let children = fs::read_to_string(children).expect("its children");
        let running = children.split_whitespace().map(|child| child.parse().expect("a pid"));
        // one that has ended in the meantime counts for its parent
        let running: u64 = running.filter_map(stat).map(|stat| stat[TIME..ENDED].iter().sum::<u64>()).sum();
        let own = stat(self.postmaster).expect("it runs")[TIME..].iter().sum::<u64>();
        Duration::from_millis((running + own) * 1_000 / TICKS_A_SECOND)
    }
}

/// The settings of a server that reaches its database at `url`: those that this program was started with are
/// among them.
pub fn through(url: &str) -> Vec<String> {
    let given = std::env::args().filter(|argument| argument.contains('='));
    ["backend=postgres".to_owned(), format!("database_url={url}")].into_iter().chain(given).collect()
}

fn settings(arguments: &[String]) -> Settings {
    let flags = arguments.iter().map(|argument| {
        let (name, value) = argument.split_once('=').expect("key=value");
        (KEYS.iter().find(|key| key.name == name).expect("a key").name, value.to_owned())
    });
    Sources { flags: flags.collect(), ..Sources::default() }.load().expect("settings").settings
}

/// Where [`stat`] has the parent, the process's own time, and the time of its children that have ended.
const PARENT: usize = 0;
const TIME: usize = 1;
const ENDED: usize = 3;

/// The parent of a process, its user and system time, and those of its children that have ended, in ticks.
fn stat(process: u32) -> Option<[u64; 5]> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
    Some([1, 11, 12, 13, 14].map(|field| fields[field].parse().expect("a number")))
}
