//! Servers that share a database.

use std::{
    path::Path,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use tokio::{
    runtime::{Builder, Runtime},
    sync::watch,
    time::timeout,
};
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_types::StatusExt;
use utterd::store::postgres::{Options, migrate};

use crate::{
    crash::{
        client::{Client, reason},
        server::{Backend, Server, Start},
    },
    ensure,
    support::prelude::*,
};

/// What takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of something that must not hang.
#[track_caller]
pub fn within<T>(what: &str, future: impl Future<Output = T>) -> impl Future<Output = T> {
    let caller = std::panic::Location::caller();
    async move {
        let result = timeout(PATIENCE, future).await;
        result.unwrap_or_else(|_| panic!("{what}: nothing for {PATIENCE:?}, at {caller}"))
    }
}

/// The runtime of a test.
pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Servers over one schema, which is new.
pub struct Fleet {
    members: Vec<Mutex<Member>>,
    /// Whether each reports that it serves.
    health: Vec<watch::Sender<bool>>,
    schema: String,
    connections: usize,
    /// Whether the database can be away.
    has_outages: AtomicBool,
}

struct Member {
    url: String,
    server: Option<Server>,
    client: Client,
    /// How often it was started.
    lives: usize,
}

/// A server at some moment.
#[derive(Clone)]
pub struct Called {
    /// Its connection.
    pub client: Client,
    number: usize,
    life: usize,
}

impl Fleet {
    /// Starts one server for each of the URLs, all of which lead to the same database; each opens at most so many
    /// connections to it. Server N has the name `server_N` there.
    pub async fn start(urls: &[String], connections: usize) -> Arc<Self> {
        let schema = format!("crash_{}", ulid::Ulid::new()).to_lowercase();
        let options = Options::new(urls.last().expect("a server").parse().expect("a URL"));
        migrate(&Options { schema: schema.clone(), ..options }).await.expect("a schema is made");
        let (mut members, mut health) = (Vec::new(), Vec::new());
        for (number, url) in urls.iter().enumerate() {
            let url = format!("{url}?application_name={}", Self::name(number));
            let server = listening(&url, &schema, connections);
            let serving = watch::Sender::new(false);
            follow(&server.address, serving.clone());
            let client = Client::connect(&server.address).await;
            members.push(Mutex::new(Member { url, server: Some(server), client, lives: 1 }));
            health.push(serving);
        }
        let has_outages = AtomicBool::new(false);
        Arc::new(Self { members, health, schema, connections, has_outages })
    }

    /// The name of a server in the database.
    pub fn name(number: usize) -> String {
        format!("server_{number}")
    }

    /// How many servers there are.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The addresses on which they listen.
    pub fn addresses(&self) -> Vec<String> {
        let address = |member: &Mutex<Member>| Some(member.lock().server.as_ref()?.address.clone());
        self.members.iter().filter_map(address).collect()
    }

    /// From now on, calls can fail because the database cannot be used.
    pub fn expect_outages(&self) {
        self.has_outages.store(true, Ordering::Relaxed);
    }

    /// A server, which might have been killed.
    pub fn called(&self, number: usize) -> Called {
        let member = self.members[number].lock();
        Called { client: member.client.clone(), number, life: member.lives }
    }

    /// A connection to a server.
    pub fn client(&self, number: usize) -> Client {
        self.called(number).client
    }

    /// Kills a server like a power switch would.
    pub fn kill(&self, number: usize) {
        let server = self.members[number].lock().server.take();
        self.health[number].send_replace(false);
        server.expect("it runs").kill();
    }

    /// Starts a server again that was killed.
    pub async fn restart(&self, number: usize) {
        let url = self.members[number].lock().url.clone();
        let server = listening(&url, &self.schema, self.connections);
        follow(&server.address, self.health[number].clone());
        let client = Client::connect(&server.address).await;
        let mut member = self.members[number].lock();
        (member.server, member.client, member.lives) = (Some(server), client, member.lives + 1);
    }

    /// Waits until a server reports that it serves.
    pub async fn serves(&self, number: usize) {
        self.reports(number, true).await;
    }

    /// Waits until a server reports that it does not serve.
    pub async fn does_not_serve(&self, number: usize) {
        self.reports(number, false).await;
    }

    async fn reports(&self, number: usize, serves: bool) {
        let mut health = self.health[number].subscribe();
        let what = format!("server {number} reports that it serves: {serves}");
        within(&what, health.wait_for(|now| *now == serves)).await.expect("the sender is in the fleet");
    }

    /// Returns once a call that failed like this can be made again, on any server; an error if it must not fail
    /// like this.
    pub async fn excuses(&self, called: &Called, status: &Status) -> Result<(), String> {
        match (status.code(), reason(status).as_deref()) {
            (Code::Unavailable, Some("STORE_UNAVAILABLE")) if self.has_outages.load(Ordering::Relaxed) => {
                is_worth_a_retry(status)?;
                self.serves(called.number).await;
            }
            (Code::Aborted, Some("CONTENDED")) => is_worth_a_retry(status)?,
            (_, None) if self.is_gone(called) => tokio::task::yield_now().await,
            _ => return Err(format!("server {}: {status:?}", called.number)),
        }
        Ok(())
    }

    /// Whether a server was killed since.
    fn is_gone(&self, called: &Called) -> bool {
        let member = self.members[called.number].lock();
        member.server.is_none() || member.lives > called.life
    }
}

/// The status says when to try again.
pub fn is_worth_a_retry(status: &Status) -> Result<(), String> {
    let retry = status.get_details_retry_info().and_then(|info| info.retry_delay);
    ensure!(retry.is_some(), "it does not say when to try again: {status:?}");
    Ok(())
}

/// The status of a call that cannot be answered because the database cannot be used.
pub async fn is_unavailable<T: std::fmt::Debug>(call: impl Future<Output = Result<T, Status>>) {
    let call = pin!(call);
    let status = within("a call while the database is away", call).await.expect_err("the database is away");
    let told = (status.code(), reason(&status));
    assert_eq!(told, (Code::Unavailable, Some("STORE_UNAVAILABLE".to_owned())), "{status:?}");
    is_worth_a_retry(&status).unwrap();
}

fn listening(url: &str, schema: &str, connections: usize) -> Server {
    let connections = connections.to_string();
    let flags = ["--database-url", url, "--database-schema", schema, "--database-connections", &connections];
    Start { flags: &flags, ..Start::new(Backend::Postgres, Path::new("")) }.start().unwrap()
}

/// Reports what the server at `address` says of its health, until it is gone.
fn follow(address: &str, serving: watch::Sender<bool>) {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    tokio::spawn(async move {
        let request = HealthCheckRequest { service: "utterd.v1.MemoryService".to_owned() };
        let Ok(statuses) = HealthClient::new(endpoint.connect_lazy()).watch(request).await else { return };
        let mut statuses = statuses.into_inner();
        while let Ok(Some(status)) = statuses.message().await {
            serving.send_replace(status.status() == ServingStatus::Serving);
        }
    });
}
