//! Commits of one row each, written with one statement.

use std::sync::Arc;

use tokio_postgres::Row;

use super::{parameters::parameters, plan::Lone};
use crate::postgres::{
    batches::Batched,
    connection::{database::Database, fault::Fault, waits::Wait},
    types::borrowed,
};
use crate::{StoreError, meters::Meters};

/// Writes batches of rows with one statement, which either changes conversations or creates them.
pub struct Lones {
    pub database: Database,
    pub sql: &'static str,
    pub meters: Meters,
}

/// The result of writing a row in a batch.
#[derive(Clone)]
pub enum Sent {
    Written,
    /// Nothing was written, as the conversation is in another state.
    Outdated,
    /// Nothing was written, for an unknown reason.
    Unwritten,
    /// Nothing was written, as the whole batch was refused.
    Refused(StoreError),
    /// The answer was lost: the row may have been written.
    Lost(StoreError),
}

impl Batched for Lones {
    type Request = (Arc<Lone>, Wait);
    type Answer = Sent;

    const AT_ONCE: usize = 2;
    const MOST: usize = 64;

    async fn send(&self, batch: Vec<Self::Request>) -> Vec<Sent> {
        let lones: Vec<Arc<Lone>> = batch.into_iter().map(|(lone, _)| lone).collect();
        let timer = self.meters.write.start_timer();
        let written = self.write(&lones).await;
        timer.observe_duration();
        self.meters.batch.observe(lones.len() as f64);
        match written {
            Ok(sent) => sent,
            Err(Fault::Lost(error)) => vec![Sent::Lost(error); lones.len()],
            Err(Fault::Refused(error)) => vec![Sent::Refused(error); lones.len()],
            // one of the rows is the cause: it fails again when each is written alone
            Err(Fault::Unexpected | Fault::Present | Fault::InTheWay | Fault::Invalid(_)) => {
                vec![Sent::Unwritten; lones.len()]
            }
        }
    }
}

impl Lones {
    async fn write(&self, lones: &[Arc<Lone>]) -> Result<Vec<Sent>, Fault> {
        let mut connection = self.database.connection().await.map_err(Fault::Refused)?;
        let mut places: Vec<usize> = (0..lones.len()).collect();
        // in the same order on all servers, so that batches cannot deadlock
        places.sort_unstable_by_key(|place| lones[*place].row.name());
        let rows: Vec<_> = places.iter().map(|place| &lones[*place].row).collect();
        let params = parameters(&rows);
        let found = connection.run(async |client| {
            let statement = client.prepare_cached(self.sql).await?;
            client.query(&statement, &borrowed(&params)).await
        });
        let mut sent = vec![Sent::Unwritten; lones.len()];
        for row in found.await? {
            let number = usize::try_from(row.get::<_, i64>(0) - 1).ok();
            let place = number.and_then(|number| places.get(number));
            if let Some(sent) = place.and_then(|place| sent.get_mut(*place)) {
                *sent = Sent::of(&row);
            }
        }
        Ok(sent)
    }
}

impl Sent {
    fn of(row: &Row) -> Self {
        match (row.get(1), row.get(2)) {
            (true, _) => Self::Written,
            (false, true) => Self::Outdated,
            (false, false) => Self::Unwritten,
        }
    }
}
