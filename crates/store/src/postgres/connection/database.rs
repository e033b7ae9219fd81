//! The pool of connections to the database, and whether the database can be reached.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType,
};
use futures::StreamExt as _;
use tokio::{sync::watch, time};
use tokio_postgres::{Error, Row, error::SqlState, types::ToSql};
use tokio_stream::wrappers::WatchStream;

use super::{
    connect,
    fault::{Fault, unavailable},
    waits::{Wait, Waits},
};
use crate::postgres::Options;
use crate::{BoxStream, Result, StoreError};
use utterd_domain::limits::{DATABASE_CONNECT_TIMEOUT, DATABASE_STATEMENT_TIMEOUT, DATABASE_WAIT};
use utterd_telemetry::{Registry, panics::begin_anew};

/// How long an answer may take beyond a statement's timeout, before the connection is given up.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait before a retry, at first and at most.
const RETRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// The pool, and the condition of the database. Clones share both.
#[derive(Clone)]
pub struct Database(Arc<Inner>);

struct Inner {
    pool: Pool,
    waits: Arc<Waits>,
    condition: watch::Sender<Result<()>>,
}

impl Database {
    /// Opens the pool; connections are made as they are needed.
    pub fn open(options: &Options) -> Result<Self> {
        let manager = Manager::from_config(
            options.url.config().clone(),
            connect::tls(options)?,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let greeting: Arc<str> = connect::greeting(&options.schema).into();
        let greet = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let greeting = greeting.clone();
            Box::pin(async move { client.batch_execute(&greeting).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(manager)
            .max_size(options.connections)
            .wait_timeout(Some(DATABASE_WAIT))
            .create_timeout(Some(DATABASE_CONNECT_TIMEOUT + GRACE))
            .runtime(Runtime::Tokio1)
            .post_create(greet)
            .build()
            .map_err(StoreError::unavailable)?;
        let condition = watch::Sender::new(Ok(()));
        Ok(Self(Arc::new(Inner { pool, waits: Arc::default(), condition })))
    }

    /// Adds the metrics of the connections.
    pub fn describe(&self, registry: &Registry) {
        let database = self.clone();
        registry.gauge("utterd_database_connections", "Connections to the database.", move || {
            database.0.pool.status().size as f64
        });
        let database = self.clone();
        registry.gauge(
            "utterd_database_waiting",
            "Calls that wait for a connection to the database.",
            move || database.0.pool.status().waiting as f64,
        );
    }

    /// Takes a connection for exclusive use. Fails at once while the database cannot be reached.
    pub async fn connection(&self) -> Result<Connection> {
        self.0.condition.borrow().clone()?;
        let wait = self.wait();
        let connected = self.get().await;
        drop(wait);
        match connected {
            Ok(client) => Ok(Connection { client: Some(client), database: self.clone() }),
            Err(error) => Err(self.unreachable(error)),
        }
    }

    /// Runs one statement on any connection.
    pub async fn query(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.connection().await?.query(sql, params).await
    }

    /// Takes a connection from the pool. If the database accepts no more, waits for one that this process has.
    async fn get(&self) -> Result<Object, PoolError> {
        let deadline = time::Instant::now() + DATABASE_WAIT;
        loop {
            match self.0.pool.get().await {
                Err(PoolError::Backend(error))
                    if self.has_all_there_are(&error) && time::Instant::now() < deadline =>
                {
                    time::sleep(with_jitter(RETRY[0])).await;
                }
                connected => return connected,
            }
        }
    }

    /// Whether the database accepts no more connections, but this process has some.
    fn has_all_there_are(&self, error: &Error) -> bool {
        error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) && self.0.pool.status().size > 0
    }

    /// Counts a caller as waiting until the result is dropped.
    pub fn wait(&self) -> Wait {
        self.0.waits.begin()
    }

    /// Returns whether the database can be reached: the current condition, then each change.
    pub fn conditions(&self) -> BoxStream<'static, Result<()>> {
        WatchStream::new(self.0.condition.subscribe()).boxed()
    }

    /// Checks whether the database answers within `patience`; if not, notes that it is down.
    pub async fn probe(&self, patience: Duration) {
        for _ in 0..=self.connections() {
            let Ok(mut connection) = self.connection().await else { return };
            let answer = connection.run(async |client| client.batch_execute("").await);
            match time::timeout(patience, answer).await {
                // one broken connection says nothing about the next
                Ok(Err(Fault::Lost(_))) => {}
                Ok(_) => return,
                Err(_) => {
                    connection.give_up();
                    let _ = self.is_down(StoreError::unavailable("the database does not answer"));
                    return;
                }
            }
        }
    }

    /// Whether more callers wait for a connection than there are connections.
    pub fn is_busy(&self) -> bool {
        self.0.waits.exceed(self.connections())
    }

    /// Whether the database is behind, and new writes should be refused.
    pub fn is_behind(&self) -> bool {
        self.0.waits.are_too_many(self.connections())
    }

    fn connections(&self) -> usize {
        self.0.pool.status().max_size
    }

    fn unreachable(&self, error: PoolError) -> StoreError {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => {
                let size = self.connections();
                StoreError::Unavailable(format!("all {size} connections to the database are in use"))
            }
            // the existing connections still work
            PoolError::Backend(error) if self.has_all_there_are(&error) => unavailable(&error),
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                self.is_down(unavailable(&error))
            }
            error => {
                self.is_down(StoreError::Unavailable(format!("the database cannot be reached: {error}")))
            }
        }
    }

    /// Notes that the database cannot be reached, or accepts no writes. One task retries until it is back, so
    /// that callers need not, and do not all connect at once.
    fn is_down(&self, error: StoreError) -> StoreError {
        let is_news = self.0.condition.send_if_modified(|condition| {
            let was_up = condition.is_ok();
            *condition = Err(error.clone());
            was_up
        });
        if is_news {
            tracing::error!(%error, "no calls are served until the database is back");
            let away = self.clone();
            tokio::spawn(begin_anew("waiting for the database", move || away.clone().come_back()));
        }
        error
    }

    async fn come_back(self) {
        let [mut pause, longest] = RETRY;
        loop {
            time::sleep(with_jitter(pause)).await;
            // earlier connections may lead to a server that is now a standby
            self.0.pool.retain(|_, _| false);
            match self.0.pool.get().await {
                Ok(_) => break,
                Err(error) => tracing::debug!(%error, "the database is still away"),
            }
            pause = (pause * 2).min(longest);
        }
        tracing::info!("the database is back");
        let _error = self.0.condition.send_replace(Ok(()));
    }
}

