use proptest::prelude::*;

use super::*;

fn texts(text: &str) -> Vec<&str> {
    words(text).map(|word| word.text).collect()
}

fn content(text: &str) -> Vec<&str> {
    words(text).filter(|word| !word.is_stop).map(|word| word.text).collect()
}

fn concepts(text: &str) -> Vec<u64> {
    words(text).map(|word| word.concept).collect()
}

#[test]
fn words_are_letters_and_digits() {
    assert_eq!(texts("It's 3.50, isn’t it?"), ["It's", "3.50", "isn’t", "it"]);
    assert_eq!(texts("num_authors in src/main.rs"), ["num", "authors", "in", "src", "main", "rs"]);
    assert_eq!(texts("naïve cafe\u{301}"), ["naïve", "cafe\u{301}"]);
    assert_eq!(texts("हिन्दी में"), ["हिन्दी", "में"]);
}

#[test]
fn an_apostrophe_ends_a_word_where_vowels_are_dropped() {
    assert_eq!(texts("L'eau de l'hôtel est froide"), ["L", "eau", "de", "l", "hôtel", "est", "froide"]);
    assert_eq!(content("L'eau de l'hôtel est froide"), ["eau", "hôtel", "froide"]);
}

#[test]
fn function_words_are_stop_words_of_their_language() {
    assert_eq!(content("I don't want the blue one, dont you see"), ["want", "blue", "see"]);
    assert_eq!(content("Ich möchte die Wohnung nicht verkaufen"), ["möchte", "Wohnung", "verkaufen"]);
    assert_eq!(content("Они не приехали в город"), ["приехали", "город"]);
}

#[test]
fn a_concept_is_one_whatever_the_form() {
    assert_eq!(concepts("Flights"), concepts("flight"));
    assert_eq!(concepts("ПОГОДА"), concepts("погода"));
    assert_eq!(concepts("ﬁle"), concepts("file"));
    assert_eq!(concepts("cafe\u{301}"), concepts("café"));
    assert_ne!(concepts("3,14"), concepts("314"));
    assert_ne!(concepts("class"), concepts("clash"));
    assert_eq!(concepts("wrote"), concepts("written"));
}

#[test]
fn the_concept_is_the_same_in_every_version() {
    assert_eq!(concepts("flight"), [xxh3_64(b"flight")]);
}

#[test]
fn scripts_without_spaces_yield_pairs() {
    assert_eq!(texts("天气预报"), ["天气", "气预", "预报"]);
    assert_eq!(texts("我 x"), ["我", "x"]);
    assert_eq!(content("今天的天气"), ["今天", "天气"]);
    assert_eq!(concepts("天气")[0], concepts("今天天气")[2]);
    assert_eq!(texts("看main.rs文件"), ["看", "main", "rs", "文件"]);
}

proptest! {
    #[test]
    fn words_are_pieces_of_any_text(text in "\\PC*|[a-z'.,1 天的ä’]{0,40}") {
        let mut end = 0;
        for word in words(&text) {
            prop_assert_eq!(&text[word.start..word.start + word.text.len()], word.text);
            prop_assert!(word.start + word.text.len() >= end && !word.text.is_empty());
            end = word.start + word.text.len();
        }
    }
}
