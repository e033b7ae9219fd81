//! Remember's ranking: terms, indexes, and BM25 against its formula.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;
use utterd::domain::recall::{Hit, Index, MAX_TERM_BYTES, Query, TermKind, holds_all, score, terms};

mod text_to_terms {
    use super::*;

    #[test]
    fn words_are_stemmed_and_stop_words_left_out() {
        assert_eq!(term_texts("The dogs were running in May"), ["dog", "run", "may"]);
        assert_eq!(term_texts("Caroline’s I've wasn't"), ["carolin"]);
    }

    #[test]
    fn an_identifier_is_a_term_and_so_are_its_parts() {
        assert_eq!(term_texts("create_order"), ["create_order", "creat", "order"]);
        assert_eq!(term_texts("getUserById"), ["getuserbyid", "get", "user", "id"]);
        assert_eq!(term_texts("NoT here, tea"), ["tea"]);
        assert_eq!(term_texts("HTTPServer"), ["httpserver", "http", "server"]);
        assert_eq!(term_texts("__init__"), term_texts("init"));
        assert_eq!(term_texts("v1.20.3"), ["v1.20.3", "v1", "20", "3"]);
        assert_eq!(term_texts("src/engine/queue.rs"), ["src", "engin", "queue.rs", "queue", "rs"]);
        assert_eq!(term_texts("ann@example.com"), ["ann", "example.com", "exampl", "com"]);
    }