/// Returns between half of `pause` and all of it, so that several servers do not retry at the same time.
pub fn with_jitter(pause: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(0);
    pause / 2 + (pause / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// A connection, which returns to the pool when it is dropped.
pub struct Connection {
    /// `None` once the connection is given up.
    client: Option<Object>,
    database: Database,
}

impl Connection {
    /// Runs `work` on the connection. Gives the connection up if it breaks or does not answer in time.
    pub async fn run<T>(&mut self, work: impl AsyncFnOnce(&Object) -> Result<T, Error>) -> Result<T, Fault> {
        let Some(client) = &self.client else {
            return Err(Fault::Refused(StoreError::unavailable("the connection broke")));
        };
        match time::timeout(DATABASE_STATEMENT_TIMEOUT + GRACE, work(client)).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(self.failed(&error)),
            Err(_) => {
                self.give_up();
                Err(Fault::Lost(StoreError::unavailable("the database does not answer")))
            }
        }
    }

    /// Runs one statement.
    pub async fn query(&mut self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let rows = self.run(async |client| {
            let statement = client.prepare_cached(sql).await?;
            client.query(&statement, params).await
        });
        rows.await.map_err(Fault::into_error)
    }

    /// Runs one statement; returns how many rows it changed.
    pub async fn execute(&mut self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        let changed = self.run(async |client| {
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, params).await
        });
        changed.await.map_err(Fault::into_error)
    }

    /// Runs a statement without a timeout. The connection does not return to the pool.
    pub async fn run_long(mut self, sql: &str) -> Result<()> {
        let Some(client) = self.client.take().map(Object::take) else { return Ok(()) };
        for sql in ["SET statement_timeout = 0", sql] {
            client.batch_execute(sql).await.map_err(|error| unavailable(&error))?;
        }
        Ok(())
    }

    /// Interprets an error; gives up the connection if it can no longer be used.
    pub fn failed(&mut self, error: &Error) -> Fault {
        let fault = Fault::of(error);
        if Fault::is_read_only(error) {
            self.give_up();
            let down = self.database.is_down(unavailable(error));
            return Fault::Refused(down);
        }
        if matches!(fault, Fault::Lost(_)) || Fault::is_outdated(error) {
            self.give_up();
        }
        fault
    }

    /// Closes the connection instead of returning it to the pool.
    pub fn give_up(&mut self) {
        self.client.take().map(Object::take);
    }
}
