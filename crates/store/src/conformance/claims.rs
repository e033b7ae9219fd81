//! Claims on waiting work, which one of several processes gets. A store for a single process grants every
//! claim.

use super::support::*;
use crate::{Claim, WorkerId};

const ANN: WorkerId = WorkerId(1);
const BOB: WorkerId = WorkerId(u128::MAX);

/// Claims a conversation for a minute, this many seconds after [`START`]; returns whether the claim is granted.
async fn claim(
    store: &Arc<dyn Store>,
    conversation: &ConversationKey,
    worker: WorkerId,
    seconds: u64,
) -> bool {
    let now = START.plus(Duration::from_secs(seconds));
    let claim = Claim { conversation, worker, now, until: now.plus(Duration::from_secs(60)) };
    store.claim(claim).await.expect("a claim is answered")
}

/// Whether the store grants a claim while another worker has it.
fn despite_another(store: &Arc<dyn Store>) -> bool {
    !store.capabilities().shared
}

/// The worker that has the claim can extend it; another worker cannot get it.
pub async fn one_worker_has_a_claim(store: Arc<dyn Store>) {
    let key = key("c");
    assert!(claim(&store, &key, ANN, 0).await);
    assert_eq!(claim(&store, &key, BOB, 0).await, despite_another(&store));
    assert!(claim(&store, &key, ANN, 30).await);
    assert_eq!(claim(&store, &key, BOB, 89).await, despite_another(&store), "it was claimed for longer");
}

/// A claim expires at its time, and another worker takes over.
pub async fn a_claim_ends_at_its_time(store: Arc<dyn Store>) {
    let key = key("c");
    assert!(claim(&store, &key, ANN, 0).await);
    assert_eq!(claim(&store, &key, BOB, 59).await, despite_another(&store));
    assert!(claim(&store, &key, BOB, 60).await);
    assert_eq!(claim(&store, &key, ANN, 61).await, despite_another(&store));
}

/// Giving up another worker's claim, or one that nobody has, has no effect.
pub async fn a_claim_is_given_up_by_its_worker(store: Arc<dyn Store>) {
    let key = key("c");
    let give_up = async |worker| store.give_up(&key, worker).await.expect("it is given up");
    give_up(ANN).await;
    assert!(claim(&store, &key, ANN, 0).await);
    give_up(BOB).await;
    assert_eq!(claim(&store, &key, BOB, 1).await, despite_another(&store));
    give_up(ANN).await;
    assert!(claim(&store, &key, BOB, 2).await);
    give_up(ANN).await;
    assert_eq!(claim(&store, &key, ANN, 3).await, despite_another(&store));
}

/// A claim is for one conversation in one namespace.
pub async fn claims_of_several_conversations_are_apart(store: Arc<dyn Store>) {
    assert!(claim(&store, &key("c"), ANN, 0).await);
    for other in [key("d"), key_in("other", "c")] {
        assert!(claim(&store, &other, BOB, 0).await);
        store.give_up(&other, BOB).await.expect("it is given up");
    }
    assert_eq!(claim(&store, &key("c"), BOB, 1).await, despite_another(&store));
}

/// One of several concurrent claims is granted. A store for a single process grants all of them.
pub async fn one_of_those_who_claim_at_once_has_it(store: Arc<dyn Store>) {
    const WORKERS: u128 = 8;
    for round in 0..20 {
        let key = key(&format!("c{round}"));
        let claims = (0..WORKERS).map(|worker| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move { claim(&store, &key, WorkerId(worker), 0).await })
        });
        let granted = join(claims).await.into_iter().filter(|granted| *granted).count();
        assert_eq!(granted, if store.capabilities().shared { 1 } else { WORKERS as usize });
    }
}
