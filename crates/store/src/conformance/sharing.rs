//! What processes that share a store learn of each other. A store for a single process has nothing to report.

use futures::{FutureExt, StreamExt};

use super::support::*;
use crate::{BoxStream, Hint};

/// How long a case waits for a hint.
const LATEST: Duration = Duration::from_secs(20);
/// Conversations that change while nobody reads the hints.
const UNREAD: usize = 1_000;

/// A change id identifies a commit that took effect; in a shared store, even if others have followed.
pub async fn a_commit_is_known_by_its_change(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "c");
    script.create().await;
    let first = script.state.head.change;
    let known = async |change: ChangeId| store.is_committed(&key("c"), change).await;
    assert_eq!(known(first).await, Ok(true));
    let refused = script.saying(vec![user("too late")]).await;
    let second = script.say(vec![user("hello")]).await.after.head.change;
    store.commit(refused.commit()).await.expect_err("the conversation is in another state");
    assert_eq!(known(second).await, Ok(true));
    assert_eq!(known(refused.after.head.change).await, Ok(false));
    assert_eq!(store.is_committed(&key("other"), second).await, Ok(false));
    if store.capabilities().shared {
        assert_eq!(known(first).await, Ok(true), "another has followed");
        script.delete().await;
        assert_eq!(known(second).await, Ok(true), "it was deleted since");
    }
}

/// Returns the hints of a store once it listens; `None` if no other process can change the store.
async fn hearing(store: &Arc<dyn Store>) -> Option<BoxStream<'static, Hint>> {
    let mut hints = store.hints();
    match store.capabilities().shared {
        true => {
            assert_eq!(next(&mut hints).await, Hint::Missed, "it starts with what it may have missed");
            Some(hints)
        }
        false => {
            Script::new(store, "unheard").create().await;
            assert_eq!(hints.next().now_or_never(), None, "there is nobody to hear of");
            None
        }
    }
}

async fn next(hints: &mut BoxStream<'static, Hint>) -> Hint {
    let hint = tokio::time::timeout(LATEST, hints.next()).await.expect("a hint comes");
    hint.expect("hints do not end")
}

/// Waits for a hint for each of these conversations, or for a [`Hint::Missed`].
async fn told(hints: &mut BoxStream<'static, Hint>, ids: &[&str]) {
    let mut untold: BTreeSet<ConversationKey> = ids.iter().map(|id| key(id)).collect();
    while !untold.is_empty() {
        match next(hints).await {
            Hint::Changed(key) => drop(untold.remove(&key)),
            Hint::Active(_) => {}
            Hint::Missed => return,
        }
    }
}

/// After a commit has taken effect, there is a hint for each conversation that it changed.
pub async fn hints_come_after_commits(store: Arc<dyn Store>) {
    let Some(mut hints) = hearing(&store).await else { return };
    let mut family = Family::of(&store, "parent", Policy::SESSION);
    family.member("parent").say(users(3)).await;
    told(&mut hints, &["parent"]).await;
    let writer = Script::new(&store, "other");
    let reader = store.clone();
    let read = tokio::spawn(async move {
        told(&mut hints, &["other"]).await;
        let state = reader.load(&key("other")).await.expect("a state is loaded");
        assert_eq!(state.expect("it was told after it took effect").head.stored, 1);
        hints
    });
    store.commit(writer.saying(vec![user("hello")]).await.commit()).await.expect("it does not exist");
    let mut hints = read.await.expect("the reader ends");
    family.fork("parent", "fork").await;
    told(&mut hints, &["parent", "fork"]).await;
    assert!(family.erase("parent", 2).await);
    told(&mut hints, &["parent", "fork"]).await;
    family.delete(&["parent"]).await;
    told(&mut hints, &["parent"]).await;
}

/// A commit that moves a recipient's pointer causes a hint for the recipient.
pub async fn moved_pointers_are_told(store: Arc<dyn Store>) {
    let Some(mut hints) = hearing(&store).await else { return };
    let ann = recipient(RECIPIENT);
    let step = Script::new(&store, "c").creating();
    let pointers = vec![activating(&ann, "c")];
    store.commit(Commit { pointers, ..step.commit() }).await.expect("there is none");
    loop {
        match next(&mut hints).await {
            Hint::Active(recipient) => return assert_eq!(recipient, ann),
            Hint::Changed(_) => {}
            Hint::Missed => return,
        }
    }
}

/// No commit waits for a reader, and a slow reader learns that it has missed something.
pub async fn what_is_missed_is_told(store: Arc<dyn Store>) {
    let Some(mut hints) = hearing(&store).await else { return };
    let ids: Vec<String> = (0..UNREAD).map(|number| format!("c{number}")).collect();
    for id in &ids {
        let step = Script::new(&store, id).creating();
        store.commit(step.commit()).await.expect("it does not exist");
    }
    told(&mut hints, &ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    Script::new(&store, "last").create().await;
    told(&mut hints, &["last"]).await;
}
