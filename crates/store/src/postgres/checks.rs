//! Checks whether known states are still current. One statement checks for many callers, and returns only the
//! rows that differ.

use tokio_postgres::Row;

use super::{batches::Batched, connection::database::Database, types::Uuid};
use crate::Result;
use utterd_domain::{ChangeId, ConversationId, Namespace};

/// The states of the conversations that are no longer in the known state.
pub(super) const STATE: &str = "SELECT w.n, c.id, c.change
    FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) WITH ORDINALITY
        AS w(namespace, id, known, change, n)
    LEFT JOIN conversations c ON c.namespace = w.namespace AND c.id = w.id
    WHERE c.change IS DISTINCT FROM w.change";

/// The active conversations of recipients, with their states, where either is no longer the known one.
pub(super) const ACTIVE: &str = "SELECT w.n, a.conversation, c.change
    FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) WITH ORDINALITY
        AS w(namespace, recipient, known, change, n)
    LEFT JOIN active a ON a.namespace = w.namespace AND a.recipient = w.recipient
    LEFT JOIN conversations c ON c.namespace = a.namespace AND c.id = a.conversation
    WHERE a.conversation IS DISTINCT FROM w.known OR c.change IS DISTINCT FROM w.change";

/// Sends one kind of question.
pub(super) struct Checks {
    pub(super) database: Database,
    pub(super) sql: &'static str,
}

/// A question about a conversation or a recipient.
pub(super) struct Question {
    pub(super) namespace: Namespace,
    pub(super) name: String,
    /// The known conversation and its state, if any.
    pub(super) known: Option<(ConversationId, ChangeId)>,
}

impl Batched for Checks {
    type Request = Question;
    /// `None` if nothing differs from what is known.
    type Answer = Result<Option<Row>>;

    // while these are in flight, further questions collect in the queue
    const AT_ONCE: usize = 2;
    const MOST: usize = 256;

    async fn send(&self, batch: Vec<Question>) -> Vec<Self::Answer> {
        match self.answers(&batch).await {
            Ok(answers) => answers.into_iter().map(Ok).collect(),
            Err(error) => batch.iter().map(|_| Err(error.clone())).collect(),
        }
    }
}

impl Checks {
    async fn answers(&self, batch: &[Question]) -> Result<Vec<Option<Row>>> {
        let namespaces: Vec<_> = batch.iter().map(|asked| asked.namespace.as_str()).collect();
        let names: Vec<_> = batch.iter().map(|asked| asked.name.as_str()).collect();
        let known: Vec<_> =
            batch.iter().map(|asked| asked.known.as_ref().map(|known| known.0.as_str())).collect();
        let changes: Vec<_> =
            batch.iter().map(|asked| asked.known.as_ref().map(|known| Uuid(known.1.0))).collect();
        let rows = self.database.query(self.sql, &[&namespaces, &names, &known, &changes]).await?;
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
