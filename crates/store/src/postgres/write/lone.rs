//! Commits of one row each, written with one statement.

use std::sync::Arc;

use super::{failed::Failed, plan::Lone, row::parameters};
use crate::meters::Meters;
use crate::postgres::{
    batches::Batched,
    connection::{database::Database, fault::Fault, waits::Wait},
    types::borrowed,
};

/// Writes batches of rows with one statement, which either changes conversations or creates them.
pub struct Lones {
    pub database: Database,
    pub sql: &'static str,
    pub meters: Meters,
}

impl Batched for Lones {
    type Request = (Arc<Lone>, Wait);
    /// `None` if the row was not written for an unknown reason.
    type Answer = Option<Result<(), Failed>>;

    const AT_ONCE: usize = 2;
    const MOST: usize = 64;

    async fn send(&self, batch: Vec<Self::Request>) -> Vec<Self::Answer> {
        let lones: Vec<Arc<Lone>> = batch.into_iter().map(|(lone, _)| lone).collect();
        let timer = self.meters.write.start_timer();
        let written = self.write(&lones).await;
        timer.observe_duration();
        self.meters.batch.observe(lones.len() as f64);
        match written {
            Ok(sent) => sent,
            Err(fault @ (Fault::Lost(_) | Fault::Refused(_))) => {
                vec![Some(Err(Failed::of(fault))); lones.len()]
            }
            // one of the rows is the cause: it fails again when each is written alone
            Err(Fault::Unexpected | Fault::Present | Fault::InTheWay | Fault::Invalid(_)) => {
                vec![None; lones.len()]
            }
        }
    }
}

impl Lones {
    async fn write(&self, lones: &[Arc<Lone>]) -> Result<Vec<<Self as Batched>::Answer>, Fault> {
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
        let mut answers = vec![None; lones.len()];
        for row in found.await? {
            let number = usize::try_from(row.get::<_, i64>(0) - 1).ok();
            let Some(place) = number.and_then(|number| places.get(number)) else { continue };
            answers[*place] = match (row.get(1), row.get(2)) {
                (true, _) => Some(Ok(())),
                (false, true) => Some(Err(Failed::Conflict(lones[*place].state.clone()))),
                (false, false) => None,
            };
        }
        Ok(answers)
    }
}
