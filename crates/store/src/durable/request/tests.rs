use std::sync::Arc;

use super::*;
use crate::{
    MemoryStore, Store,
    conformance::{
        self,
        support::{family::Family, values::users},
    },
};
use utterd_domain::Policy;

/// The request of a fork at the newest of `count` utterances.
fn forking(policy: Policy, count: usize) -> Request {
    let mut request = Request::default();
    conformance::run(async { (MemoryStore::new(0), ()) }, async |store: Arc<dyn Store>| {
        let mut family = Family::of(&store, "parent", policy);
        family.member("parent").say(users(count)).await;
        let forking = family.forking("parent", "fork", None).await.unwrap();
        request = Request::of(&forking.commit());
    });
    request
}

fn kinds(request: &Request) -> Vec<Option<u8>> {
    let kind = |step: &Step| match step {
        Step::Put(key, _) => Some(key[0]),
        _ => None,
    };
    request.steps.iter().map(kind).collect()
}

/// A fork writes the same records at any length; only the numbers in them have more digits.
#[test]
fn a_fork_writes_the_same_at_any_length() {
    let archived = Policy { summarization_enabled: false, ..Policy::ROLLING };
    for policy in [Policy::SESSION, archived] {
        let (short, long) = (forking(policy.clone(), 30), forking(policy, 4_000));
        assert_eq!(kinds(&short), kinds(&long));
        assert!(kinds(&long).iter().all(|kind| kind.is_some_and(|kind| kind != Utterances::NUMBER)));
        assert!(long.bytes() < 1_000 && long.bytes() - short.bytes() < 32, "{} bytes", long.bytes());
    }
}
