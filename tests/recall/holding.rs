//! Whether a text contains everything that is wanted.

use proptest::prelude::*;
use utterd::domain::recall::{holds_all, terms};

#[test]
fn every_word_must_be_there_in_any_order_and_inflection() {
    assert!(holds("We travelled to Paris by train", "Paris travels"));
    assert!(!holds("We travelled to Rome", "Paris travels"));
    assert!(holds("Ich habe die Häuser gesehen und bin gegangen", "das Haus"));
}

#[test]
fn an_identifier_is_wanted_whole() {
    assert!(holds("call create_order now", "create_order"));
    assert!(holds("call create_order now", "order"));
    assert!(!holds("create an order", "create_order"));
    assert!(holds("pushed to github", "GitHub"));
    assert!(holds("東京都に住む", "東京"));
    assert!(!holds("東へ京へ", "東京"));
}

#[test]
fn stop_words_matter_only_when_nothing_else_is_wanted() {
    assert!(holds("Paris", "the Paris"));
    assert!(holds("Are you in Paris?", "are you"));
    assert!(!holds("Paris is where they are", "are you"));
    assert!(holds("Wir sind mit der Bahn nach Paris gefahren", "the Paris"));
}

#[test]
fn nothing_wanted_is_held_by_nothing() {
    assert!(!holds("anything", "?!"));
    assert!(!holds("", ""));
}

proptest! {
    #[test]
    fn any_text_holds_its_own_words(text in any::<String>()) {
        prop_assert_eq!(holds(&text, &text), !terms(&text).is_empty());
    }

    #[test]
    fn identifiers_hold_their_own_words(text in "[a-zA-Z_.:'’0-9 é漢ガ한👍-]{0,40}") {
        prop_assert_eq!(holds(&text, &text), !terms(&text).is_empty());
    }
}

fn holds(text: &str, wanted: &str) -> bool {
    holds_all(text, &terms(wanted))
}
