//! The examples run, and print what they claim. The store of one's own fulfils what a store promises.

#[path = "../../examples/embedded_store.rs"]
mod embedded_store;

use embedded_store::{Log, LoggedStore};

utterd::store_conformance!(logged_store, async { (LoggedStore::new(Log::default()), ()) });

#[tokio::test]
async fn a_store_of_ones_own_is_served() {
    let told = [
        "committed: trip has 1 utterances",
        "answered: trip is at revision 1",
        "committed: trip has 2 utterances",
        "answered: trip is at revision 2",
    ];
    assert_eq!(embedded_store::run().await.expect("the example runs"), told);
}

#[test]
fn the_embedded_store_is_a_program() {
    embedded_store::main().expect("the example runs");
}
