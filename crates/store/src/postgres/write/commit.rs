//! Runs the statements of a commit.

use std::{sync::Arc, time::Duration};

use bytes::BytesMut;
use deadpool_postgres::Object;
use futures::{
    FutureExt as _,
    future::{join_all, try_join_all},
};
use tokio::time;
use tokio_postgres::{Error, Row, Statement};

use super::{
    failed::{Failed, conflict},
    lone::Lones,
    plan::{How, Logged, Lone, Plan, Step},
    sql,
};
use crate::postgres::{
    batches::Batches,
    connection::{
        database::{Connection, Database, with_jitter},
        fault::Fault,
    },
    types::borrowed,
};
use crate::{CommitError, Result, StoreError, meters::Meters};
use utterd_domain::limits::DATABASE_SETTLE;

/// How often a commit is tried if other transactions interfere.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// Makes commits. Clones share everything.
#[derive(Clone)]
pub struct Commits {
    pub database: Database,
    changes: Batches<Lones>,
    creations: Batches<Lones>,
    pub meters: Meters,
}

impl Commits {
    pub fn new(database: &Database) -> Self {
        let meters = Meters::default();
        let lones = |sql| Batches::new(Lones { database: database.clone(), sql, meters: meters.clone() });
        let (changes, creations) = (lones(sql::CHANGE_EACH), lones(sql::CREATE_EACH));
        Self { database: database.clone(), changes, creations, meters }
    }

