//! The conformance suite: checks case by case that a backend keeps the promises of [`Store`].
//!
//! It requires the feature `conformance`.
//!
//! A backend passes by running every case on a fresh store of its own.
//! [`store_conformance!`](crate::store_conformance) turns each case into a `#[test]` named
//! `BACKEND::TOPIC::CASE`, so a report says what failed on which backend:
//!
//! ```
//! use utterd_store::MemoryStore;
//!
//! utterd_store::store_conformance!(memory, async { (utterd_store::MemoryStore::new(0), ()) });
//! ```
//!
//! The future is awaited once for each case. It returns an empty store, and a value that must live as long as
//! the store, such as its directory. A backend that can be full specifies a second one, with room for 64 KiB to
//! 32 MiB:
//!
//! ```
//! utterd_store::store_conformance!(
//!     memory,
//!     async { (utterd_store::MemoryStore::new(0), ()) },
//!     bounded: async { (utterd_store::MemoryStore::new(1 << 20), ()) }
//! );
//! ```
//!
//! A store with [`shared`](crate::Capabilities::shared) is also tested for use by several processes. For any
//! other store, the cases check that the defaults have no effect.
//!
//! The cases change conversations through the rules of [`domain`](utterd_domain), never with hand-written
//! records. After each step, the store must contain exactly the state that was decided. The cases need no
//! dependency other than this crate: each runs on its own runtime.
#![allow(clippy::expect_used, clippy::unwrap_used)] // a case reports its failure with a panic

pub mod archive;
pub mod begins;
pub mod claims;
pub mod commits;
pub mod compactions;
pub mod contention;
pub mod deletion;
pub mod derived;
pub mod due;
pub mod ends;
pub mod forks;
pub mod isolation;
pub mod lists;
pub mod lives;
pub mod order;
pub mod outcomes;
pub mod quotas;
pub mod recipients;
pub mod room;
pub mod sharing;
pub mod state;
pub mod states;
pub(crate) mod support;
pub mod trace;
pub mod waiting;

use std::{future::Future, sync::Arc};

use crate::{BoxFuture, Store};

/// Runs one case on a fresh store, on a runtime with two threads. The value that comes with the store is
/// dropped after the case.
///
/// # Panics
/// If the case fails.
pub fn run<S: Store, G, C: Future<Output = ()>>(
    fresh: impl Future<Output = (S, G)>,
    case: impl FnOnce(Arc<dyn Store>) -> C,
) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let (store, _guard) = fresh.await;
        case(Arc::new(store)).await;
    });
}

/// A case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    /// The topic and the name of the case.
    pub name: &'static str,
    /// Runs the case on a fresh store; panics if it fails.
    pub run: fn(Arc<dyn Store>) -> BoxFuture<'static, ()>,
}

/// Returns every case except [`bounded_cases`], for a backend whose tests are not known at compile time.
pub fn cases() -> Vec<Case> {
    crate::store_conformance! { @every list () }
}

/// Returns the cases for stores that can be full. They need a store with room for 64 KiB to 32 MiB.
pub fn bounded_cases() -> Vec<Case> {
    crate::store_conformance! { @bounded list () }
}

