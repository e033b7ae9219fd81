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
fn a_plural_is_not_what_is_done() {
    assert!(holds("The train is late.", "trains") && holds("We move.", "moving"));
    assert!(!holds("I am training.", "trains") && !holds("Trains are late.", "training"));
    assert!(holds("The meeting is at noon.", "meetings") && holds("two meetings", "meeting"));
}

#[test]
fn a_possessive_is_wanted_with_its_noun() {
    assert!(holds("My salary is high.", "my salary"));
    assert!(holds("my first net salary", "my salary"));
    assert!(!holds("Your salary is high.", "my salary"));
    assert!(!holds("My boss asked about your salary.", "my salary"));
    assert!(!holds("The salary is high.", "my salary"));
    assert!(holds("We met her brother.", "her brothers"));
}

#[test]
fn a_name_that_is_a_word_is_wanted_as_written() {
    for text in ["Will prefers it.", "I asked Will.", "That is Will's hotel.", "Ask her! Will knows."] {
        assert!(holds(text, "Will"), "{text}");
    }
    for text in ["I will ask.", "Will you ask?", "She asked: will it rain?", "will prefers it"] {
        assert!(!holds(text, "Will"), "{text}");
    }
    assert!(holds("I will ask.", "will") && holds("The bill is high.", "bill"));
    assert!(!holds("The bill is high.", "Bill") && holds("Bill is tall.", "Bill"));
    assert!(holds("Made in the US.", "US") && !holds("Tell us.", "US"));
    assert!(holds("i went to paris", "Paris"));
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