    /// Makes the commit. If its answer is lost, finds out whether it took effect.
    pub async fn make(&self, plan: &Plan) -> Result<(), CommitError> {
        for attempt in 1.. {
            let mut failed = match self.run(plan).await {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            if let Failed::Over(taken) = failed {
                failed = match taken.refusal(&self.database).await? {
                    Some(refusal) => Failed::Store(refusal),
                    None => Failed::InTheWay,
                };
            }
            return Err(match failed {
                Failed::InTheWay if attempt < ATTEMPTS => {
                    time::sleep(with_jitter(PAUSE * attempt)).await;
                    continue;
                }
                Failed::InTheWay | Failed::Over(_) => Fault::InTheWay.into_error().into(),
                Failed::Conflict(conflict) => conflict.into(),
                Failed::Store(error) => error.into(),
                Failed::Lost(error) => match settle(&self.database, &plan.logged).await {
                    Ok(true) => return Ok(()),
                    Ok(false) => error.into(),
                    Err(unsettled) => CommitError::Unknown(format!("{error}; then {unsettled}")),
                },
            });
        }
        Ok(())
    }

    async fn run(&self, plan: &Plan) -> Result<(), Failed> {
        match &plan.how {
            How::Alone(lone) => self.run_lone(lone).await,
            How::Together(steps) => {
                let mut connection = self.database.connection().await?;
                self.timed(run_together(&mut connection, steps)).await
            }
        }
    }

    /// Measures the writing of one commit, which counts as a batch of one.
    async fn timed(&self, writing: impl Future<Output = Result<(), Failed>>) -> Result<(), Failed> {
        let timer = self.meters.write.start_timer();
        let written = writing.await;
        timer.observe_duration();
        self.meters.batch.observe(1.0);
        written
    }

    /// Writes the row in a batch with those of other commits. Writes it alone if it is large, if the commit may
    /// well conflict, or if the batch did not write it.
    async fn run_lone(&self, lone: &Arc<Lone>) -> Result<(), Failed> {
        if lone.row.is_small() && !lone.is_contended {
            let batches = if lone.row.state.is_some() { &self.changes } else { &self.creations };
            match batches.ask((lone.clone(), self.database.wait())).await {
                Ok(Some(done)) => return done,
                Ok(None) => {}
                Err(error) => return Err(Failed::Lost(error)),
            }
        }
        let mut connection = self.database.connection().await?;
        self.timed(run_alone(&mut connection, lone)).await
    }
}

/// Finds out whether the commit took effect; retries for a while if that fails.
async fn settle(database: &Database, logged: &Logged) -> Result<bool> {
    let deadline = time::Instant::now() + DATABASE_SETTLE;
    loop {
        match settle_once(database, logged).await {
            Err(_) if time::Instant::now() < deadline => time::sleep(with_jitter(PAUSE * 10)).await,
            settled => return settled,
        }
    }
}

/// Finds out whether the commit took effect. If it has not, it never will.
pub async fn settle_once(database: &Database, logged: &Logged) -> Result<bool> {
    let mut connection = database.connection().await?;
    let Logged { change, namespace, id } = logged;
    let rows = connection.query(sql::SETTLE, &[change, namespace, id]).await?;
    Ok(!rows.iter().any(|row| row.get(0)))
}

/// Writes a row with a statement of its own, which reports what it found.
async fn run_alone(connection: &mut Connection, lone: &Lone) -> Result<(), Failed> {
    let step = lone.row.step(false);
    let rows = connection.run(async |client| {
        let statement = client.prepare_cached(step.sql).await?;
        client.query(&statement, &borrowed(&step.params)).await
    });
    match rows.await {
        Ok(rows) => lone.found(rows.first()),
        Err(Fault::Present) => Err(conflict(lone.outcome.as_ref())),
        Err(fault) => Err(Failed::of(fault)),
    }
}

/// Runs statements in one transaction. All are sent before the first answer is awaited.
async fn run_together(connection: &mut Connection, steps: &[Step]) -> Result<(), Failed> {
    let statements = connection.run(async |client| {
        let prepared = steps.iter().map(|step| client.prepare_cached(step.sql));
        try_join_all(prepared).await
    });
    let statements = statements.await.map_err(|fault| Failed::Store(fault.into_error()))?;
    check(steps, &statements)?;
    let answers = connection.run(async |client| Ok(send(client, steps, &statements).await)).await;
    let answers = match answers {
        Ok(answers) => answers,
        Err(fault) => return Err(Failed::Lost(fault.into_error())),
    };
    // the first error causes those that follow
    for (place, answer) in answers.into_iter().enumerate() {
        if let Err(error) = answer {
            let fault = connection.failed(&error);
            let step = place.checked_sub(1).and_then(|place| steps.get(place));
            return Err(step.map_or_else(|| Failed::of(Fault::of(&error)), |step| step.failed(fault)));
        }
    }
    Ok(())
}

/// Returns the answers to BEGIN, to each statement, and to COMMIT.
async fn send(client: &Object, steps: &[Step], statements: &[Statement]) -> Vec<Result<(), Error>> {
    let begin = client.batch_execute("BEGIN").boxed();
    let all = steps.iter().zip(statements).map(|(step, statement)| {
        async move { client.query(statement, &borrowed(&step.params)).await.map(drop) }.boxed()
    });
    let end = client.batch_execute("COMMIT").boxed();
    // each is sent when it is first polled, so they are sent in this order
    join_all(std::iter::once(begin).chain(all).chain(std::iter::once(end))).await
}

/// Fails if a parameter cannot be sent: otherwise its statement would be left out, and the others would take
/// effect.
fn check(steps: &[Step], statements: &[Statement]) -> Result<()> {
    let mut scratch = BytesMut::new();
    for (step, statement) in steps.iter().zip(statements) {
        for (param, expected) in step.params.iter().zip(statement.params()) {
            scratch.clear();
            let written = param.to_sql_checked(expected, &mut scratch);
            written.map_err(|error| StoreError::Unavailable(format!("a value cannot be sent: {error}")))?;
        }
    }
    Ok(())
}

impl Lone {
    /// Interprets the row that the statement returned.
    fn found(&self, row: Option<&Row>) -> Result<(), Failed> {
        let (is_written, is_pointed) = row.map_or((false, false), |row| (row.get(0), row.get(1)));
        match (is_written, is_pointed) {
            (true, _) => Ok(()),
            (false, false) => Err(conflict(self.pointer.as_ref())),
            (false, true) => Err(Failed::Conflict(self.state.clone())),
        }
    }
}

impl Step {
    fn failed(&self, fault: Fault) -> Failed {
        match (fault, &self.taken) {
            (Fault::Unexpected, Some(taken)) => Failed::Over(taken.clone()),
            (Fault::Unexpected | Fault::Present, _) => conflict(self.conflict.as_ref()),
            (fault, _) => Failed::of(fault),
        }
    }
}