    #[test]
    fn a_part_is_written_as_in_the_text() {
        let terms = terms("call getUser");
        let written: Vec<_> = terms.iter().map(|term| (term.written.as_str(), term.kind)).collect();
        let expected = [
            ("call", TermKind::Word),
            ("getUser", TermKind::Word),
            ("get", TermKind::Part),
            ("User", TermKind::Part),
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn unspaced_scripts_give_pairs_and_characters() {
        assert_eq!(term_texts("東京都"), ["東", "京", "東京", "都", "京都"]);
        assert_eq!(term_texts("猫 API를"), ["猫", "api", "를"]);
        assert_eq!(term_texts("ｶﾞ"), term_texts("ガ"), "NFKC");
    }

    #[test]
    fn one_word_has_one_term_however_it_is_encoded() {
        assert_eq!(term_texts("Cafe\u{301}"), term_texts("café"));
        assert_eq!(term_texts("ＡＢＣ"), term_texts("abc"));
        assert_eq!(term_texts("हिन्दी").len(), 1);
    }

    #[test]
    fn only_stop_words_are_terms_when_there_is_nothing_else() {
        assert_eq!(term_texts("Who are you?"), ["who", "are", "you"]);
        assert_eq!(term_texts("Who are you, Ann?"), ["ann"]);
        assert!(terms("?!").is_empty());
    }

    #[test]
    fn a_long_word_is_found_by_its_beginning() {
        let long = "é".repeat(MAX_TERM_BYTES);
        let texts = term_texts(&format!("{long}_x"));
        assert_eq!(texts, ["é".repeat(MAX_TERM_BYTES / 2)]);
    }

    proptest! {
        #[test]
        fn any_text_has_short_terms_and_holds_its_own_words(text in any::<String>()) {
            let terms = terms(&text);
            for term in terms.iter() {
                prop_assert!(!term.text.is_empty() && term.text.len() <= MAX_TERM_BYTES);
            }
            prop_assert_eq!(holds_all(&text, &terms), !terms.is_empty());
        }

        #[test]
        fn identifiers_hold_their_own_words(text in "[a-zA-Z_.:'’0-9 é漢ガ한👍-]{0,40}") {
            let terms = terms(&text);
            prop_assert_eq!(holds_all(&text, &terms), !terms.is_empty());
        }
    }

    fn term_texts(text: &str) -> Vec<String> {
        terms(text).iter().map(|term| term.text.clone()).collect()
    }
}

mod holding_all {
    use super::*;

    #[test]
    fn every_word_must_be_there_in_any_order_and_inflection() {
        assert!(holds("We travelled to Paris by train", "Paris travels"));
        assert!(!holds("We travelled to Rome", "Paris travels"));
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
    }

    #[test]
    fn nothing_wanted_is_held_by_nothing() {
        assert!(!holds("anything", "?!"));
        assert!(!holds("", ""));
    }

    fn holds(text: &str, wanted: &str) -> bool {
        holds_all(text, &terms(wanted))
    }
}

mod ranking {
    use super::*;

    /// N = 3 and the lengths are 2, 3 and 2; "cat" stands in two utterances: ln(1 + 1.5 / 2.5) =
    /// 0.470004. Its share is 2.2 / (1 + 1.2 · (0.25 + 0.75 · 2 · 3 / 7)) = 1.062069 of it in the
    /// first, and 2.2 / (1 + 1.2 · (0.25 + 0.75 · 3 · 3 / 7)) = 0.895349 in the second.
    #[test]
    fn relevance_is_bm25() {
        let index = index(&[(1, "The cat sat"), (2, "the dog barked at the cat"), (3, "A bird sings")]);
        let hits = search("cats", &[&index]);
        assert_eq!(places(&hits), [(0, 1), (0, 2)]);
        assert!((hits[0].relevance - 0.499_177).abs() < 1e-6, "{hits:?}");
        assert!((hits[1].relevance - 0.420_817).abs() < 1e-6, "{hits:?}");
    }

    /// N = 4, one utterance has the term, twice: ln(1 + 3.5 / 1.5) = 1.203973, times 2 · 2.2 / (2 +
    /// 1.2 · (0.25 + 0.75 · 2 · 4 / 5)) = 1.176471.
    #[test]
    fn several_indexes_are_one_collection() {
        let one = index(&[(1, "Paris, Paris"), (2, "Rome")]);
        let other = index(&[(1, "Oslo"), (2, "Bern")]);
        let hits = search("Paris", &[&other, &one]);
        assert_eq!(places(&hits), [(1, 1)]);
        assert!((hits[0].relevance - 1.416_439).abs() < 1e-6, "{hits:?}");
    }

    #[test]
    fn equal_relevance_goes_by_index_then_newest_first() {
        let one = index(&[(4, "tea"), (9, "tea"), (7, "tea")]);
        let other = index(&[(5, "tea"), (100, "tea")]);
        let order = [(0, 9), (0, 7), (0, 4), (1, 100), (1, 5)];
        assert_eq!(places(&search("tea", &[&one, &other])), order);
    }

    #[test]
    fn what_is_not_eligible_is_no_hit_and_changes_no_score() {
        let index = index(&[(1, "tea"), (2, "tea and cake"), (3, "cake"), (4, "milk")]);
        let query = Query::new("tea");
        let all = score(&query, &[&index], |_, _| true, 0..10);
        let second = score(&query, &[&index], |_, sequence| sequence == 2, 0..1);
        assert_eq!(second, [all[1].clone()]);
    }

    #[test]
    fn matched_terms_are_the_prompts_words_in_its_order() {
        let index = index(&[(1, "she runs create_order"), (2, "an order"), (3, "東京都")]);
        let prompt = "Who was Running createOrder, create_order or an order in 東京?";
        let hits = search(prompt, &[&index]);
        let matched: BTreeMap<_, _> =
            hits.iter().map(|hit| (hit.sequence, hit.matched_terms.join(" "))).collect();
        assert_eq!(matched[&1], "Running create Order create_order");
        assert_eq!(matched[&2], "Order");
        assert_eq!(matched[&3], "東京");
    }

    #[test]
    fn a_whole_identifier_stands_for_its_parts() {
        let index = index(&[(1, "getUser failed")]);
        assert_eq!(search("why getUser", &[&index])[0].matched_terms, ["getUser"]);
    }

    #[test]
    fn a_prompt_without_words_finds_nothing() {
        let index = index(&[(1, "tea"), (2, "")]);
        assert!(Query::new("").is_empty());
        assert!(search("", &[&index]).is_empty());
        assert!(search("?!", &[&index]).is_empty());
        assert!(search("tea", &[]).is_empty());
        assert!(search("tea", &[&Index::new()]).is_empty());
    }

    #[test]
    fn a_prompt_of_stop_words_finds_utterances_of_stop_words() {
        let index = index(&[(1, "Who are you?"), (2, "You are the one who makes tea")]);
        assert!(!Query::new("who").is_empty());
        assert_eq!(places(&search("and who are you", &[&index])), [(0, 1)]);
    }

    #[test]
    fn a_page_beyond_the_hits_is_empty() {
        let index = index(&[(1, "tea")]);
        let query = Query::new("tea");
        for page in [0..0, 1..1, 1..2, 5..9, usize::MAX..usize::MAX] {
            assert!(score(&query, &[&index], |_, _| true, page).is_empty());
        }
        assert_eq!(score(&query, &[&index], |_, _| true, 0..usize::MAX).len(), 1);
    }
}

mod indexing {
    use super::*;

    #[test]
    fn what_is_removed_leaves_no_term_behind() {
        let mut index = index(&[(1, "Zanzibar tea"), (2, "tea"), (3, "coffee")]);
        assert!(format!("{index:?}").contains("zanzibar"));
        index.remove(1);
        index.remove(77);
        assert!(!format!("{index:?}").contains("zanzibar"));
        assert_eq!((index.len(), index.newest()), (2, Some(3)));
        assert_eq!(places(&search("tea", &[&index])), [(0, 2)]);
        assert_eq!(places(&search("coffee", &[&index])), [(0, 3)]);
    }

    #[test]
    fn an_utterance_added_again_is_replaced() {
        let mut index = index(&[(1, "tea"), (2, "milk")]);
        index.add(1, "coffee");
        assert_eq!(index.len(), 2);
        assert!(search("tea", &[&index]).is_empty());
        assert_eq!(places(&search("coffee", &[&index])), [(0, 1)]);
    }

    #[test]
    fn its_size_follows_what_it_holds() {
        let mut index = Index::new();
        assert_eq!((index.heap_bytes(), index.newest()), (0, None));
        let texts: Vec<String> = (0..500).map(|n| format!("word{n} tea")).collect();
        index.extend((1..).zip(texts.iter().map(String::as_str)));
        let full = index.heap_bytes();
        index.retain(|sequence| sequence > 499);
        assert!(index.heap_bytes() < full);
        index.retain(|_| false);
        assert!(index.is_empty());
    }

    proptest! {
        #[test]
        fn order_and_removals_leave_what_a_new_index_holds(
            texts in utterances(),
            removed in prop::collection::vec(1_u64..30, 0..8),
            prompt in text(),
        ) {
            let mut changed = Index::new();
            texts.iter().rev().for_each(|(&sequence, text)| changed.add(sequence, text));
            removed.iter().for_each(|&sequence| changed.remove(sequence));
            changed.extend(removed.iter().map(|&sequence| (sequence, "late")));
            changed.retain(|sequence| !removed.contains(&sequence));
            let mut fresh = Index::new();
            let kept = texts.iter().filter(|(sequence, _)| !removed.contains(sequence));
            fresh.extend(kept.map(|(&sequence, text)| (sequence, text.as_str())));
            prop_assert_eq!(search(&prompt, &[&changed]), search(&prompt, &[&fresh]));
            prop_assert_eq!(changed.len(), fresh.len());
            prop_assert_eq!(changed.newest(), fresh.newest());
        }
    }
}

mod formula {
    use super::*;

    proptest! {
        #[test]
        fn hits_are_those_of_the_formula(
            conversations in prop::collection::vec(utterances(), 0..4),
            prompt in text(),
            odd_only in any::<bool>(),
            page in (0_usize..6, 0_usize..20),
        ) {
            let eligible = |_: usize, sequence: u64| !odd_only || sequence % 2 == 1;
            let mut expected = naive_bm25(&conversations, &prompt);
            expected.retain(|&(index, sequence), _| eligible(index, sequence));
            let indexes: Vec<Index> = conversations.iter().map(index_of).collect();
            let indexes: Vec<&Index> = indexes.iter().collect();
            let query = Query::new(&prompt);

            let hits = score(&query, &indexes, eligible, 0..usize::MAX);
            prop_assert_eq!(hits.len(), expected.len());
            for hit in &hits {
                let relevance = expected[&(hit.index, hit.sequence)];
                prop_assert!((hit.relevance - relevance).abs() < 1e-9 * relevance);
                prop_assert!(!hit.matched_terms.is_empty());
            }
            prop_assert!(hits.is_sorted_by(ranks_before));

            let page = Range { start: page.0, end: page.0 + page.1 };
            let shown: Vec<Hit> =
                hits.iter().skip(page.start).take(page.len()).cloned().collect();
            prop_assert_eq!(score(&query, &indexes, eligible, page), shown);
        }
    }

    fn ranks_before(one: &Hit, next: &Hit) -> bool {
        let key = |hit: &Hit| (hit.index, std::cmp::Reverse(hit.sequence));
        one.score > next.score || (one.score == next.score && key(one) < key(next))
    }

    /// The formula as it stands in the books, over lists of terms.
    fn naive_bm25(conversations: &[BTreeMap<u64, String>], prompt: &str) -> BTreeMap<(usize, u64), f64> {
        let mut wanted = list_of_terms(prompt);
        wanted.sort();
        wanted.dedup();
        let documents: Vec<((usize, u64), Vec<String>)> = conversations
            .iter()
            .enumerate()
            .flat_map(|(index, utterances)| {
                utterances.iter().map(move |(&sequence, text)| ((index, sequence), list_of_terms(text)))
            })
            .collect();
        let count = documents.len() as f64;
        let mean = documents.iter().map(|(_, terms)| terms.len()).sum::<usize>() as f64 / count;
        let mut scores = BTreeMap::new();
        for (place, terms) in &documents {
            for word in wanted.iter().filter(|word| terms.contains(word)) {
                let having = documents.iter().filter(|(_, terms)| terms.contains(word)).count() as f64;
                let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
                let frequency = terms.iter().filter(|term| *term == word).count() as f64;
                let length = terms.len() as f64;
                let share = frequency * 2.2 / (frequency + 1.2 * (1.0 - 0.75 + 0.75 * length / mean));
                *scores.entry(*place).or_insert(0.0) += rarity * share;
            }
        }
        scores
    }

    fn list_of_terms(text: &str) -> Vec<String> {
        terms(text).iter().map(|term| term.text.clone()).collect()
    }

    fn index_of(utterances: &BTreeMap<u64, String>) -> Index {
        let mut index = Index::new();
        index.extend(utterances.iter().map(|(&sequence, text)| (sequence, text.as_str())));
        index
    }
}

fn index(utterances: &[(u64, &str)]) -> Index {
    let mut index = Index::new();
    utterances.iter().for_each(|&(sequence, text)| index.add(sequence, text));
    index
}

fn search(prompt: &str, indexes: &[&Index]) -> Vec<Hit> {
    score(&Query::new(prompt), indexes, |_, _| true, 0..100)
}

fn places(hits: &[Hit]) -> Vec<(usize, u64)> {
    hits.iter().map(|hit| (hit.index, hit.sequence)).collect()
}

/// Utterances of few words, so that they share them.
fn utterances() -> impl Strategy<Value = BTreeMap<u64, String>> {
    prop::collection::btree_map(1_u64..30, text(), 0..20)
}

fn text() -> impl Strategy<Value = String> {
    let words = ["tea", "cups", "cup", "drink_tea", "drinkTea", "the", "who", "v1.2", "paris", "?"];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..12).prop_map(|words| words.join(" "))
}
