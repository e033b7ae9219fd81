//! Two engines over one store, like two processes: what one has acknowledged is valid for the other.
//!
//! Each case runs over each store as `two_engines::STORE::CASE`. The engines only know of each other through
//! the store. A store in PostgreSQL is opened for each of them.

mod calls;
mod lives;
mod mishaps;
mod models;
mod pair;
mod reads;
mod staleness;
mod watches;
mod writes;

use std::sync::Arc;

use futures::future::LocalBoxFuture;
use libtest_mimic::Trial;
use utterd::store::{
    MemoryStore, Store,
    durable::{DurableStore, EngineKind, Options},
};

use crate::support::{
    postgres::Cluster,
    schema::{self, Schema},
    shared::Shared,
};
use pair::Pair;

type Case = for<'a> fn(&'a Pair) -> LocalBoxFuture<'a, ()>;

/// Each case over each store.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, case) in cases() {
        trials.push(Trial::test(format!("two_engines::memory::{name}"), move || {
            on_memory(case);
            Ok(())
        }));
        trials.push(Trial::test(format!("two_engines::fjall::{name}"), move || {
            on_fjall(case);
            Ok(())
        }));
        let name = format!("two_engines::postgres::{name}");
        trials.push(schema::trial(name, move |cluster| on_postgres(cluster, case)));
    }
    trials
}

macro_rules! listed {
    ($($topic:ident: [$($case:ident,)*])*) => {
        vec![$($((stringify!($case), |pair| Box::pin($topic::$case(pair))),)*)*]
    };
}

fn cases() -> Vec<(&'static str, Case)> {
    listed! {
        writes: [
            what_both_say_at_once_is_stored_once,
            a_request_that_is_repeated_on_the_other_replays,
            a_request_that_is_sent_to_both_at_once_takes_effect_once,
            first_writers_start_one_conversation,
            one_of_those_who_expect_a_revision_gets_it,
            a_write_asks_the_store_at_most_once,
        ]
        reads: [
            what_one_acknowledged_the_other_reads_at_once,
            a_search_does_not_find_what_the_other_forgot,
            a_search_finds_what_the_other_says_anew,
            a_share_opens_on_the_other_until_it_is_revoked,
        ]
        staleness: [
            an_answer_is_as_old_as_its_reader_accepts,
            what_a_server_has_done_itself_is_never_missing,
            an_older_answer_follows_the_pointer_of_its_own_server,
            no_read_of_one_conversation_asks_for_its_state,
        ]
        watches: [
            a_watch_sees_what_the_other_does,
            a_watch_sees_what_was_done_while_it_began,
            a_watch_that_heard_nothing_sees_the_newest,
            a_watch_ends_with_a_deletion_by_the_other,
            a_watch_follows_what_the_other_starts,
            a_trace_has_what_both_do,
        ]
        models: [
            what_waits_is_paid_for_once,
            a_worker_that_died_is_followed_by_the_other,
        ]
        lives: [
            a_conversation_that_was_left_ends_once,
            a_write_beside_a_rollover_is_before_or_after_it,
            a_hard_forget_reaches_a_fork_of_the_other,
            a_hard_forget_reaches_what_the_other_said_before_a_fork,
            a_hard_forget_reaches_what_the_other_forks_meanwhile,
            a_hard_forget_beside_a_fork_reaches_both,
            a_deleted_conversation_starts_anew_on_the_other,
            what_the_other_says_behind_a_deletion_stays,
            what_the_other_starts_anew_is_not_retired,
            what_is_beyond_retention_is_removed_once,
            a_compaction_is_undone_once,
            a_hard_forget_reaches_what_the_other_returns_meanwhile,
            what_a_recipient_left_refuses_nothing,
        ]
        mishaps: [
            what_changed_nothing_is_answered_by_its_outcome,
            an_import_leaves_what_the_other_starts_alone,
            an_import_goes_on_in_its_own_conversation,
        ]
    }
}

fn on_memory(case: Case) {
    run(async { Pair::over(Shared::new(Arc::new(MemoryStore::new(0))), ()) }, case);
}

fn on_fjall(case: Case) {
    let over = async {
        let directory = tempfile::tempdir().expect("a directory is made");
        let store = DurableStore::open(EngineKind::Fjall, directory.path(), &Options::default());
        Pair::over(Shared::new(Arc::new(store.expect("a new store opens"))), directory)
    };
    run(over, case);
}

fn on_postgres(cluster: &Cluster, case: Case) {
    let schema = Arc::new(Schema::new(cluster));
    let over = async {
        let opened = schema.clone();
        Pair::over(Shared::opened(move || Arc::new(opened.store()) as Arc<dyn Store>), schema)
    };
    run(over, case);
}

fn run(pair: impl Future<Output = Pair>, case: Case) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let pair = pair.await;
        case(&pair).await;
    });
}
