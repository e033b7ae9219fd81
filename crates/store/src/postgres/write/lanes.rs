//! The order of commits.

use std::{collections::HashMap, sync::Arc};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{Commit, RecipientKey};
use utterd_domain::ConversationKey;

/// What commits of this process are under way, by what they change: commits of one conversation go one after
/// the other, in the order in which they were handed over.
#[derive(Clone, Default)]
pub struct Lanes(Arc<Mutex<HashMap<Lane, watch::Receiver<()>>>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Lane {
    Conversation(ConversationKey),
    Recipient(RecipientKey),
}

/// A commit's turn; until it is dropped, the next one waits.
pub struct Turn {
    lanes: Lanes,
    taken: Vec<Lane>,
    before: Vec<watch::Receiver<()>>,
    end: watch::Sender<()>,
}

impl Lanes {
    /// Takes the next turn for everything that the commit changes.
    pub fn turn(&self, commit: &Commit) -> Turn {
        let conversations = commit.writes.iter().map(|write| Lane::Conversation(write.key().clone()));
        let moved = commit.pointers.iter().filter(|pointer| pointer.moves());
        let recipients = moved.map(|pointer| Lane::Recipient(pointer.recipient.clone()));
        let taken: Vec<_> = conversations.chain(recipients).collect();
        let (end, mine) = watch::channel(());
        let mut lanes = self.0.lock();
        let before = taken.iter().filter_map(|lane| lanes.insert(lane.clone(), mine.clone())).collect();
        drop(lanes);
        Turn { lanes: self.clone(), taken, before, end }
    }
}

impl Turn {
    /// Waits for the turns before this one.
    pub async fn comes(&mut self) {
        // a channel is closed when its turn ends
        let ends =
            self.before.iter_mut().map(|before| async move { while before.changed().await.is_ok() {} });
        join_all(ends).await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mine = self.end.subscribe();
        let mut lanes = self.lanes.0.lock();
        for lane in &self.taken {
            // unless another turn follows
            if lanes.get(lane).is_some_and(|last| last.same_channel(&mine)) {
                lanes.remove(lane);
            }
        }
    }
}
