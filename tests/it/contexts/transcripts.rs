//! BuildContext and PrepareHistory on real transcripts; `cargo bench --bench contexts` uses all of them.

use utterd::domain::{Policy, context::Format};

use crate::contexts::{
    figures::{histories, stability, validity},
    replay::transcripts,
};

#[test]
fn contexts_of_a_window_without_limits_are_accepted_and_within_their_budgets() {
    contexts_are_accepted_and_within_their_budgets(&Policy::SESSION);
}

#[test]
fn contexts_of_the_default_window_are_accepted_and_within_their_budgets() {
    contexts_are_accepted_and_within_their_budgets(&Policy::ROLLING);
}

fn contexts_are_accepted_and_within_their_budgets(policy: &Policy) {
    let sample = transcripts::sample(1, 40);
    let rows = validity::rows(&sample, policy);
    validity::print("contexts", &rows);
    assert!(!rows.iter().any(validity::Row::is_wrong));
    assert!(sample.is_empty() || rows.iter().any(|row| row.last.broken + row.fitting.broken > 0));
}

#[test]
fn histories_of_real_transcripts_are_accepted_and_within_their_limits() {
    let rows = histories::rows(&transcripts::sample(2, 40));
    histories::print(&rows);
    assert!(rows.iter().all(|row| row.outcome.faulty + row.outcome.over == 0));
}

#[test]
fn contexts_repeat_what_was_rendered_before() {
    let sample = stability::joined(&transcripts::sample(2, 150));
    for case in stability::cases().iter().skip(1).take(1) {
        let ours = stability::figures(&sample, &case.policy, case.budget, Format::OpenAiChat);
        let other =
            stability::figures(&sample, &stability::one_at_a_time(&case.policy), None, Format::OpenAiChat);
        println!("{}: {:.2}, one at a time {:.2}", case.name, ours.calls.share(), other.calls.share());
        assert!(sample.is_empty() || ours.calls.share() > other.calls.share());
    }
}
