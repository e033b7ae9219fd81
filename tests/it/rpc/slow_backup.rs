//! A backup can take as long as it needs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use futures::StreamExt;
use tokio::time::advance;
use utterd::{
    config::Settings,
    domain::{ConversationId, ConversationKey, Head, Ranges, Sequence, Timestamp, Utterance},
    proto::{BackupRequest, admin_service_client::AdminServiceClient},
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, EachRecord, List, MemoryStore,
        Outcome, OutcomeKey, RecipientKey, Result, Sharing, Store, StoreError, Upkeep,
    },
};

use crate::support::{
    gate::passed_on,
    session::{Reply, Session},
};

const LONGEST: Duration = Duration::from_secs(10);

/// A store that ends a backup when it is told to.
struct Slow {
    inner: MemoryStore,
    end: Mutex<mpsc::Receiver<()>>,
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
    fn each_record(&self, _: &mut EachRecord<'_>) -> Result<()> {
        let ended = self.end.lock().expect("one backup at a time").recv();
        ended.map_err(|error| StoreError::Unavailable(error.to_string()))
    }
}

/// It is a stream: the maximum duration of a call does not apply.
#[tokio::test(start_paused = true)]
async fn a_backup_outlasts_the_longest_call() {
    let settings = Settings { max_call_duration: LONGEST, ..Settings::default() };
    let (end, ended) = mpsc::channel();
    let store = Slow { inner: MemoryStore::new(0), end: Mutex::new(ended) };
    let session = Session::over_with(Arc::new(store), &settings).await;
    let mut backup = AdminServiceClient::new(session.channel()).backup(BackupRequest {}).await.reply();
    assert!(backup.next().await.expect("it goes on").expect("it begins").chunk.starts_with(b"utterd backup"));
    advance(LONGEST * 10).await;
    end.send(()).expect("the backup waits");
    let rest: Vec<_> = backup.map(|chunk| chunk.expect("it goes on")).collect().await;
    assert_eq!(rest.len(), 1, "the end of the file");
}
