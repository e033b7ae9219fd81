//! Short questions about the present state. Those of many callers are asked with one statement.

use tokio_postgres::Row;

use super::{batches::Batched, database::Database};
use crate::{domain::Namespace, store::StoreError};

/// The state of the conversation with an id.
pub(super) const BY_ID: &str = "SELECT w.n, w.name, c.change
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(namespace, name, n)
    JOIN conversations c ON c.namespace = w.namespace AND c.id = w.name";

/// A recipient's active conversation, and its state if it exists.
pub(super) const BY_RECIPIENT: &str = "SELECT w.n, a.conversation, c.change
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(namespace, name, n)
    JOIN active a ON a.namespace = w.namespace AND a.recipient = w.name
    LEFT JOIN conversations c ON c.namespace = a.namespace AND c.id = a.conversation";

/// One of the questions.
pub(super) struct Checks {
    pub(super) database: Database,
    pub(super) sql: &'static str,
}

impl Batched for Checks {
    /// A namespace, and a name in it.
    type Request = (Namespace, String);
    type Answer = Result<Option<Row>, StoreError>;

    // while one is answered, the next one is gathered
    const AT_ONCE: usize = 2;
    const MOST: usize = 256;

    async fn send(&self, batch: Vec<Self::Request>) -> Vec<Self::Answer> {
        match self.answers(&batch).await {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(error) => batch.iter().map(|_| Err(error.clone())).collect(),
        }
    }
}

impl Checks {
    async fn answers(&self, batch: &[(Namespace, String)]) -> Result<Vec<Option<Row>>, StoreError> {
        let namespaces: Vec<_> = batch.iter().map(|(namespace, _)| namespace.as_str()).collect();
        let names: Vec<_> = batch.iter().map(|(_, name)| name.as_str()).collect();
        let rows = self.database.connection().await?.query(self.sql, &[&namespaces, &names]).await?;
        let mut answers: Vec<Option<Row>> = batch.iter().map(|_| None).collect();
        for row in rows {
            let place = usize::try_from(row.get::<_, i64>(0) - 1).ok();
            if let Some(answer) = place.and_then(|place| answers.get_mut(place)) {
                *answer = Some(row);
            }
        }
        Ok(answers)
    }
}
