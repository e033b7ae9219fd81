//! A backup can take as long as it needs.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};
use utterd::{
    config::Settings,
    domain::{ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance},
    engine::BackupRefused,
    proto::{BackupRequest, admin_service_client::AdminServiceClient},
    store::{
        BoxFuture, BoxStream, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore,
        Outcome, OutcomeKey, RecipientKey, Result, Sharing, Store, Upkeep,
    },
};

use crate::support::{
    gate::passed_on,
    session::{Reply, Session},
};

const CHUNKS: u8 = 10;
const PAUSE: Duration = Duration::from_secs(20);

/// A store with slow backups.
struct Slow {
    inner: MemoryStore,
}

passed_on! {
    impl Store for Slow {
        fn capabilities(&self) -> Capabilities {
            self.inner.capabilities()
        }

        fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
            self.inner.commit(commit)
        }

        async fn load(
            &self,
            key: &ConversationKey,
        ) -> Result<Option<Arc<utterd::domain::Conversation>>> {
            self.inner.load(key).await
        }
    }
}

impl Sharing for Slow {}
impl DerivedData for Slow {}
impl Upkeep for Slow {
    fn backup(&self) -> Result<BoxStream<'static, Result<Vec<u8>>>, BackupRefused> {
        let chunks = stream::iter(0..CHUNKS).then(|number| async move {
            sleep(PAUSE).await;
            Ok(vec![number])
        });
        Ok(Box::pin(chunks))
    }
}

/// It is a stream: the maximum duration of a call does not apply.
#[tokio::test(start_paused = true)]
async fn a_backup_outlasts_the_longest_call() {
    let settings = Settings { max_call_duration: PAUSE / 2, ..Settings::default() };
    let store = Slow { inner: MemoryStore::new(0) };
    let session = Session::over_with(Arc::new(store), &settings).await;
    let started = Instant::now();
    let backup = AdminServiceClient::new(session.channel()).backup(BackupRequest {}).await.reply();
    let chunks: Vec<_> = backup.map(|chunk| chunk.expect("it goes on").chunk[0]).collect().await;
    assert_eq!(chunks, (0..CHUNKS).collect::<Vec<_>>());
    assert!(started.elapsed() >= PAUSE * u32::from(CHUNKS));
}
