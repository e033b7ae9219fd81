//! Words, identifiers and scripts: what finds what.

use proptest::prelude::*;
use utterd::domain::recall::{Query, Search};

use crate::recall::support::{finds, index, matched, search, sequences};

#[test]
fn words_are_found_in_any_inflection() {
    for (prompt, content) in [
        ("running dogs", "The dog ran"),
        ("What did she buy?", "She bought tea"),
        ("Wie heißen die Häuser?", "Das Haus ist alt und steht in der Stadt"),
        ("¿Qué libros compré?", "Compré un libro para mi hermana"),
        ("les écoles de la ville", "L’école est dans la rue"),
        ("книги", "Я читаю книгу"),
        ("किताबें", "मैंने किताब पढ़ी"),
        ("الكتب", "اشتريت كتبًا جديدة"),
        ("كم وزن القطة؟", "قطتنا مريضة ووزنها قليل"),
    ] {
        assert!(finds(prompt, content), "{prompt} in {content}");
    }
}

#[test]
fn accents_and_widths_do_not_matter() {
    for (prompt, content) in
        [("cafe", "Café"), ("Cafe\u{301}", "café"), ("ＡＢＣ", "abc"), ("Strasse", "Straße"), ("ガ", "ｶﾞ")]
    {
        assert!(finds(prompt, content), "{prompt} in {content}");
    }
}

#[test]
fn identifiers_are_found_whole_in_parts_and_whatever_their_marks() {
    for (prompt, content) in [
        ("create_order", "createOrder()"),
        ("order", "it calls create_order"),
        ("getUserById", "get_user_by_id"),
        ("HAT 136", "order HAT136"),
        ("HAT136", "order HAT 136"),
        ("hat-136", "order HAT136"),
        ("$1249", "it costs 1,249.50"),
        ("1.249,50 Euro", "it costs 1249.50"),
        ("a6fcf6e", "commit a6fcf6e9b1d2c3d4e5f60718293a4b5c6d7e8f90"),
        ("a6fcf6e9b1", "commit a6fcf6e9b1d2c3d4e5f60718293a4b5c6d7e8f90"),
        ("555.867.5309", "call +1 (555) 867-5309"),
        ("ann@example.com", "write to Ann@Example.com."),
        ("example", "write to ann@example.com"),
        ("queue.rs", "see src/engine/queue.rs"),
        ("1.20.3", "since v1.20.3"),
        ("E0382", "error[E0382]: borrow of moved value"),
    ] {
        assert!(finds(prompt, content), "{prompt} in {content}");
    }
}

#[test]
fn near_identifiers_are_told_apart() {
    let index = index(&[(1, "order HAT136 came"), (2, "order HAT137 came"), (3, "136 orders came")]);
    assert_eq!(sequences(&search("HAT-136", &[&index]))[0], 1);
    assert_eq!(sequences(&search("HAT137", &[&index]))[0], 2);
}

#[test]
fn scripts_without_spaces_are_found_by_pairs() {
    assert!(finds("东京", "我去了东京都"));
    assert!(finds("旅館", "駅から旅館まで"));
    assert!(finds("ร้านซ่อมโทรศัพท์", "เอาไปร้านซ่อมที่มาบุญครอง"));
    let index = index(&[(1, "東の京に住む"), (2, "東京都に住む"), (3, "京都に住む")]);
    assert_eq!(sequences(&search("東京", &[&index]))[0], 2);
}

#[test]
fn a_typing_error_is_forgiven_where_nothing_else_is_found() {
    assert!(finds("resturant", "the restaurant by the sea"));
    assert!(finds("Geburtstagsgeschenk", "Das Geschenk zum Geburtstag ist da"));
    let index = index(&[(1, "the table"), (2, "the cable")]);
    assert_eq!(sequences(&search("cable", &[&index])), [2], "a word that is there stands for itself");
}

#[test]
fn what_matches_is_told_as_the_prompt_writes_it() {
    let both = |prompt: &str, content: &str| {
        let matched = matched(prompt, content);
        let ranges: Vec<String> =
            matched.ranges.iter().map(|range| content[range.clone()].to_owned()).collect();
        (matched.terms.join("|"), ranges.join("|"))
    };
    let own = |terms: &str, ranges: &str| (terms.to_owned(), ranges.to_owned());
    assert_eq!(both("Who was Running?", "She runs, and ran"), own("Running", "runs|ran"));
    assert_eq!(both("東京の旅館", "東京都の旅館"), own("東京|旅館", "東京|旅館"));
    assert_eq!(both("why getUser", "getUser failed"), own("getUser", "getUser"));
    assert_eq!(both("createOrder", "an order"), own("order", "order"));
}

#[test]
fn a_prompt_without_words_finds_nothing() {
    let index = index(&[(1, "tea"), (2, "")]);
    for prompt in ["", "?!", " \n"] {
        assert!(search(prompt, &[&index]).is_empty(), "{prompt:?}");
    }
    assert!(search("tea", &[]).is_empty());
}

#[test]
fn a_prompt_of_stop_words_falls_back_to_the_words_themselves() {
    let index = index(&[(1, "The tea is cold"), (2, "Who are you?"), (3, "Tea again")]);
    assert_eq!(sequences(&search("and who are you", &[&index]))[0], 2);
}

proptest! {
    #[test]
    fn any_text_is_searched_for_any_prompt(content in any::<String>(), prompt in any::<String>()) {
        let index = index(&[(1, &content), (2, "and then")]);
        let search = Search::new(Query::new(&prompt), vec![index]);
        for hit in search.hits(|_| true, 0..10) {
            prop_assert!(hit.score > 0.0 && (0.0..=1.0).contains(&hit.relevance), "{:?}", hit);
        }
        let ranges = search.matched().of(&content).ranges;
        prop_assert!(ranges.iter().all(|range| content.get(range.clone()).is_some_and(|part| !part.is_empty())));
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }

    /// No stop word, which a text cannot be found by, begins with x.
    #[test]
    fn a_text_is_found_by_each_of_its_plain_words(words in prop::collection::vec("x[b-z]{4,8}", 1..8), pick in any::<usize>()) {
        let content = words.join(" ");
        let word = &words[pick % words.len()];
        prop_assert!(finds(word, &content), "{} in {}", word, content);
    }
}
