//! Runs the statements of a commit.

use std::time::Duration;

use bytes::BytesMut;
use deadpool_postgres::Object;
use futures::{
    FutureExt as _,
    future::{join_all, try_join_all},
};
use tokio::time;
use tokio_postgres::{Error, Row, Statement, types::ToSql};

use super::{
    database::{Connection, Database, with_jitter},
    fault::Fault,
    plan::{Logged, Plan, Step},
    quotas::Taken,
    sql,
};
use crate::{
    domain::limits::DATABASE_SETTLE,
    store::{CommitError, Conflict, StoreError},
};

/// How often to run a transaction that others were in the way of.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// Why a commit was not acknowledged.
enum Failed {
    Conflict(Conflict),
    InTheWay,
    /// A namespace has no room for it.
    Over(Taken),
    Store(StoreError),
    /// It may have taken effect.
    Lost(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Makes the commit, or finds out what became of it.
pub(super) async fn commit(database: &Database, plan: &Plan) -> Result<(), CommitError> {
    for attempt in 1.. {
        let mut failed = match run(database, plan).await {
            Ok(()) => return Ok(()),
            Err(failed) => failed,
        };
        if let Failed::Over(taken) = failed {
            failed = match taken.refusal(database).await? {
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
            Failed::Lost(error) => match settle(database, &plan.logged).await {
                Ok(true) => return Ok(()),
                Ok(false) => error.into(),
                Err(unsettled) => CommitError::Unknown(format!("{error}; then {unsettled}")),
            },
        });
    }
    Ok(())
}

/// Finds out whether the commit took effect, and tries again for a while if that fails.
async fn settle(database: &Database, logged: &Logged) -> Result<bool, StoreError> {
    let deadline = time::Instant::now() + DATABASE_SETTLE;
    loop {
        match settle_once(database, logged).await {
            Err(_) if time::Instant::now() < deadline => time::sleep(with_jitter(PAUSE * 10)).await,
            settled => return settled,
        }
    }
}

/// Finds out whether the commit took effect; from then on, it has, or never will.
pub(super) async fn settle_once(database: &Database, logged: &Logged) -> Result<bool, StoreError> {
    let mut connection = database.connection().await?;
    let Logged { change, namespace, id } = logged;
    let rows = connection.query(sql::SETTLE, &[change, namespace, id]).await?;
    Ok(!rows.iter().any(|row| row.get(0)))
}

async fn run(database: &Database, plan: &Plan) -> Result<(), Failed> {
    let mut connection = database.connection().await?;
    match &plan.steps[..] {
        [step] if plan.is_alone => run_alone(&mut connection, step).await,
        steps => run_together(&mut connection, steps).await,
    }
}

/// Runs a single statement: it tells what it found.
async fn run_alone(connection: &mut Connection, step: &Step) -> Result<(), Failed> {
    let rows = connection.run(async |client| {
        let statement = client.prepare_cached(step.sql).await?;
        client.query(&statement, &borrowed(step)).await
    });
    match rows.await {
        Ok(rows) => step.found(rows.first()),
        Err(fault) => Err(step.failed(fault)),
    }
}

/// Runs statements in a transaction. All are sent before the first answer is awaited.
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
    // what follows a failure fails because of it
    for (place, answer) in answers.into_iter().enumerate() {
        if let Err(error) = answer {
            let fault = connection.failed(&error);
            let step = place.checked_sub(1).and_then(|place| steps.get(place));
            return Err(step.map_or_else(|| outside(&error), |step| step.failed(fault)));
        }
    }
    Ok(())
}

/// The failure of a transaction's beginning or end.
fn outside(error: &Error) -> Failed {
    match Fault::of(error) {
        Fault::InTheWay => Failed::InTheWay,
        Fault::Lost(error) => Failed::Lost(error),
        fault => Failed::Store(fault.into_error()),
    }
}

/// The answers to the beginning of the transaction, to each statement, and to the end.
async fn send(client: &Object, steps: &[Step], statements: &[Statement]) -> Vec<Result<(), Error>> {
    let begin = client.batch_execute("BEGIN").boxed();
    let all = steps.iter().zip(statements).map(|(step, statement)| {
        async move { client.query(statement, &borrowed(step)).await.map(drop) }.boxed()
    });
    let end = client.batch_execute("COMMIT").boxed();
    // each is sent when it is polled for the first time, in this order
    join_all(std::iter::once(begin).chain(all).chain(std::iter::once(end))).await
}

/// Fails if a parameter cannot be sent: its statement would be left out, and the others take effect.
fn check(steps: &[Step], statements: &[Statement]) -> Result<(), StoreError> {
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

fn borrowed(step: &Step) -> Vec<&(dyn ToSql + Sync)> {
    step.params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect()
}

impl Step {
    /// The result of a statement that ran without a transaction around it.
    fn found(&self, row: Option<&Row>) -> Result<(), Failed> {
        let (held, pointed) = row.map_or((false, false), |row| (row.get(0), row.get(2)));
        match (held, pointed) {
            (true, _) => Ok(()),
            (false, false) => Err(self.conflict(&self.pointer)),
            (false, true) => Err(self.conflict(&self.conflict)),
        }
    }

    fn failed(&self, fault: Fault) -> Failed {
        match fault {
            Fault::Unexpected => match &self.taken {
                Some(taken) => Failed::Over(taken.clone()),
                None => self.conflict(&self.conflict),
            },
            Fault::Present => self.conflict(&self.outcome),
            Fault::InTheWay => Failed::InTheWay,
            Fault::Refused(error) => Failed::Store(error),
            Fault::Lost(error) => Failed::Lost(error),
        }
    }

    fn conflict(&self, conflict: &Option<Conflict>) -> Failed {
        match conflict {
            Some(conflict) => Failed::Conflict(conflict.clone()),
            None => Failed::Store(Fault::Unexpected.into_error()),
        }
    }
}