/// Turns the suite into a module of tests, one for each case; see
/// [`store::conformance`](crate::conformance).
#[macro_export]
macro_rules! store_conformance {
    ($backend:ident, $fresh:expr $(,)?) => {
        mod $backend {
            #[allow(unused_imports)]
            use super::*;

            $crate::store_conformance! { @every tests ($fresh) }
        }
    };
    ($backend:ident, $fresh:expr, bounded: $bounded:expr $(,)?) => {
        mod $backend {
            #[allow(unused_imports)]
            use super::*;

            $crate::store_conformance! { @every tests ($fresh) }
            $crate::store_conformance! { @bounded tests ($bounded) }
        }
    };
    (@bounded $then:ident $with:tt) => {
        $crate::store_conformance! { @$then $with
            room: [
                a_write_beyond_the_limit_is_refused,
                a_commit_of_several_is_refused_whole,
                a_full_store_reads_and_forgets,
                what_is_erased_makes_room,
                what_is_deleted_makes_room,
                forks_share_their_room,
            ]
        }
    };
    (@every $then:ident $with:tt) => {
        $crate::store_conformance! { @$then $with
            states: [
                nothing_is_loaded_of_an_unknown_conversation,
                a_conversation_without_utterances_is_kept,
                every_part_of_an_utterance_is_kept,
                an_open_exchange_is_kept,
                the_head_is_kept,
                shares_are_kept,
                a_large_text_is_kept,
                a_summary_is_kept_with_its_segments,
                the_capabilities_name_the_backend,
            ]
            begins: [
                a_call_is_told_what_it_asks_for,
                a_named_state_is_told_unless_it_is_known,
                an_active_state_is_told_unless_it_is_known,
            ]
            commits: [
                an_empty_commit_succeeds,
                a_stale_change_conflicts,
                creating_what_exists_conflicts,
                changing_what_does_not_exist_conflicts,
                several_conversations_change_together,
                one_conflict_leaves_all_untouched,
                a_pointer_that_moved_leaves_all_untouched,
                an_outcome_that_is_kept_leaves_all_untouched,
            ]
            order: [
                commits_take_effect_in_the_order_of_calls,
                a_chain_is_handed_over_at_once,
                a_chain_on_a_refused_commit_is_refused,
                a_commit_that_is_dropped_is_whole,
            ]
            archive: [
                what_is_evicted_is_archived,
                only_what_is_wanted_is_answered,
                nothing_is_archived_of_an_unknown_conversation,
                what_is_trimmed_is_gone,
                a_limit_of_0_keeps_nothing,
                a_soft_forget_rewrites_window_and_archive,
                a_restore_rewrites_window_and_archive,
                a_pin_rewrites_window_and_archive,
                what_is_pinned_with_its_batch_is_kept_pinned,
                what_is_erased_is_gone,
                ids_are_found_in_the_archive_only,
                ids_of_what_is_gone_are_free,
                an_id_is_given_again_by_the_commit_that_frees_it,
            ]
            recipients: [
                a_recipient_without_conversations_has_none,
                the_active_conversation_moves,
                a_pointer_moves_without_a_write,
                conversations_are_listed_the_newest_first,
                equal_starts_are_listed_by_descending_id,
                pages_cover_a_list_once,
                a_page_starts_behind_what_was_deleted,
                lists_hold_the_newest_heads,
                a_recipient_leaves_nothing_behind,
            ]
            lists: [
                a_namespace_lists_all_its_recipients,
                lists_are_in_each_order,
                ids_that_begin_alike_are_listed,
                a_change_moves_in_a_list_by_update,
                what_is_deleted_is_in_no_list,
                pages_go_on_while_others_come_and_go,
                nothing_stays_unlisted_that_changes_meanwhile,
            ]
            state: [
                values_are_kept_beside_a_conversation,
                a_change_writes_what_it_names,
                a_fork_has_values_of_its_own,
                values_go_with_their_conversation,
                values_count_for_a_quota,
                a_recipients_own_state_is_no_conversation,
                a_recipients_own_state_changes_with_a_conversation,
            ]
            outcomes: [
                an_outcome_is_kept_whole,
                an_outcome_needs_no_write,
                an_outcome_is_its_attempts_alone,
                an_outcome_too_old_is_none,
                an_outcome_too_old_gives_way,
                old_outcomes_are_removed_and_counted,
            ]
            due: [
                nothing_is_due_before_its_time,
                what_is_due_first_comes_first,
                a_change_puts_the_time_off,
                a_new_policy_sets_the_time,
                what_is_deleted_is_not_due,
            ]
            ends: [
                an_ending_is_kept,
                what_ended_first_is_listed_first,
                what_is_deleted_has_not_ended,
                a_rollover_is_one_commit,
            ]
            deletion: [
                what_is_deleted_is_gone,
                deleting_at_another_revision_conflicts,
                deleting_what_does_not_exist_conflicts,
                a_deletion_and_a_change_are_one_commit,
                an_id_starts_anew_after_its_deletion,
            ]
            forks: [
                a_fork_has_what_its_parent_has,
                a_fork_has_what_was_said_up_to_its_point,
                forks_are_forked,
                an_edited_fork_says_something_else,
                what_is_said_after_a_fork_is_ones_own,
                what_is_changed_is_changed_on_one_side,
                deleting_one_leaves_the_others_whole,
                a_family_is_deleted_in_one_commit,
                what_one_drops_the_other_keeps,
                what_is_erased_is_erased_for_all,
                those_that_share_are_known,
                given_ids_are_found_in_forks,
                a_fork_that_conflicts_changes_nothing,
                a_parent_goes_while_its_fork_changes,
                a_chain_of_forks_is_handed_over_at_once,
                a_family_changes_at_once,
                random_families_are_kept_at_each_step,
            ]
            compactions: [
                a_compaction_is_kept,
                what_is_archived_only_comes_back,
                what_left_comes_back_with_an_undo,
                several_are_undone_one_by_one,
                what_was_said_since_stays,
                ids_are_found_where_their_utterances_are,
                the_oldest_go_beyond_the_limit,
                a_hard_forget_reaches_what_an_undo_would_bring_back,
                a_soft_forget_reaches_it_and_is_restored,
                a_fork_has_none,
                what_returns_in_one_stays_archived_in_the_other,
                a_deletion_leaves_none,
                what_a_model_told_is_kept,
                a_random_life_is_kept_at_each_step,
            ]
            waiting: [
                nothing_waits_without_a_model,
                what_waits_longest_comes_first,
                pages_go_on_behind_their_last,
                what_a_model_told_waits_no_more,
                what_is_given_up_waits_no_more,
                what_was_folded_waits_since_its_first,
                what_is_forgotten_waits_no_more,
                what_has_ended_waits_on,
                a_fork_waits_for_itself,
                what_is_deleted_waits_no_more,
                a_commit_that_conflicts_changes_nothing,
            ]
            isolation: [
                namespaces_share_nothing,
                ids_that_look_alike_are_kept_apart,
                the_longest_ids_are_kept,
            ]
            contention: [
                every_committer_gets_in,
                one_first_writer_wins,
                commits_in_opposite_orders_do_not_block,
                one_attempt_takes_effect_once,
                one_conflict_is_no_others,
            ]
            sharing: [
                a_commit_is_known_by_its_change,
                hints_come_after_commits,
                moved_pointers_are_told,
                what_is_missed_is_told,
            ]
            claims: [
                one_worker_has_a_claim,
                a_claim_ends_at_its_time,
                a_claim_is_given_up_by_its_worker,
                claims_of_several_conversations_are_apart,
                one_of_those_who_claim_at_once_has_it,
            ]
            quotas: [
                conversations_beyond_a_quota_are_refused,
                bytes_beyond_a_quota_are_refused,
                what_is_stored_already_counts,
                a_commit_counts_for_what_it_adds_in_all,
                a_fork_counts_what_it_has,
                a_commit_without_effect_counts_nothing,
                no_more_are_taken_at_once_than_fit,
                a_namespace_is_held_to_its_own_quota,
                what_is_counted_is_what_is_stored,
            ]
            derived: [
                what_is_derived_is_kept_and_replaced,
                what_is_derived_of_nothing_is_not_kept,
                keeping_is_no_change,
                what_is_said_or_forgotten_softly_takes_nothing,
                what_is_erased_takes_its_blocks,
                what_is_edited_takes_its_block,
                what_is_derived_before_an_erasure_is_not_kept_after,
                remnants_take_their_blocks,
                blocks_go_with_the_last_that_is_dropped,
                forks_have_their_own,
                a_deletion_leaves_nothing_derived,
                keeping_races_with_erasing,
                keeping_races_with_deleting,
            ]
            trace: [
                events_are_kept_in_order,
                events_come_with_their_commits,
                places_tell_nothing,
            ]
            lives: [
                a_rolling_conversation_is_kept_at_each_step,
                a_long_session_is_kept,
                a_random_life_is_kept_at_each_step,
                a_scrub_changes_nothing,
            ]
        }
    };
    (@tests ($fresh:expr) $($topic:ident: $cases:tt)*) => {
        $($crate::store_conformance! { @topic $fresh, $topic: $cases })*
    };
    (@list () $($topic:ident: [$($case:ident),* $(,)?])*) => {
        vec![$($($crate::conformance::Case {
            name: concat!(stringify!($topic), "::", stringify!($case)),
            run: |store| Box::pin($crate::conformance::$topic::$case(store)),
        },)*)*]
    };
    (@topic $fresh:expr, $topic:ident: [$($case:ident),* $(,)?]) => {
        mod $topic {
            #[allow(unused_imports)]
            use super::*;

            $(
                #[test]
                fn $case() {
                    $crate::conformance::run($fresh, $crate::conformance::$topic::$case);
                }
            )*
        }
    };
}
